"""Runs as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duly.core.schedule import DEFAULT_QUEUE

from .printing import Sheet, Table, printer
from .tables import Cell, lay_out
from .times import in_words, moment, moment_cell, system_now

Answer = dict[str, Any]
KIND, TRY, TOOK = 3, 5, 6


def show_run(run: Answer, words: str | None = None) -> None:
    """Print a run, and say what was done to it."""
    out = printer()
    if words is not None:
        out.say(words)
    out.show(run, lambda: run_sheet(run, system_now()), names=[run["id"]])


def run_table(runs: Sequence[Answer], empty: str) -> Table:
    now = system_now()
    rows = [
        [
            item["id"],
            item["status"],
            name_of(item),
            item["kind"],
            moment_cell(item["scheduledAt"], "UTC", now),
            f"{item['attemptNumber']}/{item['maxAttempts']}" if item["maxAttempts"] else "-",
            _took(item["durationMs"]),
            _why(item),
        ]
        for item in runs
    ]
    head = ["ID", "STATUS", "JOB", "KIND", Cell("SCHEDULED (UTC)", "SCHEDULED"), "TRY", "TOOK", "WHY"]
    return Table(head, rows, marked=1, empty=empty, spare=(KIND, TOOK, TRY))


def run_sheet(run: Answer, now: int) -> Sheet:
    """Everything that is worth a line."""

    def at(name: str) -> str | None:
        return moment(run[name], "UTC", now) if run[name] else None

    rows: list[tuple[str, str | None]] = [
        ("id", run["id"]),
        ("window", run["windowKey"]),
        ("status", run["status"] + (" (cancel asked for)" if run["cancelRequested"] else "")),
        ("reason", run["reasonDetail"] or run["reason"]),
        ("job", run["jobType"]),
        ("workflow", name_of(run) if run["workflow"] else None),
        ("kind", run["kind"]),
        ("schedule", _schedule(run)),
        ("scheduled", at("scheduledAt")),
        ("windows", f"{run['windowCount']} since {at('since')}" if run["windowCount"] and run["since"] else None),
        ("fired", at("firedAt")),
        ("started", at("startedAt")),
        ("ended", at("completedAt")),
        ("took", _took(run["durationMs"]) or None),
        ("waits for", run.get("waitsFor")),  # only `run get` and newer servers tell
        ("attempt", f"{run['attemptNumber']} of {run['maxAttempts']}" if run["maxAttempts"] else None),
        ("interrupted", _times(run.get("interruptions"))),  # only `run get` and newer servers tell
        ("snoozed", _times(run.get("snoozes"))),
        ("queue", _queue(run)),
        ("instance", run["instance"]),
        ("error", run["errorMessage"]),
        ("acknowledged", at("acknowledgedAt")),
        ("redrive of", run["redriveOf"]),
        ("redriven as", run["redrivenAs"]),
        ("payload", _json(run["payload"]) if run.get("payload") not in (None, {}) else None),
        ("result", _json(run["result"]) if run["result"] is not None else None),
    ]
    return Sheet([(name, value) for name, value in rows if value is not None], _attempts(run, now))


def _schedule(run: Answer) -> str | None:
    """By its key, which people know, and its id."""
    key, id = run.get("scheduleKey"), run["scheduleId"]  # a server of a former version does not tell the key
    return f"{key} ({id})" if key else id


def _times(count: int | None) -> str | None:
    return f"{count} {'time' if count == 1 else 'times'}" if count else None


def _queue(run: Answer) -> str | None:
    """Where it is in line, unless that is where runs are if nobody says anything."""
    if run["queue"] == DEFAULT_QUEUE and not run["priority"]:
        return None
    return f"{run['queue']}, priority {run['priority']}" if run["priority"] else str(run["queue"])


def name_of(run: Answer) -> str:
    """The job, or the workflow with its version."""
    if not run["workflow"]:
        return str(run["jobType"])
    return f"{run['workflow']}@{run['version']}" if run["version"] else str(run["workflow"])


def _attempts(run: Answer, now: int) -> list[str]:
    """The tries, where there was more than one or one that went wrong."""
    tries = run.get("attempts") or []
    if all(one["outcome"] in ("completed", "running") for one in tries):
        return []
    rows = [
        [
            str(one["attemptNumber"]),
            one["outcome"],
            moment_cell(one["startedAt"], "UTC", now) if one["startedAt"] else "",
            one["instance"] or "",
            _first_line(one["errorMessage"]),
        ]
        for one in tries
    ]
    table = lay_out(["TRY", "OUTCOME", "STARTED (UTC)", "INSTANCE", "ERROR"], rows, None)
    return ["", *table, *(line for one in tries for line in _stack(one))]


def _stack(attempt: Answer) -> list[str]:
    """The stack of an attempt that failed; an older server does not tell it."""
    error = attempt.get("error")
    if not error or not error["stack"]:
        return []
    cut = " (cut to 16 KiB)" if error["truncated"] else ""
    return ["", f"Stack of attempt {attempt['attemptNumber']}{cut}:", *error["stack"].splitlines()]


def _why(run: Answer) -> str:
    """Why a run did not run, or ended as it did; for a row that stands for several windows, for how many."""
    error = _first_line(run["errorMessage"])
    why = str(run["reasonDetail"] or run["reason"] or error)
    if run["windowCount"] and run["windowCount"] > 1:
        return f"{why} ({run['windowCount']} windows)"
    return f"{why}: {error}" if error and error not in why else why


def _took(ms: int | None) -> str:
    return "" if ms is None else in_words(ms)


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
