"""Flags become the body of a REST request: what a person types, in the words of the API."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from duly.core.errors import Invalid

from .failing import Refused
from .formats import Unreadable, read_documents
from .inputs import later, read_json, read_text

_QUOTED = re.compile(r"'(from|to)'")
_FIRST_WORD = re.compile(r"(\w+) is ")
Command = TypeVar("Command", bound=Callable[..., Any])

WHEN = (
    click.option("--cron", metavar="EXPR", help="Five fields, or six with seconds first."),
    click.option("--every", metavar="DURATION", help="An interval, such as 30s, 5m, 1h30m or P1D."),
    click.option(
        "--at", metavar="TIME", help="Once: an instant, a local time of --timezone, or how long from now, as 2h."
    ),
    click.option("--daily", metavar="HH:MM", help="Every day at a local time."),
    click.option("--weekly", metavar="'DAY HH:MM'", help="Every week, such as 'MON 09:00'."),
    click.option("--monthly", metavar="'DAY HH:MM'", help="Every month, such as '15 14:30'."),
    click.option("--timezone", "-z", metavar="ZONE", help="UTC, or an IANA name such as Europe/Berlin."),
    click.option("--dst-gap", type=click.Choice(["fire_after", "skip"]), help="A local time that does not exist."),
    click.option("--dst-fold", type=click.Choice(["first", "second", "both"]), help="A local time that comes twice."),
    click.option("--anchor", metavar="epoch|start|TIME", help="What an interval counts from."),
    click.option("--after-completion", is_flag=True, default=None, help="Count an interval from the end of a run."),
    click.option("--on-past", type=click.Choice(["reject", "fire"]), help="What to do with an --at that has gone by."),
)
TIMING = (
    *WHEN,
    click.option("--jitter", metavar="MIN-MAX", help="Delay each fire by chance: 30s, or 5s-60s."),
)
WORK = (
    click.option("--job", metavar="NAME", help="The job to run."),
    click.option("--workflow", metavar="NAME", help="Or the workflow."),
    click.option("--topic", metavar="TOPIC", help="Or the topic to announce."),
    click.option("--target", metavar="JSON|@FILE", help='Or where to deliver: {"kind": "webhook", "url": …}.'),
    click.option("--payload", metavar="JSON|@FILE|-", help="What the run is given; - reads stdin."),
    click.option("--max-attempts", type=int, metavar="N", help="How often a run may be tried, the first included."),
    click.option("--backoff", type=click.Choice(["exponential", "fixed"]), help="How the wait between them grows."),
    click.option("--retry-delay", metavar="DURATION", help="The first wait between attempts."),
    click.option("--timeout", metavar="DURATION|none", help="How long one attempt may take."),
    click.option("--overlap", type=click.Choice(["skip", "queue", "cancel_previous", "allow"]),
                 help="A window that is due while a run has not ended."),
    click.option("--max-queued", type=int, metavar="N", help="With --overlap queue: how many may wait."),
    click.option("--max-concurrent", type=int, metavar="N", help="With --overlap allow: how many may run."),
    click.option("--catch-up", type=click.Choice(["latest", "skip", "all"]), help="Windows missed in an outage."),
    click.option(
        "--max-lateness",
        metavar="DURATION|none",
        help="Do not catch up on windows older than this. [default: no limit, or catchup_max_lateness]",
    ),
    click.option("--queue", metavar="NAME", help="The queue that runs wait in."),
    click.option("--priority", type=int, metavar="N", help="Higher goes first within a queue."),
)  # fmt: skip
DATES = (
    click.option("--calendar", "calendars", multiple=True, metavar="NAME",
                 help="Do not fire on the dates of this calendar. Repeat it for several."),
    click.option("--exclude", "exclude", multiple=True, metavar="YYYY-MM-DD", help="Nor on this date. Repeat it."),
)  # fmt: skip
LIFE = (
    click.option("--name", metavar="TEXT", help="For people; the key unless said."),
    click.option("--description", metavar="TEXT", help="For people."),
    click.option("--start-at", metavar="TIME", help="No window before this instant, or within this long, as 2h."),
    click.option("--end-at", metavar="TIME", help="No window after this instant, or later than this long, as 30d."),
    click.option("--max-runs", type=int, metavar="N", help="The end after so many windows."),
    click.option("--pause-after-failures", type=int, metavar="N", help="Pause after so many failed runs in a row."),
    click.option("--tag", "tags", multiple=True, metavar="WORD", help="Repeat it for several."),
    click.option("--owner", metavar="ID", help="Whose it is."),
    click.option("--tenant", metavar="ID", help="Which tenant's it is."),
    click.option("--fairness-key", metavar="KEY", help="Whose share of a fair queue it is; the tenant's."),
    click.option("--enabled/--paused", "enabled", default=None, help="Whether it fires."),
    click.option("--file", "-f", "file", metavar="FILE|-", help="A REST body; flags win over it."),
)
CREATING = (
    click.option("--fire-current-window", is_flag=True, default=None, help="Do not wait for the next window."),
    click.option("--client-request-id", metavar="ID", help="Makes the create safe to repeat."),
)

_PLAIN = {
    "timezone": "timezone", "anchor": "anchor", "after_completion": "afterCompletion",
    "on_past": "onPast", "job": "jobType", "workflow": "workflow", "topic": "topic", "max_attempts": "maxAttempts",
    "overlap": "overlapPolicy", "max_queued": "maxQueued", "max_concurrent": "maxConcurrent", "queue": "queue",
    "priority": "priority", "name": "name", "description": "description",
    "max_runs": "maxRuns", "pause_after_failures": "pauseAfterFailures", "enabled": "enabled",
    "fire_current_window": "fireCurrentWindow", "fairness_key": "fairnessKey", "cron": "cronExpression",
}  # fmt: skip
_NESTED = {
    "dst_gap": ("dst", "gap"), "dst_fold": ("dst", "fold"), "backoff": ("retryPolicy", "backoff"),
    "catch_up": ("catchUp", "policy"), "owner": ("metadata", "ownerId"), "tenant": ("metadata", "tenantId"),
    "client_request_id": ("metadata", "clientRequestId"),
}  # fmt: skip
_MOMENTS = {"at": "onceAt", "start_at": "startAt", "end_at": "endAt"}
_LISTS = {"tags": "tags", "calendars": "calendars", "exclude": "excludeDates"}
_FLAGS = {
    "cronExpression": "--cron", "everyMs": "--every", "dailyTime": "--daily", "weeklyTime": "--weekly",
    "jobType, workflow, topic, target": "--job, --workflow, --topic, --target",
    "monthlyTime": "--monthly", "onceAt": "--at", "afterCompletion": "--after-completion", "jobType": "--job",
    "jobPayload": "--payload", "maxAttempts": "--max-attempts", "delaySeconds": "--retry-delay",
    "timeoutSeconds": "--timeout", "overlapPolicy": "--overlap", "maxQueued": "--max-queued",
    "maxConcurrent": "--max-concurrent", "catchUp": "--catch-up", "maxLatenessSeconds": "--max-lateness",
    "startAt": "--start-at", "endAt": "--end-at", "maxRuns": "--max-runs", "ownerId": "--owner", "tenantId": "--tenant",
    "pauseAfterFailures": "--pause-after-failures", "fairnessKey": "--fairness-key",
    "clientRequestId": "--client-request-id", "dst.gap": "--dst-gap", "dst.fold": "--dst-fold",
    'on_past "fire"': "--on-past fire", 'onPast "fire"': "--on-past fire",
    "excludeDates": "--exclude", "exclude_dates": "--exclude", "calendars has": "--calendar has",
}  # fmt: skip
_OTHER_NAMES = re.compile("|".join(map(re.escape, _FLAGS)))
_SECONDS = {"retry_delay": ("retryPolicy", "delaySeconds"), "max_lateness": ("catchUp", "maxLatenessSeconds")}
_NAMED_TIMES = ("daily", "weekly", "monthly")


def with_flags(*groups: tuple[Callable[[Any], Any], ...]) -> Callable[[Command], Command]:
    """Give a command these groups of flags, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def body_of(flags: dict[str, Any]) -> dict[str, Any]:
    """The body that the flags, and the file under them, ask for."""
    given = {name: value for name, value in flags.items() if value is not None and value != ()}
    file = given.pop("file", None)
    _at_most_one("timing", [*_NAMED_TIMES, "cron", "every", "at"], given)
    _at_most_one("target", ["job", "workflow", "topic"], given)
    _at_most_one("target", ["job", "workflow", "target"], given)
    body: dict[str, Any] = read_body(file) if file is not None else {}
    for name, value in given.items():
        _put(body, name, value)
    return body


