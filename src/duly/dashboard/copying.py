"""A schedule as something to paste elsewhere: a command, a request by curl, a call in Python."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, assert_never

from duly.api.arguments import create_arguments
from duly.api.bodies import ScheduleBody
from duly.api.reading import read
from duly.config import Settings
from duly.core.policy import CatchUp, Retry
from duly.core.schedule import DEFAULT_MAX_QUEUED
from duly.core.timing import Cron, Every, Jitter, Once, Timing

_FLAGS = {
    "name": "--name", "description": "--description", "jobType": "--job", "workflow": "--workflow", "topic": "--topic",
    "maxAttempts": "--max-attempts", "overlapPolicy": "--overlap", "maxQueued": "--max-queued",
    "maxConcurrent": "--max-concurrent", "queue": "--queue", "priority": "--priority", "startAt": "--start-at",
    "endAt": "--end-at", "maxRuns": "--max-runs", "pauseAfterFailures": "--pause-after-failures",
    "fairnessKey": "--fairness-key", "retryPolicy/backoff": "--backoff", "catchUp/policy": "--catch-up",
    "metadata/ownerId": "--owner", "metadata/tenantId": "--tenant", "metadata/clientRequestId": "--client-request-id",
    "dst/gap": "--dst-gap", "dst/fold": "--dst-fold", "anchor": "--anchor", "onPast": "--on-past",
    "timezone": "--timezone",
}  # fmt: skip
_LENGTHS = {"retryPolicy/delaySeconds": "--retry-delay", "catchUp/maxLatenessSeconds": "--max-lateness"}
_JSON = {"jobPayload": "--payload", "target": "--target"}
_LISTS = {"tags": "--tag", "calendars": "--calendar", "excludeDates": "--exclude"}
_WHEN = frozenset({"cronExpression", "everyMs", "intervalMinutes", "dailyTime", "weeklyTime", "monthlyTime", "onceAt"})
_CLASSES = {Cron: "Cron", Every: "Every", Once: "Once", Retry: "Retry", CatchUp: "CatchUp", Jitter: "Jitter"}


_CHOSEN: Mapping[str, Any] = {
    "dst": {"gap": "fire_after", "fold": "first"},
    "overlapPolicy": "skip",
    "maxQueued": DEFAULT_MAX_QUEUED,
    "queue": "default",
    "priority": 0,
    "timeoutSeconds": 3600,
    "jobPayload": {},
    "anchor": "epoch",
    "onPast": "reject",
    "timezone": "UTC",
    "catchUp": {"maxRuns": 100},
    "retryPolicy": {"backoff": "exponential", "delaySeconds": 5, "maxDelaySeconds": 3600, "jitter": 0.2},
}
"""What a create chooses where a body says nothing, but for what a server's settings choose."""


MOST = 16 * 1024
"""Characters of a request that is offered to be copied: three of them stand on one page."""


@dataclass(frozen=True, slots=True)
class Copies:
    """The same schedule in three tongues."""

    cli: str
    curl: str
    python: str


