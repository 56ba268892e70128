"""The form of a schedule: what its fields say becomes the body of a REST request, and back.

A field is named after the place of its value in the body (``retryPolicy/delaySeconds``), so that an error's JSON
pointer finds it. What is not a number where one belongs is handed on as it is: the API says what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from duly.api.merging import patch_between
from duly.core.timing.zone import zone_named

from .words import pretty

Values = Mapping[str, str]

WAYS = {
    "cron": "cronExpression",
    "every": "everyMs",
    "daily": "dailyTime",
    "weekly": "weeklyTime",
    "monthly": "monthlyTime",
    "once": "onceAt",
}
"""What the form calls the ways to say when, and the field of each."""

AIMS = ("jobType", "workflow", "topic", "target")
UNITS = {"seconds": 1000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}
NONE = "none"
"""What a person writes for a timeout that never comes."""

_NUMBERS = (
    "maxAttempts", "retryPolicy/delaySeconds", "retryPolicy/maxDelaySeconds", "retryPolicy/jitter", "maxQueued",
    "maxConcurrent", "catchUp/maxLatenessSeconds", "catchUp/maxRuns", "jitter/minMs", "jitter/maxMs", "maxRuns",
    "pauseAfterFailures", "priority",
)  # fmt: skip
_TEXTS = (
    "name", "key", "description", "retryPolicy/backoff", "overlapPolicy", "catchUp/policy", "queue", "fairnessKey",
    "startAt", "endAt", "metadata/ownerId", "metadata/tenantId", "metadata/correlationId",
)  # fmt: skip
_LISTS = ("tags", "calendars", "excludeDates")
_OPTIONS = {
    "cron": ("dst/gap", "dst/fold"),
    "daily": ("dst/gap", "dst/fold"),
    "weekly": ("dst/gap", "dst/fold"),
    "monthly": ("dst/gap", "dst/fold"),
    "every": ("anchor",),
    "once": ("onPast",),
}
_TIMING = ("cronExpression", "everyMs", "intervalMinutes", "dailyTime", "weeklyTime", "monthlyTime", "onceAt",
           "timezone", "dst", "anchor", "afterCompletion", "onPast")  # fmt: skip
_DEFAULTS: Mapping[str, Any] = {"timeoutSeconds": 3600, "jobPayload": {}}
"""What an emptied field means, where null would mean something else."""

FIELDS = (
    "when", *WAYS.values(), "everyMs/unit", "weeklyTime/dayOfWeek", "monthlyTime/day", "timezone", "dst/gap",
    "dst/fold", "anchor", "afterCompletion", "onPast", "aim", "aimed", *_TEXTS, *_NUMBERS, *_LISTS, "timeoutSeconds",
    "jobPayload", "fireCurrentWindow", "paused",
)  # fmt: skip
"""Every field of the form."""

_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"-?\d{0,15}\.?\d{1,15}", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)
_ALIASES = {"jobType": "aimed", "workflow": "aimed", "topic": "aimed", "target": "aimed"}


@dataclass(slots=True)
class Wrong:
    """What is wrong with a form: by field, and what no field can show."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.fields or self.others)

    def at(self, name: str) -> list[str]:
        return self.fields.get(name, [])

    def any(self, *names: str) -> bool:
        """Whether something is wrong with one of these fields."""
        return any(name in self.fields for name in names)

    def add(self, name: str, detail: str) -> None:
        told = self.fields.setdefault(name, [])
        if detail not in told:
            told.append(detail)


def body_of(values: Values, wrong: Wrong) -> dict[str, Any]:
    """The body that a form asks for; empty fields are left out."""
    body: dict[str, Any] = {}
    _put_timing(body, values, wrong)
    _put_aim(body, values, wrong)
    for name in _TEXTS:
        if text := values.get(name, "").strip():
            _put(body, name, text)
    for name in _NUMBERS:
        if text := values.get(name, "").strip():
            _put(body, name, number(text))
    for name in _LISTS:
        if found := [part for part in re.split(r"[,\s]+", values.get(name, "")) if part]:
            body[name] = found
    if timeout := values.get("timeoutSeconds", "").strip():
        body["timeoutSeconds"] = None if timeout == NONE else number(timeout)
    if values.get("jobPayload", "").strip():
        payload = json_of(values["jobPayload"], "jobPayload", wrong)
        body["jobPayload"] = payload
    if values.get("fireCurrentWindow"):
        body["fireCurrentWindow"] = True
    if values.get("paused"):
        body["enabled"] = False
    return body


def preview_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a body that tells when."""
    asked = {name: body[name] for name in (*_TIMING, "jitter", "calendars", "excludeDates", "key") if name in body}
    tenant = body.get("metadata", {}).get("tenantId")
    return asked | ({} if tenant is None else {"tenantId": tenant})


def changes_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What an edit changes; what was emptied goes back to its default."""
    names = [name for name in {**before, **after} if before.get(name, _DEFAULTS) != after.get(name, _DEFAULTS)]
    changes = {name: after.get(name, _DEFAULTS.get(name)) for name in names if name != "key"}
    if isinstance(before.get("target"), dict) and isinstance(changes.get("target"), dict):
        changes["target"] = patch_between(before["target"], changes["target"])
    if any(name in changes for name in _TIMING) and not any(changes.get(way) is not None for way in WAYS.values()):
        # Half a timing says nothing without the other half.
        changes |= {way: after[way] for way in WAYS.values() if way in after}
    return changes