@contextmanager
def told_in_flags(flags: dict[str, Any]) -> Iterator[None]:
    """Let a refusal name the flags that were given, where the API names the fields of a body; a file is a body."""
    try:
        yield
    except Invalid as error:
        if flags.get("file") is None:
            error.message = _in_flags(error.message)
            for one in error.details.get("errors") or ():
                one["detail"] = _in_flags(one["detail"])
        raise


def _in_flags(words: str) -> str:
    return _OTHER_NAMES.sub(lambda found: _FLAGS[found[0]], words.replace("intervalMinutes, ", ""))


@contextmanager
def named_as(**flags: str) -> Iterator[None]:
    """Let a refusal that begins with the name of a field begin with the flag that it came by."""
    try:
        yield
    except Invalid as error:
        found = _FIRST_WORD.match(error.message)
        if found is not None and found[1] in flags:
            error.message = flags[found[1]] + error.message[found.end(1) :]
        error.message = _QUOTED.sub(lambda quoted: flags.get(quoted[1], quoted[0]), error.message)
        raise


def _put(body: dict[str, Any], name: str, value: Any) -> None:
    if name in _PLAIN:
        body[_PLAIN[name]] = value
    elif name in _MOMENTS:
        body[_MOMENTS[name]] = later(_flag(name), value)
    elif name in _NESTED:
        outer, inner = _NESTED[name]
        body[outer] = {**(body.get(outer) or {}), inner: value}
    elif name in _SECONDS:
        outer, inner = _SECONDS[name]
        seconds = None if (name, value) == ("max_lateness", "none") else _seconds(name, value)
        body[outer] = {**(body.get(outer) or {}), inner: seconds}
    elif name in _NAMED_TIMES:
        body["cronExpression"] = _named_time(name, value)
    elif name == "every":
        body["everyMs"] = _milliseconds(name, value)
    elif name in _LISTS:
        body[_LISTS[name]] = list(value)
    elif name == "payload":
        body["jobPayload"] = read_json("--payload", value)
    elif name == "target":
        body["target"] = read_json("--target", value)
    elif name == "timeout":
        body["timeoutSeconds"] = None if value == "none" else _seconds(name, value)
    elif name == "jitter":
        body["jitter"] = _jitter(value)
    else:
        raise AssertionError(f"flag {name} has no place in a body")


