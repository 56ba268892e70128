"""Timings in plain English: what a schedule does, in words that someone who never met cron can check."""

from __future__ import annotations

from typing import assert_never

from duly.core.timing.cron import Cron
from duly.core.timing.days import Days
from duly.core.timing.epoch import from_ms, in_range
from duly.core.timing.every import Every
from duly.core.timing.once import Once
from duly.core.timing.pattern import Pattern
from duly.core.timing.union import Timing
from duly.core.timing.words import (
    MONTHS,
    ORDINALS,
    WEEKDAYS,
    held,
    joined,
    length_of,
    ordinal,
    plural,
    progression,
    runs,
    step_of,
)
from duly.core.timing.zone import zone_named

_MAX_TIMES = 6


def explain(timing: Timing) -> str:
    """One sentence without its full stop, such as "At 02:00 every day, America/Sao_Paulo"."""
    match timing:
        case Cron():
            zone = "" if timing.timezone == "UTC" else f", {timing.timezone}"
            return _clock_and_days(timing.pattern) + zone
        case Every():
            return _interval(timing)
        case Once():
            return f"Once, at {_shown(timing)}"
        case _:
            assert_never(timing)


def _shown(once: Once) -> str:
    """What the wall clock of its zone shows at the instant; where that is in no year that has a name, UTC's."""
    zone, part_ms = zone_named(once.timezone), once.at_ms % 1000
    local_ms = in_range(once.at_ms + zone.offset_at(once.at_ms // 1000) * 1000)
    shown, name = (once.at, "UTC") if local_ms is None else (from_ms(local_ms), zone.name)
    return f"{shown:%Y-%m-%d %H:%M:%S}{f'.{part_ms:03}' if part_ms else ''} {name}"


def _interval(every: Every) -> str:
    if every.after_completion:
        return f"{length_of(every.every_ms)} after the end of each run"
    text = f"Every {length_of(every.every_ms, lone=True)}"
    if every.anchor == "epoch":
        return text
    if every.anchor_ms is None:
        return f"{text}, counted from the start"
    return f"{text}, counted from {from_ms(every.anchor_ms):%Y-%m-%d %H:%M:%S} UTC"


def _clock_and_days(pattern: Pattern) -> str:
    days = _days(pattern.days)
    times = _spelled_times(pattern)
    if times is not None:
        return f"At {times} {days or 'every day'}"
    clock = _clock(pattern)
    return f"{clock} {days.removeprefix('every day ')}" if days else clock


def _spelled_times(pattern: Pattern) -> str | None:
    seconds, minutes, hours = held(pattern.seconds), held(pattern.minutes), held(pattern.hours)
    on_the_hour = seconds == [0] and minutes == [0]
    if len(seconds) * len(minutes) * len(hours) > _MAX_TIMES and (not on_the_hour or _is_even(hours)):
        return None
    tails = [""] if seconds == [0] else [f":{second:02}" for second in seconds]
    return joined([f"{hour:02}:{minute:02}{tail}" for hour in hours for minute in minutes for tail in tails])


def _is_even(hours: list[int]) -> bool:
    return step_of(hours, 24) is not None or len(runs(hours)) == 1


def _clock(pattern: Pattern) -> str:
    seconds, minutes, hours = held(pattern.seconds), held(pattern.minutes), held(pattern.hours)
    if seconds != [0]:
        clock = _unit("second", seconds, 60)
        if len(minutes) < 60:
            step = step_of(minutes, 60)
            clock += f" of every {ordinal(step)} minute" if step else f" of {_counted('minute', minutes)}"
        elif step_of(seconds, 60) is None:
            clock += " of every minute"
    elif minutes == [0]:
        return _hourly(hours)
    elif step_of(minutes, 60):
        clock = _unit("minute", minutes, 60)
    else:
        clock = f"At {_counted('minute', minutes)} past the hour"
    return clock if len(hours) == 24 else f"{clock} {_within(hours)}"


def _hourly(hours: list[int]) -> str:
    step = step_of(hours, 24)
    if step is not None:
        return "Every hour" if step == 1 else f"Every {step} hours"
    return f"Every hour from {hours[0]:02}:00 to {hours[-1]:02}:00"


def _within(hours: list[int]) -> str:
    return f"from {joined([f'{first:02}:00 to {last:02}:59' for first, last in runs(hours)])}"


def _unit(unit: str, values: list[int], size: int) -> str:
    step = step_of(values, size)
    if step is not None:
        return f"Every {unit}" if step == 1 else f"Every {step} {unit}s"
    return f"At {_counted(unit, values)}"


def _counted(unit: str, values: list[int]) -> str:
    step = progression(values)
    if step is not None:
        return f"every {ordinal(step)} {unit} from {values[0]} to {values[-1]}"
    return f"{plural(unit, len(values))} {joined([_span(str(a), str(b)) for a, b in runs(values)])}"


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _days(days: Days) -> str:
    dates = _dates(days) if days.month_days.restricted else ""
    weekdays = _weekdays(days) if days.weekdays.restricted else ""
    picked = " or ".join(part for part in (dates, weekdays) if part)
    months = held(days.months)
    if len(months) == 12:
        return picked
    named = joined([_span(MONTHS[first], MONTHS[last]) for first, last in runs(months)])
    return f"{picked or 'every day'} in {named}"


def _dates(days: Days) -> str:
    dates = held(days.month_days.mask)
    parts = []
    if dates:
        parts.append(f"{_counted('day', dates)} of the month")
    if days.month_days.last:
        parts.append("the last day of the month")
    return f"on {joined(parts)}"


def _weekdays(days: Days) -> str:
    weekdays = days.weekdays
    if weekdays.mask == 0b1111111:
        return "on every day of the week"
    # A week is read from Monday, so Sunday comes last.
    plain = sorted((day or 7) for day in held(weekdays.mask))
    parts = []
    for first, last in runs(plain):
        names = [WEEKDAYS[day % 7] for day in range(first, last + 1)]
        parts += names if len(names) < 3 else [f"{names[0]} to {names[-1]}"]
    parts += [f"the {ORDINALS[nth]} {WEEKDAYS[day]} of the month" for day, nth in weekdays.nth]
    parts += [f"the last {WEEKDAYS[day]} of the month" for day in held(weekdays.last)]
    return f"on {joined(parts)}"
