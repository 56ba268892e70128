"""Friendly timings: exactly one of several ways to say when, turned into a ``Cron``, an ``Every`` or a ``Once``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from duly.core.errors import ValidationFailed
from duly.core.timing.cron import Cron
from duly.core.timing.epoch import parse_datetime
from duly.core.timing.every import DEFAULT_MINIMUM_MS, Every
from duly.core.timing.once import Once
from duly.core.timing.refusal import refused
from duly.core.timing.union import Timing
from duly.core.timing.zone import check_zone

# Which options go with which way; the zone goes with all of them, since intervals are shown in it.
_CRON_OPTIONS: Final = ("dst_gap", "dst_fold", "strict_fields")
_EVERY_OPTIONS: Final = ("anchor", "after_completion")
_ONCE_OPTIONS: Final = ("on_past",)
_DEFAULTS: Final[Mapping[str, Any]] = {
    "dst_gap": "fire_after", "dst_fold": "first", "anchor": "epoch", "after_completion": False, "on_past": "reject",
}  # fmt: skip
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "cron": _CRON_OPTIONS,
    "daily": _CRON_OPTIONS,
    "weekly": _CRON_OPTIONS,
    "monthly": _CRON_OPTIONS,
    "every": _EVERY_OPTIONS,
    "every_ms": _EVERY_OPTIONS,
    "interval_minutes": _EVERY_OPTIONS,
    "at": _ONCE_OPTIONS,
    "once": _ONCE_OPTIONS,
}


def timing_from(
    *,
    cron: Any = None,
    every: Any = None,
    every_ms: Any = None,
    at: Any = None,
    daily: Any = None,
    weekly: Any = None,
    monthly: Any = None,
    interval_minutes: Any = None,
    once: Any = None,
    timezone: str = "UTC",
    dst_gap: str | None = None,
    dst_fold: str | None = None,
    strict_fields: int | None = None,
    anchor: Any = None,
    after_completion: bool | None = None,
    on_past: str | None = None,
    minimum_ms: int = DEFAULT_MINIMUM_MS,
) -> Timing:
    """The timing of the one way that was given; none, two, or an option of another way is ``ValidationFailed``.

    * ``cron``: an expression; ``every``: a duration; ``every_ms`` and ``interval_minutes``: whole numbers.
    * ``daily``: ``"14:00"`` or ``{"hour": 14, "minute": 0}``.
    * ``weekly``: ``"MON 09:00"``, ``("MON", "09:00")`` or ``{"day_of_week": 1, "hour": 9, "minute": 0}``.
    * ``monthly``: ``"15 14:30"``, ``(15, "14:30")`` or ``{"day": 15, "hour": 14, "minute": 30}``.
    * ``at`` and ``once``: an instant with an offset, or a local time, which is meant in ``timezone``.
    """
    ways = {
        "cron": cron, "every": every, "every_ms": every_ms, "at": at, "daily": daily, "weekly": weekly,
        "monthly": monthly, "interval_minutes": interval_minutes, "once": once,
    }  # fmt: skip
    options = {
        "dst_gap": dst_gap, "dst_fold": dst_fold, "strict_fields": strict_fields,
        "anchor": anchor, "after_completion": after_completion, "on_past": on_past,
    }  # fmt: skip
    way = _only(ways)
    zone = check_zone(timezone)
    fitting = _fitting(way, options)
    if isinstance(anchor, str) and fitting.get("anchor") not in (None, "epoch", "start"):
        fitting["anchor"] = parse_datetime(anchor)
    return _timing(way, ways[way], zone, fitting, minimum_ms)


def _only(ways: Mapping[str, Any]) -> str:
    given = [way for way, value in ways.items() if value is not None]
    if len(given) == 1:
        return given[0]
    told = f"{', '.join(given[:-1])} and {given[-1]} were given" if given else "none was given"
    expected = f"exactly one of {', '.join(ways)}"
    raise ValidationFailed(f"{told}; expected {expected}", field="timing", got=given, expected=expected)


def _fitting(way: str, options: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    for name in [name for name in given if name not in _OPTIONS[way]]:
        value, default = given.pop(name), _DEFAULTS.get(name)
        if type(value) is not type(default) or value != default:  # a default asks for nothing
            raise refused(name, value, f"nothing here, since it does not go with {way}; leave it out")
    return given


def _timing(way: str, value: Any, zone: str, options: dict[str, Any], minimum_ms: int) -> Timing:
    match way:
        case "cron":
            return Cron(value, zone, **options)
        case "daily":
            return _named(Cron.daily, (_time("daily", value),), zone, options)
        case "weekly":
            return _named(Cron.weekly, _day_and_time("weekly", "day_of_week", value), zone, options)
        case "monthly":
            return _named(Cron.monthly, _day_and_time("monthly", "day", value), zone, options)
        case "every":
            return Every(value, minimum_ms=minimum_ms, timezone=zone, **options)
        case "every_ms":
            return Every(milliseconds=value, minimum_ms=minimum_ms, timezone=zone, **options)
        case "interval_minutes":
            return Every(minutes=value, minimum_ms=minimum_ms, timezone=zone, **options)
        case _:
            return _once(value, zone, options)


def _named(build: Any, words: tuple[Any, ...], zone: str, options: dict[str, Any]) -> Cron:
    # Times by name never have seconds, so they always keep to five fields.
    knobs = {name: value for name, value in options.items() if name != "strict_fields"}
    built: Cron = build(*words, zone, **knobs)
    if "strict_fields" not in options:
        return built
    return Cron(built.expr, zone, strict_fields=options["strict_fields"], **knobs)


def _once(value: Any, zone: str, options: dict[str, Any]) -> Once:
    shown = parse_datetime(value) if isinstance(value, str) else value
    if isinstance(shown, datetime) and shown.tzinfo is None:
        return Once.local(shown, zone, **options)
    return Once(shown, timezone=zone, **options)


def _time(way: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and value.keys() == {"hour", "minute"}:
        hour, minute = value["hour"], value["minute"]
        if type(hour) is int and type(minute) is int and 0 <= hour <= 23 and 0 <= minute <= 59:
            return f"{hour:02}:{minute:02}"
    raise refused(way, value, "a time such as '14:30', or an hour of 0-23 and a minute of 0-59")


def _day_and_time(way: str, day_key: str, value: Any) -> tuple[Any, str]:
    if isinstance(value, str):
        day, space, time = value.partition(" ")
        if space:
            return day, time
    elif isinstance(value, Mapping) and day_key in value:
        return value[day_key], _time(way, {name: part for name, part in value.items() if name != day_key})
    elif isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise refused(way, value, f"a day and a time, such as {'MON 09:00' if way == 'weekly' else '15 14:30'}")
