"""``duly schedule backfill`` and ``changes``: back in time, by runs or by looking."""

from __future__ import annotations

from threading import Event
from typing import Any

import click

from duly.cli.backend import Answer, Backend, backend, take
from duly.cli.flags import named_as
from duly.cli.inputs import earlier, read_json
from duly.cli.operations import show_operation
from duly.cli.options import common_options, output_options
from duly.cli.printing import Table, printer
from duly.cli.tables import Cell
from duly.cli.times import moment_cell, system_now

from .views import show_windows

LOOK_EVERY = 0.5
_RATE = {"ratePerSecond": "--rate", "rate_per_second": "--rate"}
_NAMES = {"from": "--from", "to": "--to", "payload": "--payload", **_RATE}


@click.command()
@click.argument("ref")
@click.option("--from", "since", required=True, metavar="TIME", help="The first instant, or how long ago, as 7d.")
@click.option("--to", "until", required=True, metavar="TIME", help="The last; both are counted.")
@click.option("--rate", type=float, metavar="N", help="At most so many starts in a second; 0.5 is one in two seconds.")
@click.option("--payload", metavar="JSON|@FILE|-", help="Instead of the schedule's own.")
@click.option("--force", is_flag=True, help="All at once, whatever the overlap policy says.")
@click.option("--dry-run", is_flag=True, help="Only show the windows.")
@click.option("--wait", is_flag=True, help="Wait until all runs have ended, and say how far it is.")
@output_options
@common_options
def backfill(
    ref: str, since: str, until: str, rate: float | None, payload: str | None, force: bool, dry_run: bool, wait: bool
) -> None:
    """Make runs of the windows of the schedule REF in a past range, oldest first. At most 1,000 windows.

    \b
    duly schedule backfill nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z --dry-run
    duly schedule backfill nightly --from 7d --to 1h --rate 0.5
    """
    body: dict[str, Any] = {
        "from": earlier("--from", since), "to": earlier("--to", until), "force": force, "dryRun": dry_run,
    }  # fmt: skip
    body |= {} if rate is None else {"ratePerSecond": rate}
    body |= {} if payload is None else {"payload": read_json("--payload", payload)}
    with named_as(**_NAMES), backend() as reach:
        schedule = reach.get_schedule(ref)
        made = reach.backfill(ref, body)
        if dry_run:
            printer().say(f"{len(made['items'])} windows; nothing was made")
            show_windows(made, schedule["timezone"])
            return
        if wait:
            made = _waited(reach, made)
    advice = "" if made["finishedAt"] else f"; `duly operation get {made['id']}` says how far they are"
    show_operation(made, f"{made['matched']} runs of {schedule['key']}{advice}")


def _waited(reach: Backend, operation: Answer) -> Answer:
    """Look until its runs have ended, and say how many have."""
    out, told = printer(), -1
    while operation["finishedAt"] is None:
        if operation["changed"] != told:
            told = operation["changed"]
            failed = f", {operation['refused']} failed" if operation["refused"] else ""
            out.say(f"{told} of {operation['matched']} runs ended{failed} …")
        Event().wait(LOOK_EVERY)
        operation = reach.get_operation(operation["id"])
    return operation


@click.command()
@click.argument("ref")
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", help="At most so many; 20 unless said.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@output_options
@common_options
def changes(ref: str, limit: int, everything: bool) -> None:
    """Show who changed what of the schedule REF, newest first; also of one that was deleted."""
    with backend() as reach:
        found = take(lambda query: reach.list_changes(ref, query), {}, None if everything else limit)
    out = printer()
    items = found["items"]
    out.show(found, lambda: change_table(items), names=[str(item["number"]) for item in items])
    if found["nextCursor"] is not None:
        out.say(f"there are more than {limit}; --limit and --all show them")


def change_table(items: list[Answer]) -> Table:
    now = system_now()
    rows = []
    for item in items:
        when = moment_cell(item["at"], "UTC", now)
        what = "; ".join(map(_field, item["fields"]))
        rows.append([when, item["by"] or "", item["action"], str(item["revision"]), what])
    return Table([Cell("WHEN (UTC)", "WHEN"), "BY", "WHAT", "REVISION", "FIELDS"], rows)


def _field(change: Answer) -> str:
    if "old" not in change:
        return f"{change['field']} (not shown)"
    return f"{change['field']}: {_value(change['old'])} -> {_value(change['new'])}"


def _value(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
