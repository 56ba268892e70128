"""One action on many schedules: those that the flags tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from duly.cli.backend import Answer, Body, backend
from duly.cli.failing import FAILED, Refused
from duly.cli.flags import named_as
from duly.cli.inputs import confirm
from duly.cli.operations import Teller, show_operation
from duly.cli.printing import Table, printer

STATUSES = ("pending", "active", "completed", "failed", "cancelled")
_FILTERS = (
    click.option("--job", metavar="NAME", help="Only those of this job."),
    click.option("--topic", metavar="TOPIC", help="Only those of this topic."),
    click.option("--tag", metavar="WORD", help="Only those with this tag."),
    click.option("--status", type=click.Choice(STATUSES), help="Only those in this status."),
    click.option("--owner", metavar="ID", help="Only those of this owner."),
    click.option("--tenant", metavar="ID", help="Only those of this tenant."),
    click.option("--enabled/--paused", "enabled", default=None, help="Only those that fire, or do not."),
    click.option("--search", "q", metavar="TEXT", help="Only those with this in key or name."),
)
FLAGS = {"job": "jobType", "topic": "topic", "tag": "tag", "status": "status", "owner": "owner", "tenant": "tenant",
         "enabled": "enabled", "q": "q"}  # fmt: skip
_DONE = {"pause": "paused", "resume": "resumed", "cancel": "cancelled", "delete": "deleted", "trigger": "triggered"}


def schedule_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that narrow a list of schedules."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def which(command: Callable[..., Any]) -> Callable[..., Any]:
    """REF..., or --all-matching with filters, or --everything."""
    for option in reversed((
        click.argument("refs", nargs=-1, metavar="[REF...]"),
        click.option("--all-matching", "matching", is_flag=True, help="All that the following flags tell."),
        *_FILTERS,
        click.option("--everything", is_flag=True, help="With --all-matching: all schedules there are."),
    )):  # fmt: skip
        command = option(command)
    return command


def filter_of(flags: dict[str, Any]) -> dict[str, Any]:
    """The filter that the flags tell, in the words of the API."""
    return {FLAGS[name]: value for name, value in flags.items() if value is not None}


def is_named(refs: tuple[str, ...], flags: dict[str, Any], *, matching: bool, everything: bool) -> bool:
    """Whether schedules are named rather than told by flags; refuse a command line that is not clear."""
    told = bool(filter_of(flags))
    if refs and (matching or told or everything):
        raise Refused("schedules were named, and told by flags; expected one way to say which")
    if refs:
        return True
    if not matching:
        raise Refused("it is not clear which schedules are meant", "name them, or say --all-matching with flags")
    if told == everything:
        raise Refused(
            "--all-matching needs to know which" if not told else "--everything and other flags do not go together",
            "narrow it by --tag, --job, --owner, …; or say --everything",
        )
    return False


def change_many(action: str, flags: dict[str, Any], options: Body, *, everything: bool, yes: bool) -> None:
    """Count what matches, ask, do it, and tell how far it is and what came of it."""
    where = {"everything": True} if everything else {"filter": filter_of(flags)}
    body = {"action": action, **where, **options}
    out = printer()
    with named_as(until="--until", reason="--reason"), backend() as reach:
        found = reach.change_many({**body, "dryRun": True}, lambda _: None)
        if not found["matched"]:
            out.show(found, lambda: Table([], [], empty="no schedule matches; nothing was changed"), names=[])
            return
        confirm(f"{action.capitalize()} {_counted(found)}?", yes=yes)
        done = reach.change_many(body, Teller(out, _DONE[action]))
    show_operation(done, f"{_DONE[action]} {done['changed']} of {done['matched']} schedules" + _left(done))
    if done["status"] == "failed":
        raise Refused(f"the operation failed: {done['error']}", code=FAILED)


def _counted(found: Answer) -> str:
    keys = ", ".join(found["keys"])
    if found["more"]:
        return f"more than {found['matched']} schedules ({keys}, …)"
    more = ", …" if found["matched"] > len(found["keys"]) else ""
    return f"{found['matched']} schedule{'' if found['matched'] == 1 else 's'} ({keys}{more})"


def _left(done: Answer) -> str:
    same = done["matched"] - done["changed"] - done["refused"]
    parts = [f"{done['refused']} refused"] if done["refused"] else []
    parts += [f"{same} had nothing to change"] if same else []
    return f"; {', '.join(parts)}" if parts else ""
