"""What can be seen of schedules: get, list, preview."""

from __future__ import annotations

from typing import Any

import click

from duly.cli.backend import backend, take
from duly.cli.failing import Refused
from duly.cli.flags import DATES, TIMING, body_of, named_as, told_in_flags, with_flags
from duly.cli.options import common_options, output_options
from duly.cli.printing import printer

from .many import filter_of, schedule_filters
from .views import schedule_table, show_schedule, show_windows


@click.command()
@click.argument("ref")
@output_options
@common_options
def get(ref: str) -> None:
    """Show the schedule REF (its id or key)."""
    with backend() as reach:
        found = reach.get_schedule(ref)
    show_schedule(found)


@click.command(name="list")
@schedule_filters
@click.option("--limit", type=click.IntRange(1), default=50, metavar="N", help="At most so many; 50 unless said.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@output_options
@common_options
def list_(limit: int, everything: bool, **flags: Any) -> None:
    """List schedules, oldest first."""
    query = {name: str(value).lower() if name == "enabled" else value for name, value in filter_of(flags).items()}
    with backend() as reach:
        found = take(reach.list_schedules, query, None if everything else limit)
    out = printer()
    empty = "no schedules" if not query else "no schedules like that"
    out.show(found, lambda: schedule_table(found["items"], empty), names=[item["key"] for item in found["items"]])
    if found["nextCursor"] is not None:
        out.say(f"there are more than {limit}; --limit and --all show them")


@click.command()
@click.argument("ref", required=False)
@with_flags(TIMING, DATES)
@click.option("--count", "-n", type=click.IntRange(1, 100), default=10, metavar="N", help="How many; 10 unless said.")
@click.option("--after", metavar="TIME", help="With a timing: windows after this instant; now unless said.")
@output_options
@common_options
def preview(ref: str | None, count: int, after: str | None, **flags: Any) -> None:
    """Show the next windows of the schedule REF, or of a timing that is not stored.

    \b
    duly schedule preview nightly
    duly schedule preview --weekly 'MON 09:00' -z America/New_York
    """
    body = body_of(flags)
    if (ref is None) == (not body):
        raise Refused("expected either a schedule or a timing", "duly schedule preview KEY, or --cron, --every, …")
    if ref is not None:
        if after is not None:
            raise Refused("--after goes with a timing; a schedule's windows are shown from now")
        with backend() as reach:
            schedule, windows = reach.get_schedule(ref), reach.upcoming(ref, count)
        show_windows(windows, schedule["timezone"])
        return
    body |= {"count": count} | ({} if after is None else {"after": after})
    with told_in_flags(flags), named_as(after="--after"), backend(looks="calendars" in body) as reach:
        windows = reach.preview(body)
    show_windows(windows, windows["timezone"])
