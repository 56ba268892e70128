"""``duly audit``: proof that no window was missed or doubled."""

from __future__ import annotations

from typing import Any

import click

from .backend import Answer, Backend, backend
from .options import common_options, output_options
from .printing import Table, printer
from .tables import counted
from .times import instant_ms, local, rfc3339

PAGE = "200"


@click.command()
@click.option("--since", metavar="TIME", default="24h", show_default=True, help="24h, 7d, or an instant.")
@click.option("--until", metavar="TIME", help="An instant; now if absent.")
@click.option("--schedule", metavar="REF", help="Only this one, by id or key; also a deleted one.")
@click.option("--late", metavar="LENGTH", default="60s", show_default=True, help="How late a window may fire.")
@click.option("--tenant", metavar="ID", help="Only the schedules of this tenant.")
@output_options
@common_options
def command(**asked: str | None) -> None:
    """Recompute every window of a period, and compare with what was stored. Changes nothing.

    It walks the history of each schedule (revisions, pauses, end) by a way of its own, not the one that fires, and
    reports windows that were missed, doubled, unexplained, late or early. Exit code 1 if it finds any.
    """
    query = {name: value for name, value in asked.items() if value is not None}
    with backend() as reach:
        found = whole_audit(reach, query)
    findings = found["findings"]
    out = printer()
    out.show(found, lambda: _table(findings), names=[one["windowKey"] for one in findings])
    for one in found["notJudged"]:
        out.say(f"not judged: {one['key']}: {one['why']}" if one["key"] else f"not judged: {one['why']}")
    period = " to ".join(local(instant_ms(found[end]), "UTC") for end in ("since", "until"))
    verdict = "nothing is wrong" if found["clean"] else counted(len(findings), "finding")
    looked_at = f"{counted(found['schedules'], 'schedule')}, {counted(found['windows'], 'window')}"
    out.say(f"{looked_at} from {period}: {verdict}")
    click.get_current_context().exit(0 if found["clean"] else 1)


def whole_audit(reach: Backend, query: dict[str, str]) -> Answer:
    """All pages of it as one."""
    whole = reach.audit({**query, "limit": PAGE})
    cursor = whole["nextCursor"]
    while cursor is not None:
        asked = {**query, "limit": PAGE, "since": whole["since"], "until": whole["until"], "cursor": cursor}
        page = reach.audit(asked)
        for name in ("schedules", "windows", "rows", "findings", "notJudged"):
            whole[name] += page[name]
        whole["clean"] = whole["clean"] and page["clean"]
        cursor = page["nextCursor"]
    whole["nextCursor"] = None
    return whole


def _table(findings: list[Any]) -> Table:
    rows = [[one["fault"], one["key"], _window(one), one["detail"]] for one in findings]
    return Table(["FAULT", "SCHEDULE", "WINDOW", "WHAT"], rows, marked=0, empty="")


def _window(one: dict[str, Any]) -> str:
    at = rfc3339(instant_ms(one["windowAt"]))
    return at if one["windowCount"] == 1 else f"{one['since']} to {at}, {one['windowCount']}"
