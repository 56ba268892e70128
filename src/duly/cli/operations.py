"""Operations as people read them, and how far they are while they run."""

from __future__ import annotations

from collections.abc import Sequence

from .control import Answer
from .printing import Printer, Sheet, Table, printer
from .tables import Cell, lay_out
from .times import moment, moment_cell, system_now

TOLD = 20
"""How many refused schedules are shown one by one."""


class Teller:
    """Says on stderr how far an operation is, each time that it has moved."""

    def __init__(self, out: Printer, verb: str) -> None:
        self._out = out
        self._verb = verb
        self._last: tuple[int, int] | None = None

    def __call__(self, operation: Answer) -> None:
        seen = operation["matched"], operation["changed"]
        if seen != self._last and operation["finishedAt"] is None and operation["matched"]:
            self._out.say(f"{self._verb} {operation['changed']}, looked at {operation['matched']} …")
            self._last = seen


def show_operation(operation: Answer, words: str | None = None) -> None:
    """Print an operation, and say what was done."""
    out = printer()
    if words is not None:
        out.say(words)
    out.show(operation, lambda: operation_sheet(operation, system_now()), names=[operation["id"]])


def operation_table(operations: Sequence[Answer]) -> Table:
    now = system_now()
    rows = [
        [
            item["id"],
            item["kind"],
            item["status"],
            _progress(item),
            moment_cell(item["createdAt"], "UTC", now),
            item["createdBy"] or "",
        ]
        for item in operations
    ]
    head = ["ID", "KIND", "STATUS", "PROGRESS", Cell("BEGUN (UTC)", "BEGUN"), "BY"]
    return Table(head, rows, marked=2, empty="no operations")


def operation_sheet(operation: Answer, now: int) -> Sheet:
    """What was asked for, and how far it is."""
    rows: list[tuple[str, str | None]] = [
        ("id", operation["id"]),
        ("kind", operation["kind"]),
        ("status", operation["status"]),
        *((name, _text(value)) for name, value in operation["arguments"].items()),
        ("progress", _progress(operation)),
        ("error", operation["error"]),
        ("begun", moment(operation["createdAt"], "UTC", now)),
        ("by", operation["createdBy"]),
        ("ended", moment(operation["finishedAt"], "UTC", now) if operation["finishedAt"] else None),
    ]
    told = operation.get("items") or []
    below: list[str] = []
    if told:
        lines = [[item["id"], item["outcome"], item["runId"] or item["detail"] or ""] for item in told[:TOLD]]
        below = ["", *lay_out(["SCHEDULE", "OUTCOME", "WHY"], lines, None)]
        below += [f"… and {len(told) - TOLD} more"] if len(told) > TOLD else []
    return Sheet([(name, value) for name, value in rows if value], below)


def _progress(operation: Answer) -> str:
    matched, changed, refused = operation["matched"], operation["changed"], operation["refused"]
    if operation["kind"] == "backfill":
        failed = f", {refused} failed" if refused else ""
        return f"{changed} of {matched} runs ended{failed}"
    if operation["kind"] == "purge":
        return f"{changed} runs removed"
    if operation["kind"] in ("pause_all", "resume_all"):
        return f"{matched} schedules dealt with" if matched else ""
    return f"{changed} of {matched} changed" + (f", {refused} refused" if refused else "")


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if isinstance(value, list):
        return f"{len(value)}"
    return str(value).lower() if isinstance(value, bool) else str(value)
