"""``duly queue``: limit queues, pause them, and look at what waits."""

from __future__ import annotations

import re
from typing import Any

import click

from .backend import backend
from .grouping import Group
from .options import common_options, output_options
from .printing import Sheet, Table, printer
from .times import in_words, instant_ms, local, relative, system_now

Answer = dict[str, Any]
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_RATE = re.compile(r"(\d{1,9})/(\d{0,9})(ms|s|m|h|d)", re.ASCII)
_UNSAID: Any = object()


def _limit(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """A count, or None for ``none``."""
    if value is None:
        return _UNSAID
    if value == "none":
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise click.BadParameter(f"{value!r}; expected a whole number, or none")
    return int(value)


def _rate(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """So many starts in a period, or None for ``none``."""
    if value is None:
        return _UNSAID
    if value == "none":
        return None
    found = _RATE.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r}; expected a number and a period, e.g. 100/m or 10/30s, or none")
    return {"limit": int(found[1]), "periodMs": int(found[2] or 1) * _UNITS[found[3]]}


@click.group(cls=Group)
def command() -> None:
    """Limit, pause and look at queues. Any name is a queue; one that nobody set up has no limits."""


@command.command(name="list")
@output_options
@common_options
def list_() -> None:
    """List queues that were set up or have open runs."""
    with backend() as reach:
        found = reach.list_queues()
    items = found["items"]
    printer().show(found, lambda: queue_table(items), names=[item["name"] for item in items])


@command.command()
@click.argument("name")
@output_options
@common_options
def get(name: str) -> None:
    """Show the queue NAME and what is in it."""
    with backend() as reach:
        found = reach.get_queue(name)
    show_queue(found)


@command.command(name="set")
@click.argument("name")
@click.option("--max-running", metavar="N|none", callback=_limit, help="How many may be running, in the whole fleet.")
@click.option("--rate", metavar="N/PERIOD|none", callback=_rate, help="How many may start: 100/m, 10/30s.")
@click.option("--fair/--not-fair", default=None, help="Serve tenants, or the keys of runs, in turn.")
@click.option("--newest-first/--oldest-first", default=None, help="Which end of the line goes first.")
@output_options
@common_options
def set_(name: str, max_running: Any, rate: Any, fair: bool | None, newest_first: bool | None) -> None:
    """Limit the queue NAME; what is not named stays as it is, and none takes a limit away."""
    given = {
        "maxRunning": max_running,
        "rateLimit": rate,
        "fair": _UNSAID if fair is None else fair,
        "newestFirst": _UNSAID if newest_first is None else newest_first,
    }
    changes = {field: value for field, value in given.items() if value is not _UNSAID}
    if not changes:
        raise click.UsageError("say what to change: --max-running, --rate, --fair or --newest-first")
    with backend() as reach:
        found = reach.update_queue(name, changes)
    show_queue(found, f"set up queue {name}")


@command.command()
@click.argument("name")
@click.option("--reason", metavar="TEXT", help="Why, for those who will wonder.")
@output_options
@common_options
def pause(name: str, reason: str | None) -> None:
    """Let nothing of the queue NAME start; schedules go on firing, and their runs wait."""
    with backend() as reach:
        found = reach.pause_queue(name, reason=reason)
    show_queue(found, f"paused queue {name}: {found['running']} running to their end, {found['waiting']} waiting")


@command.command()
@click.argument("name")
@output_options
@common_options
def resume(name: str) -> None:
    """Let the runs of the queue NAME start again."""
    with backend() as reach:
        found = reach.resume_queue(name)
    show_queue(found, f"resumed queue {name}")


def show_queue(queue: Answer, words: str | None = None) -> None:
    """Print a queue, and say what was done to it."""
    out = printer()
    if words is not None:
        out.say(words)
    out.show(queue, lambda: queue_sheet(queue), names=[queue["name"]])


def queue_table(queues: list[Answer]) -> Table:
    rows = [
        [
            queue["name"],
            "paused" if queue["paused"] else "ok",
            str(queue["running"]),
            str(queue["waiting"]),
            str(queue["scheduled"]),
            "" if queue["maxRunning"] is None else str(queue["maxRunning"]),
            _rate_of(queue) or "",
            _order_of(queue),
            queue["pausedReason"] or "",
        ]
        for queue in queues
    ]
    head = ["QUEUE", "STATE", "RUNNING", "WAITING", "SCHEDULED", "MOST", "RATE", "ORDER", "WHY"]
    return Table(head, rows, marked=1, empty="no queues: none was set up, and nothing waits")


def queue_sheet(queue: Answer) -> Sheet:
    """What limits the queue, and what is in it."""
    paused = None
    if queue["paused"]:
        at, by = instant_ms(queue["pausedAt"]), f" by {queue['pausedBy']}" if queue["pausedBy"] else ""
        paused = f"since {local(at, 'UTC', offset=False)} UTC ({relative(at, system_now())}){by}"
    most = "" if queue["maxRunning"] is None else f" of {queue['maxRunning']}"
    rows = [
        ("queue", queue["name"]),
        ("paused", paused),
        ("reason", queue["pausedReason"]),
        ("running", f"{queue['running']}{most}"),
        ("waiting", str(queue["waiting"])),
        ("scheduled", str(queue["scheduled"])),
        ("rate", _rate_of(queue)),
        ("order", _order_of(queue)),
    ]
    return Sheet([(name, value) for name, value in rows if value is not None])


def _rate_of(queue: Answer) -> str | None:
    rate = queue["rateLimit"]
    return None if rate is None else f"{rate['limit']} in {in_words(rate['periodMs'])}"


def _order_of(queue: Answer) -> str:
    arrival = "newest first" if queue["newestFirst"] else "oldest first"
    return f"fair, {arrival}" if queue["fair"] else arrival
