"""The commands of ``duly import``: read, report, and apply as one set, so that importing again is safe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from duly.cli.backend import backend
from duly.cli.failing import FAILED, Refused
from duly.cli.files import Entry, Files, told_by_file
from duly.cli.options import common_options, output_options
from duly.cli.printing import Table, printer
from duly.cli.schedule.knowing import warn_of_unknown_jobs
from duly.cli.times import in_words, instant_ms, system_now

from .values import Imported, Left, notes_together

SYSTEM_CRONTAB = "/etc/crontab"
SYSTEM_FOLDER = "/etc/cron.d"


def _import_options(set_name: str) -> Callable[[Any], Any]:
    """What every source takes."""

    def decorate(command: Any) -> Any:
        for option in reversed((
            click.option("--set", "set_name", default=set_name, show_default=True, metavar="NAME",
                         help="The set that the schedules belong to."),
            click.option("--paused", is_flag=True, help="Import them paused, so that nothing runs in both places."),
            click.option("--dry-run", is_flag=True, help="Show what would be imported; ask no store, change nothing."),
            click.option("--allow-partial", is_flag=True, help="Import the rest where something cannot be."),
            output_options,
            common_options,
        )):  # fmt: skip
            command = option(command)
        return command

    return decorate


@click.command(name="crontab")
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER|-...")
@click.option("--system/--user", default=None, help="Whether a user stands before the command; else by the path.")
@click.option("--timezone", "-z", metavar="ZONE", help="The zone of the times; this machine's unless said.")
@click.option("--job", default="shell", show_default=True, metavar="NAME", help="The job that runs the commands.")
@_import_options("crontab")
def from_crontab(files: tuple[str, ...], system: bool | None, timezone: str | None, job: str, **how: Any) -> int:
    """Import crontabs. A command becomes the payload of a job, which a worker of yours has to have.

    \b
    crontab -l | duly import crontab - --dry-run
    duly import crontab /etc/crontab /etc/cron.d --paused
    """
    from duly.cli.flags import named_as
    from duly.cli.inputs import read_text
    from duly.core.timing import check_zone

    from .crontab import read_crontab
    from .loading import local_zone

    with named_as(timezone="--timezone"):
        zone = local_zone() if timezone is None else check_zone(timezone)
    if zone is None:
        raise Refused("this machine does not say in which zone its clock is", "--timezone ZONE says it")
    found = Imported()
    for file in _crontabs(files):
        of_system = system if system is not None else file.startswith((SYSTEM_CRONTAB, SYSTEM_FOLDER + "/"))
        shown = "stdin" if file == "-" else file
        text = read_text("FILE", file)
        read_crontab(text, file=shown, timezone=zone, job=job, system=of_system, into=found)
    if timezone is None and any(one.body["timezone"] == zone for one in found.carried):
        found.notes.append(f"times are those of {zone}, this machine's zone; --timezone names another")
    return _finish(found, **how)


@click.command(name="celery")
@click.argument("source", metavar="MODULE:APP|URL|FILE|-")
@click.option("--target", metavar="NAME", help="Have Celery's own workers execute the tasks, through this target.")
@_import_options("celery")
def from_celery(source: str, target: str | None, **how: Any) -> int:
    """Import the beat_schedule of a Celery app, or the periodic tasks of django-celery-beat.

    These are read from the tables that Django keeps them in, without changing them, or from what `manage.py dumpdata
    django_celery_beat` wrote.

    \b
    duly import celery shop.celery:app --dry-run
    duly import celery postgresql://shop@db/shop --dry-run
    duly import celery sqlite:///db.sqlite3 --target celery --paused
    """
    from functools import partial

    from . import celery
    from .beat_tables import is_database, read_tables

    if not is_database(source):
        return _read(
            source, "celery", partial(celery.read_beat, target=target), partial(celery.read_dump, target=target), how
        )
    from duly.config.masking import mask_url

    found = Imported()
    try:
        celery.read_dump(read_tables(source, found), found, target)
    except Left as left:
        raise Refused(f"{mask_url(source)}: {left}") from left
    return _finish(found, **how)


@click.command(name="apscheduler")
@click.argument("source", metavar="MODULE:SCHEDULER|FILE|-")
@_import_options("apscheduler")
def from_apscheduler(source: str, **how: Any) -> int:
    """Import the jobs of a scheduler of APScheduler 3, or a JSON list of them. Its pickles are never read.

    \b
    duly import apscheduler shop.jobs:scheduler --dry-run
    duly import apscheduler jobs.json --allow-partial
    """
    from . import apscheduler

    return _read(source, "apscheduler", apscheduler.read_scheduler, apscheduler.read_list, how)


def _read(source: str, package: str, of_object: Any, of_json: Any, how: dict[str, Any]) -> int:
    from .loading import is_object, load_json, load_object

    found = Imported()
    try:
        if is_object(source):
            of_object(load_object(source, package), found)
        else:
            of_json(load_json(source), found)
    except Left as left:
        raise Refused(f"{source}: {left}") from left
    return _finish(found, **how)


def _crontabs(files: tuple[str, ...]) -> list[str]:
    """The files, and those of folders that cron would read: it leaves out names with a dot or a tilde."""
    found: list[str] = []
    for name in files:
        if name == "-" or not Path(name).is_dir():
            found.append(name)
        else:
            inside = sorted(path for path in Path(name).iterdir() if path.is_file())
            found += [str(path) for path in inside if "." not in path.name and not path.name.endswith("~")]
    return found


def _finish(found: Imported, *, set_name: str, paused: bool, dry_run: bool, allow_partial: bool) -> int:
    _leave_the_past(found)
    bodies = [{**one.body, "enabled": False} if paused else one.body for one in found.carried]
    out = printer()
    for note in (*found.notes, *notes_together(found.carried)):
        out.say(note)
    for left in found.left:
        click.echo(f"not carried over: {left.place}: {left.what}\n  {left.reason}", err=True)
    refused = bool(found.left) and not allow_partial
    answer: dict[str, Any] = {
        "set": set_name,
        "dryRun": dry_run or refused,
        "schedules": bodies,
        "notCarriedOver": [{"place": one.place, "what": one.what, "reason": one.reason} for one in found.left],
    }
    outcomes: dict[str, str] = {}
    if bodies and not (dry_run or refused):
        places = Files([Entry(one.place, number, one.body) for number, one in enumerate(found.carried, 1)])
        with told_by_file(places), backend(creates=True) as reach:
            done = reach.apply_schedules(bodies, set=set_name, prune=None, dry_run=False)
            warn_of_unknown_jobs(reach, (body.get("jobType") for body in bodies))
        outcomes = {item["key"]: item["outcome"] for item in done["items"]}
        answer["items"] = done["items"]
    rows = [
        [body["key"], _when(body), _what(body), one.place, outcomes.get(body["key"], "")]
        for one, body in zip(found.carried, bodies, strict=True)
    ]
    head = ["KEY", "WHEN", "JOB", "FROM", "OUTCOME"]
    out.show(answer, lambda: Table(head, rows, marked=4, empty="no schedules"), names=[row[0] for row in rows])
    out.say(_summary(found, dry_run=dry_run, refused=refused))
    return FAILED if refused else 0


def _leave_the_past(found: Imported) -> None:
    """What was to fire once and has gone by, or has expired, is not carried over."""
    now, carried = system_now(), found.carried
    found.carried = []
    for one in carried:
        once_at, end_at = one.body.get("onceAt"), one.body.get("endAt")
        if once_at is not None and instant_ms(once_at) <= now:
            found.leave(one.place, str(one.body["name"]), f"it was to fire once, at {once_at}, which has gone by")
        elif end_at is not None and instant_ms(end_at) <= now:
            found.leave(one.place, str(one.body["name"]), f"it expired at {end_at}")
        else:
            found.carried.append(one)


def _what(body: dict[str, Any]) -> str:
    return (
        str(body["jobType"]) if "jobType" in body else f"{body['target']['headers']['task']} ({body['target']['name']})"
    )


def _when(body: dict[str, Any]) -> str:
    if "cronExpression" in body:
        return f"{body['cronExpression']} {body['timezone']}"
    return f"every {in_words(body['everyMs'])}" if "everyMs" in body else f"once {body['onceAt']}"


def _summary(found: Imported, *, dry_run: bool, refused: bool) -> str:
    told = f"{len(found.carried)} can be carried over, {len(found.left)} cannot"
    if refused:
        return f"{told}; nothing was imported: --allow-partial imports the rest"
    return f"{told}; nothing was imported: this was a dry run" if dry_run else told
