"""``duly schedule create``, ``update`` and ``reschedule``."""

from __future__ import annotations

from typing import Any

import click

from duly.cli.backend import Backend, backend
from duly.cli.failing import Refused
from duly.cli.flags import CREATING, DATES, LIFE, TIMING, WHEN, WORK, body_of, told_in_flags, with_flags
from duly.cli.options import common_options, output_options

from .knowing import warn_of_unknown_jobs
from .views import show_schedule


@click.command()
@click.argument("key", required=False)
@with_flags(TIMING, DATES, WORK, LIFE, CREATING)
@output_options
@common_options
def create(key: str | None, **flags: Any) -> None:
    """Create a schedule under a KEY: one timing, one target.

    \b
    duly schedule create nightly --cron '0 2 * * *' -z Europe/Berlin --job report
    duly schedule create tax --at 2027-03-15T14:00:00Z --job send --payload '{"user": 42}'
    duly schedule create -f body.json
    """
    body = body_of(flags)
    if key is not None:
        body["key"] = key
    if "key" not in body and "name" not in body:
        raise Refused("a KEY is missing", "duly schedule create KEY --cron '0 2 * * *' --job NAME")
    with told_in_flags(flags), backend(creates=True) as reach:
        made = reach.create_schedule(body)
        warn_of_unknown_jobs(reach, [made["jobType"]])
    show_schedule(made, f"created schedule {made['key']}")


@click.command()
@click.argument("ref")
@with_flags(TIMING, DATES, WORK, LIFE)
@click.option("--if-revision", type=int, metavar="N", help="Refuse if the schedule is no longer at this revision.")
@output_options
@common_options
def update(ref: str, if_revision: int | None, **flags: Any) -> None:
    """Change what is given of the schedule REF (its id or key), and leave the rest."""
    changes = body_of(flags)
    if not changes:
        raise Refused("nothing to change was given", "`duly schedule update --help` lists what can be changed")
    with told_in_flags(flags), backend() as reach:
        _leave_key(changes, ref, reach)
        changed = reach.update_schedule(ref, changes, if_revision)
        warn_of_unknown_jobs(reach, [changes.get("jobType")])
    show_schedule(changed, f"updated schedule {changed['key']} to revision {changed['revision']}")


@click.command()
@click.argument("ref")
@with_flags(WHEN)
@output_options
@common_options
def reschedule(ref: str, **flags: Any) -> None:
    """Put a schedule with another timing in the place of REF, which must not have fired yet.

    The new one has the key of the old and an id of its own. `update` keeps the id, and takes any that has not ended.
    """
    timing = body_of(flags)
    if not timing:
        raise Refused("no timing was given", "duly schedule reschedule REF --at 2027-03-16T14:00:00Z")
    with told_in_flags(flags), backend() as reach:
        made = reach.reschedule_schedule(ref, timing)
    show_schedule(made, f"rescheduled {made['key']}: {made['replaces']} is cancelled, {made['id']} takes its place")


def _leave_key(changes: dict[str, Any], ref: str, reach: Backend) -> None:
    """A file that a schedule was made from names its key, which stays; another one is refused."""
    if "key" not in changes:
        return
    key = changes.pop("key")
    if key != ref and key != (own := reach.get_schedule(ref)["key"]):
        raise Refused(
            f"--file says key {key!r}, and the schedule is {own!r}; a key cannot be changed",
            "leave the key out of the file, or create another schedule and delete this one",
        )