def _at_most_one(what: str, names: list[str], given: dict[str, Any]) -> None:
    found = [f"--{name}" for name in names if name in given]
    if len(found) > 1:
        raise Refused(f"{' and '.join(found)} were given; expected one {what}")


def _named_time(name: str, value: str) -> str:
    """A time by name is a cron expression; the core knows which."""
    from duly.core.timing import Cron, timing_from

    words = value.partition(" ")[0], value.partition(" ")[2].strip()
    given: dict[str, Any] = {name: value if name == "daily" else words}
    timing = timing_from(**given)
    assert isinstance(timing, Cron)
    return timing.expr


def _milliseconds(name: str, value: str) -> int:
    from duly.core.timing import parse_duration

    try:
        return parse_duration(f"{value}s" if value.isdecimal() else value)
    except Invalid as error:
        raise Refused(f"{_flag(name)}: {error.message}") from error


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _seconds(name: str, value: str) -> float:
    ms = _milliseconds(name, value)
    return ms // 1000 if ms % 1000 == 0 else ms / 1000


def _jitter(value: str) -> dict[str, int]:
    least, dash, most = value.partition("-")
    if not dash:
        return {"minMs": 0, "maxMs": _milliseconds("jitter", value)}
    return {
        "minMs": 0 if least in ("0", "0s") else _milliseconds("jitter", least),
        "maxMs": _milliseconds("jitter", most),
    }


def read_body(file: str) -> dict[str, Any]:
    """A REST body from a file or stdin: JSON, TOML or YAML."""
    try:
        documents = read_documents(read_text("--file", file), file)
    except Unreadable as error:
        raise Refused(f"--file {file}: {error}") from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        held = type(documents[0]).__name__ if len(documents) == 1 else f"{len(documents)} documents"
        raise Refused(f"--file {file} holds {held}; expected an object, the body of a REST request")
    return documents[0]
