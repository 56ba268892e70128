"""``duly operation``: work in many steps, and how far it has come."""

from __future__ import annotations

import click

from .backend import backend, take
from .grouping import Group
from .operations import operation_table, show_operation
from .options import common_options, output_options
from .printing import printer


@click.group(cls=Group)
def command() -> None:
    """Look at work in many steps: changes of many schedules, backfills, purges, the switch of the fleet."""


@command.command(name="list")
@click.option("--limit", type=click.IntRange(1), default=20, metavar="N", help="At most so many; 20 unless said.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@output_options
@common_options
def list_(limit: int, everything: bool) -> None:
    """List operations, newest first."""
    with backend() as reach:
        found = take(reach.list_operations, {}, None if everything else limit)
    out = printer()
    items = found["items"]
    out.show(found, lambda: operation_table(items), names=[item["id"] for item in items])
    if found["nextCursor"] is not None:
        out.say(f"there are more than {limit}; --limit and --all show them")


@command.command()
@click.argument("id")
@output_options
@common_options
def get(id: str) -> None:
    """Show how far the operation ID has come, and what became of those that were named or refused."""
    with backend() as reach:
        found = reach.get_operation(id)
    show_operation(found)
