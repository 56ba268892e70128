"""``duly run``: look at runs, cancel them, and redrive those that died."""

from __future__ import annotations

import click

from .backend import backend, take
from .dead import acknowledge, dead_filters, dead_query, redrive
from .failing import Refused
from .grouping import Group
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


@click.group(cls=Group)
def command() -> None:
    """Look at runs, cancel them, and redrive those that failed for good. A run is named by its id or its window key."""


command.add_command(redrive)
command.add_command(acknowledge)


@command.command(name="list")
@dead_filters
@click.option("--dead", is_flag=True, help="Only those that failed for good, and nobody redrove or acknowledged yet.")
@click.option("--status", type=click.Choice(STATUSES), help="Only those in this status.")
@click.option("--workflow", metavar="NAME", help="Only those of this workflow.")
@click.option("--owner", metavar="ID", help="Only those of this owner.")
@click.option("--tag", metavar="TAG", help="Only workflows with this tag (or with all of several, with commas).")
@click.option("--attr", metavar="NAME:VALUE", help="Only workflows with this attribute: customer:ann, amount:gte:5.")
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", help="At most so many; 20 unless said.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@output_options
@common_options
def list_(
    status: str | None,
    dead: bool,
    limit: int,
    everything: bool,
    workflow: str | None,
    owner: str | None,
    tag: str | None,
    attr: str | None,
    **flags: str | None,
) -> None:
    """List runs, newest first."""
    own = {"status": status, "workflow": workflow, "owner": owner, "tag": tag, "attr": attr}
    given = {name: value for name, value in own.items() if value is not None}
    only_dead = [f"--{name}" for name in ("queue", "error") if flags[name] is not None]
    if only_dead and not dead:
        raise Refused(f"{only_dead[0]} narrows dead letters only", "add --dead")
    if dead and status is not None:
        raise Refused("--status and --dead do not go together: every dead letter is failed")
    if dead and given:
        raise Refused(f"--{next(iter(given))} and --dead do not go together", "leave out one of them")
    with backend() as reach:
        query = dead_query(reach, flags) | given
        found = take(reach.list_dead if dead else reach.list_runs, query, None if everything else limit)
    out = printer()
    empty = "no dead letters" if dead else "no runs" if not query else "no runs like that"
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
@click.option("--compensate", is_flag=True, help="Of a workflow: undo first what its steps did.")
@output_options
@common_options
def cancel(ref: str, compensate: bool) -> None:
    """End the run REF if it waits, tell it to stop if it runs; an ended one stays as it is."""
    with backend() as reach:
        run = reach.cancel_run(ref, compensate=compensate)
    told = {
        "cancelled": "cancelled run",
        "running": "told to stop: run",
        "cancelling": "told to undo what it did: run",
    }.get(run["status"], f"{run['status']} already: run")
    show_run(run, f"{told} {run['id']}")