def values_of(schedule: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a form that shows a schedule as the API answers it."""
    values: dict[str, str] = {"timezone": schedule["timezone"]}
    values |= _shown_timing(schedule)
    for name in (*_TEXTS, *_NUMBERS):
        found = _get(schedule, name)
        if found is not None and not name.startswith("metadata/"):
            values[name] = str(found)
    for name in _LISTS:
        values[name] = ", ".join(schedule[name])
    values["aim"] = next(name for name in reversed(AIMS) if schedule[name] is not None)
    aimed = schedule[values["aim"]]
    values["aimed"] = aimed if isinstance(aimed, str) else pretty(aimed)
    timeout = schedule["timeoutSeconds"]
    values["timeoutSeconds"] = NONE if timeout is None else f"{timeout:g}"
    values["jobPayload"] = pretty(schedule.get("jobPayload", {}))
    if schedule["fireCurrentWindow"]:
        values["fireCurrentWindow"] = "on"
    return values


def place(errors: Sequence[Mapping[str, str]], known: Sequence[str], wrong: Wrong) -> None:
    """Put what the API found wrong beside the fields that it means; the rest is told above the form."""
    for error in errors:
        pointer = error.get("pointer", "").removeprefix("/")
        parts = pointer.split("/")
        fitting = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
        name = next((found for part in fitting if (found := _ALIASES.get(part, part)) in known), None)
        if name is None:
            wrong.others.append(error["detail"])
        else:
            wrong.add(name, error["detail"])


def json_of(text: str, name: str, wrong: Wrong) -> Any:
    """The JSON value of a field, or None with a word about what is wrong."""
    try:
        return json.loads(text)
    except RecursionError:
        wrong.add(name, f"{name} is nested too deeply; expected at most 64 levels")
    except ValueError as error:
        told = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        wrong.add(name, f"{name} is not JSON ({told}); expected a JSON value such as {{}}")
    return None


def number(text: str) -> Any:
    """A number if it is one, else the text itself."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _put_timing(body: dict[str, Any], values: Values, wrong: Wrong) -> None:
    way = values.get("when", "cron")
    name = WAYS.get(way)
    if name is None:
        wrong.others.append(f"when is {way[:60]!r}; expected one of {', '.join(WAYS)}")
        return
    text = values.get(name, "").strip()
    if way == "every":
        body[name] = _interval(text, values.get("everyMs/unit", "minutes"))
    elif way in ("daily", "weekly", "monthly"):
        body[name] = _clock(text, name, wrong)
    else:
        body[name] = text
    if way == "weekly":
        body[name]["dayOfWeek"] = number(values.get("weeklyTime/dayOfWeek", "1"))
    if way == "monthly":
        body[name]["day"] = number(values.get("monthlyTime/day", "").strip() or "1")
    if zone := values.get("timezone", "").strip():
        body["timezone"] = zone
    for option in _OPTIONS[way]:
        if chosen := values.get(option, "").strip():
            _put(body, option, chosen)
    if way == "every" and values.get("afterCompletion"):
        body["afterCompletion"] = True


def _put_aim(body: dict[str, Any], values: Values, wrong: Wrong) -> None:
    aim, aimed = values.get("aim", "jobType"), values.get("aimed", "").strip()
    if aim not in AIMS:
        wrong.others.append(f"aim is {aim[:60]!r}; expected one of {', '.join(AIMS)}")
    elif aim == "target":
        body[aim] = json_of(aimed, "aimed", wrong)
    else:
        body[aim] = aimed


def _interval(text: str, unit: str) -> Any:
    if not _DECIMAL.fullmatch(text):
        return text
    ms = Decimal(text) * UNITS.get(unit, 1)
    return int(ms) if ms == ms.to_integral_value() else float(ms)


def _clock(text: str, name: str, wrong: Wrong) -> dict[str, Any]:
    found = _CLOCK.match(text)
    if found is None:
        wrong.add(name, f"{name} is {text[:20]!r}; expected a time of day such as 09:00")
        return {"hour": 0, "minute": 0}
    return {"hour": int(found[1]), "minute": int(found[2])}


def _shown_timing(schedule: Mapping[str, Any]) -> dict[str, str]:
    way = {"cron": "cron", "interval": "every", "once": "once"}[schedule["scheduleType"]]
    shown = {"when": way, WAYS[way]: str(schedule[WAYS[way]])}
    if way == "every":
        ms = schedule["everyMs"]
        unit = next((name for name, size in reversed(UNITS.items()) if ms % size == 0), "seconds")
        shown |= {"everyMs": f"{Decimal(ms) / UNITS[unit]:f}", "everyMs/unit": unit, "anchor": schedule["anchor"]}
        if schedule["afterCompletion"]:
            shown["afterCompletion"] = "on"
    if way == "once":
        shown |= {"onceAt": _wall_clock(schedule["onceAt"], schedule["timezone"]), "onPast": schedule["onPast"]}
    if schedule["dst"] is not None:
        shown |= {"dst/gap": schedule["dst"]["gap"], "dst/fold": schedule["dst"]["fold"]}
    return shown


def _wall_clock(instant: str, timezone: str) -> str:
    """An instant as the wall clock of a zone shows it, in the form that a browser's field takes."""
    at = datetime.fromisoformat(instant)
    local = at + timedelta(seconds=zone_named(timezone).offset_at(int(at.timestamp())))
    return local.replace(tzinfo=None).isoformat(timespec="milliseconds" if local.microsecond else "seconds")


def _put(body: dict[str, Any], name: str, value: Any) -> None:
    outer, slash, inner = name.partition("/")
    if slash:
        body.setdefault(outer, {})[inner] = value
    else:
        body[outer] = value


def _get(schedule: Mapping[str, Any], name: str) -> Any:
    outer, slash, inner = name.partition("/")
    found = schedule.get(outer)
    return found if not slash or found is None else found.get(inner)