def essential(body: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """A body without what a create would choose by itself."""
    catch_up = {
        **_CHOSEN["catchUp"],
        "policy": settings.catchup_default,
        "maxLatenessSeconds": settings.catchup_max_lateness,
    }
    defaults = {**_CHOSEN, "maxAttempts": settings.default_max_attempts, "catchUp": catch_up}
    kept: dict[str, Any] = {}
    for name, value in body.items():
        default = defaults.get(name)
        if isinstance(value, dict) and isinstance(default, dict) and default:
            value = {inner: one for inner, one in value.items() if one != default.get(inner)}
            if not value:
                continue
        elif name in defaults and value == default:
            continue
        kept[name] = value
    return kept


def copies(body: Mapping[str, Any], settings: Settings) -> Copies | None:
    """A body to create a schedule with, to paste; None for one too large. Raises what a create would."""
    if len(_curl(body)) > MOST:
        return None
    arguments = create_arguments(read(ScheduleBody, dict(body)), settings)
    return Copies(_cli(body, arguments["timing"]), _curl(body), _python(arguments))


def _cli(body: Mapping[str, Any], timing: Timing) -> str:
    words = _words(body, timing)
    if words is None:
        # What no flag can say goes in as it is.
        return f"duly schedule create -f - <<'END'\n{json.dumps(dict(body), indent=2)}\nEND"
    key = [body["key"]] if "key" in body else []
    return " ".join(["duly schedule create", *map(shlex.quote, key), *map(_quoted, words)])


def _quoted(word: str) -> str:
    """A flag as people write it: its value apart, unless that looks like a flag itself."""
    flag, given, value = word.partition("=")
    if not given or value.startswith("-"):
        return shlex.quote(word)
    return f"{flag} {shlex.quote(value)}"


def _words(body: Mapping[str, Any], timing: Timing) -> list[str] | None:
    """The flags of a body, or None where one of its fields has none."""
    words = _when(timing)
    for name, value in _flat(body):
        if name in _WHEN or name == "key":
            continue
        if name in _FLAGS:
            words.append(f"{_FLAGS[name]}={value}")
        elif name in _LENGTHS:
            words.append(f"{_LENGTHS[name]}={_seconds(value)}")
        elif name in _JSON:
            words.append(f"{_JSON[name]}={json.dumps(value)}")
        elif name in _LISTS:
            words += [f"{_LISTS[name]}={one}" for one in value]
        elif name == "timeoutSeconds":
            words.append("--timeout=none" if value is None else f"--timeout={_seconds(value)}")
        elif name == "jitter":
            words.append(f"--jitter={_ms(value['minMs'])}-{_ms(value['maxMs'])}")
        elif name in ("afterCompletion", "fireCurrentWindow", "enabled"):
            words += _switch(name, value)
        else:
            return None
    return words


def _when(timing: Timing) -> list[str]:
    match timing:
        case Cron():
            return [f"--cron={timing.expr}"]
        case Every():
            return [f"--every={_ms(timing.every_ms)}"]
        case Once():
            return [f"--at={timing.at.isoformat()}"]
        case _:
            assert_never(timing)


def _switch(name: str, value: bool) -> list[str]:
    if name == "enabled":
        return [] if value else ["--paused"]
    return [{"afterCompletion": "--after-completion", "fireCurrentWindow": "--fire-current-window"}[name]] * value


def _flat(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in body.items():
        if isinstance(value, dict) and name in ("retryPolicy", "catchUp", "metadata", "dst"):
            found += [(f"{name}/{inner}", one) for inner, one in value.items()]
        else:
            found.append((name, value))
    return found


def _seconds(value: float) -> str:
    return _ms(round(value * 1000))


def _ms(value: int) -> str:
    return f"{value}ms" if value % 1000 else f"{value // 1000}s"


def _curl(body: Mapping[str, Any]) -> str:
    return (
        'curl -X POST "$DULY_API_URL/api/v1/schedules" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        '  -H "Authorization: Bearer $DULY_API_KEY" \\\n'
        f"  -d {shlex.quote(json.dumps(dict(body), ensure_ascii=False))}"
    )


def _python(arguments: Mapping[str, Any]) -> str:
    given = {name: value for name, value in arguments.items() if value is not None or name == "timeout"}
    used = sorted({_CLASSES[type(value)] for value in given.values() if type(value) in _CLASSES})
    words = "".join(f"    {name}={_code(value)},\n" for name, value in given.items())
    dated = "from datetime import datetime\n\n" if "datetime." in words else ""
    return f"{dated}from duly import {', '.join(used)}\n\nschedule = await app.schedules.create(\n{words})"


def _code(value: Any) -> str:
    """A value as Python code that makes it."""
    match value:
        case Cron():
            return _call("Cron", repr(value.expr), timezone=value.timezone, dst_gap=value.dst_gap,
                         dst_fold=value.dst_fold, strict_fields=value.strict_fields)  # fmt: skip
        case Every():
            anchor = value.anchor.isoformat() if isinstance(value.anchor, datetime) else value.anchor
            return _call("Every", milliseconds=value.every_ms, anchor=anchor, after_completion=value.after_completion,
                         timezone=value.timezone)  # fmt: skip
        case Once():
            return _call("Once", repr(value.at.isoformat()), on_past=value.on_past, timezone=value.timezone)
        case Retry():
            return _call("Retry", max_attempts=value.max_attempts, backoff=str(value.backoff), delay=value.delay,
                         max_delay=value.max_delay, jitter=value.jitter)  # fmt: skip
        case CatchUp():
            lateness = None if value.max_lateness is None else value.max_lateness / timedelta(seconds=1)
            return _call("CatchUp", repr(str(value.policy)), max_lateness=lateness, max_runs=value.max_runs)
        case Jitter():
            return f"Jitter({value.min_ms}, {value.max_ms})"
        case datetime():
            return f"datetime.fromisoformat({value.isoformat()!r})"
        case _:
            return repr(value)


def _call(name: str, *first: str, **words: Any) -> str:
    given = [*first, *(f"{word}={value!r}" for word, value in words.items() if not _is_default(word, value))]
    return f"{name}({', '.join(given)})"


_DEFAULTS: Mapping[str, Any] = {"timezone": "UTC", "dst_gap": "fire_after", "dst_fold": "first", "strict_fields": None,
                                "anchor": "epoch", "after_completion": False, "on_past": "reject"}  # fmt: skip


def _is_default(word: str, value: Any) -> bool:
    return word in _DEFAULTS and _DEFAULTS[word] == value
