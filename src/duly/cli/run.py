"""``duly run``: look at runs, and cancel them."""

from __future__ import annotations

import click

from duly.core.ids import is_id

from .backend import backend, take
from .options import common_options, output_options
from .printing import printer
from .runs import run_table, show_run

STATUSES = (
    "pending",
    "running",
    "suspended",
    "cancelling",
    "dispatched",
    "completed",
    "failed",
    "cancelled",
    "skipped",
)


@click.group()
def command() -> None:
    """Look at runs, and cancel them. A run is named by its id or its window key."""


@command.command(name="list")
@click.option("--schedule", metavar="REF", help="Only those of this schedule.")
@click.option("--job", metavar="NAME", help="Only those of this job.")
@click.option("--status", type=click.Choice(STATUSES), help="Only those in this status.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@output_options
@common_options
def list_(schedule: str | None, job: str | None, status: str | None, limit: int, everything: bool) -> None:
    """List runs, newest first."""
    asked = {"scheduleId": schedule, "jobType": job, "status": status}
    query = {name: value for name, value in asked.items() if value is not None}
    with backend() as reach:
        if schedule is not None and not is_id(schedule):  # a misspelt key would look like one without runs
            query["scheduleId"] = reach.get_schedule(schedule)["id"]
        found = take(reach.list_runs, query, None if everything else limit)
    out = printer()
    empty = "no runs" if not query else "no runs like that"
    out.show(found, lambda: run_table(found["items"], empty), names=[item["id"] for item in found["items"]])
    if found["nextCursor"] is not None:
        out.say(f"there are more than {limit}; --limit and --all show them")


@command.command()
@click.argument("ref")
@output_options
@common_options
def get(ref: str) -> None:
    """Show the run REF (its id or window key)."""
    with backend() as reach:
        found = reach.get_run(ref)
    show_run(found)


@command.command()
@click.argument("ref")
@output_options
@common_options
def cancel(ref: str) -> None:
    """End the run REF if it waits, tell it to stop if it runs; an ended one stays as it is."""
    with backend() as reach:
        run = reach.cancel_run(ref)
    told = {"cancelled": "cancelled run", "running": "told to stop: run"}.get(
        run["status"], f"{run['status']} already: run"
    )
    show_run(run, f"{told} {run['id']}")
