"""``duly run redrive`` and ``duly run acknowledge``: what to do about runs that failed for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from duly.core.ids import is_id

from .backend import Answer, Backend, Body, backend
from .each import show_each
from .failing import CONFLICT, NOT_FOUND, Refused
from .inputs import confirm, read_json
from .options import common_options, output_options
from .printing import Sheet, printer
from .runs import show_run

FLAGS = {"schedule": "scheduleId", "job": "jobType", "queue": "queue", "tenant": "tenant", "error": "error"}


def dead_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that say which dead letters."""
    for option in (
        click.option("--error", metavar="TEXT", help="Only those with this in their error."),
        click.option("--tenant", metavar="ID", help="Only those of this tenant."),
        click.option("--queue", metavar="NAME", help="Only those of this queue."),
        click.option("--job", metavar="NAME", help="Only those of this job."),
        click.option("--schedule", metavar="REF", help="Only those of this schedule."),
    ):
        command = option(command)
    return command


def dead_query(reach: Backend, flags: dict[str, str | None]) -> dict[str, str]:
    """The filter as the API has it; a schedule must be there, because a misspelt key would look like an empty list."""
    asked = {FLAGS[name]: value for name, value in flags.items() if value is not None}
    schedule = asked.get("scheduleId")
    if schedule is not None and not is_id(schedule):
        asked["scheduleId"] = reach.get_schedule(schedule)["id"]
    return asked


@click.command()
@click.argument("refs", nargs=-1, metavar="[REF...]")
@dead_filters
@click.option("--all", "everything", is_flag=True, help="All dead letters.")
@click.option("--payload", metavar="JSON|@FILE|-", help="Another payload: a new run, linked to the dead one.")
@click.option("--force", is_flag=True, help="Whatever the overlap policy says.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def redrive(
    refs: tuple[str, ...], payload: str | None, force: bool, everything: bool, yes: bool, **flags: str | None
) -> None:
    """Let dead runs go again with a fresh budget: the runs REF, or those that the flags tell.

    A run keeps its id. Runs of a schedule that must not overlap go one after another.
    """
    _check(refs, flags, everything)
    if payload is not None and len(refs) != 1:
        raise Refused("--payload is for one run", "name the run: duly run redrive REF --payload '{…}'")
    body: dict[str, Any] = {"force": force}
    if payload is not None:
        body["payload"] = read_json("--payload", payload)
    if not refs:
        confirm(f"Redrive {_described(flags)}?", yes=yes)
        _many(lambda reach: reach.redrive_dead, flags, {"force": force}, "redrove")
        return
    with backend() as reach:

        def act(ref: str) -> tuple[Answer, str]:
            run = reach.redrive_run(ref, body)
            return run, f"redriven as run {run['id']}" if run["redriveOf"] else f"redriven: run {run['id']}"

        show_each(refs, act, show_run)


@click.command()
@click.argument("refs", nargs=-1, metavar="[ID...]")
@dead_filters
@click.option("--all", "everything", is_flag=True, help="All dead letters.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@output_options
@common_options
def acknowledge(refs: tuple[str, ...], everything: bool, yes: bool, **flags: str | None) -> None:
    """Take runs out of the dead letters: the runs ID, or those that the flags tell. They stay in the history."""
    _check(refs, flags, everything)
    if refs:
        with backend() as reach:
            ids = [ref if is_id(ref) else reach.get_run(ref)["id"] for ref in refs]
            done = reach.acknowledge_dead({"ids": ids})
        _tell(done, "acknowledged")
        if done["refused"]:
            first = done["refused"][0]
            words = {"not_found": "there is no such run", "not_dead": "it is no dead letter"}
            code = NOT_FOUND if first["reason"] == "not_found" else CONFLICT
            raise Refused(f"run {first['id']}: {words[first['reason']]}", code=code)
        return
    confirm(f"Acknowledge {_described(flags)}?", yes=yes)
    _many(lambda reach: reach.acknowledge_dead, flags, {}, "acknowledged")


def _check(refs: tuple[str, ...], flags: dict[str, str | None], everything: bool) -> None:
    ways = (bool(refs), any(value is not None for value in flags.values()), everything)
    if sum(ways) != 1:
        raise Refused(
            "it is not clear which dead letters are meant",
            "name runs, or tell them by --schedule, --job, --queue, --tenant and --error, or take --all",
        )


def _described(flags: dict[str, str | None]) -> str:
    told = ", ".join(f"{name} {value!r}" for name, value in flags.items() if value is not None)
    return f"all dead letters of {told}" if told else "all dead letters"


def _many(action: Callable[[Backend], Callable[[Body], Answer]], flags: dict[str, Any], body: Body, verb: str) -> None:
    """Ask as often as there are more: each request is one bounded piece of the work."""
    total: Answer = {"count": 0, "refused": [], "more": False}
    with backend() as reach:
        where = dead_query(reach, flags)
        while True:
            done = action(reach)({"filter": where, **body})
            total["count"] += done["count"]
            total["refused"] += done["refused"]
            if not done["more"] or not done["count"]:
                break
    _tell(total, verb)


def _tell(done: Answer, verb: str) -> None:
    out = printer()
    out.say(f"{verb} {done['count']} dead letter{'' if done['count'] == 1 else 's'}")
    rows = [("count", str(done["count"])), *((one["id"], one["reason"]) for one in done["refused"])]
    out.show(done, lambda: Sheet(rows))
