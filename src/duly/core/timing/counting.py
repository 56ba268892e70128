"""Counts fires without walking through them: a secondly schedule that slept a year has 31 million.

Within a stretch of constant UTC offset, fires are the named local times that it places, and those are counted by their
masks; one more may be there for all the times that a gap before it left out.
"""

from __future__ import annotations

from typing import Final

from duly.core.timing.epoch import LAST_SECOND
from duly.core.timing.fires import Fires
from duly.core.timing.pattern import Pattern
from duly.core.timing.zone import Stretch

CYCLE: Final = 146_097 * 86_400
"""Seconds in 400 years: a whole number of weeks, after which the Gregorian calendar repeats."""
RULES_ONLY_SINCE: Final = 4_102_444_800
"""2100-01-01T00:00:00Z, in seconds: no zone has a recorded change after it, only rules."""


def count_fires(fires: Fires, after: int, until: int) -> int:
    """How many fires lie after the instant ``after`` and at or before ``until``, in whole seconds."""
    if fires.zone.is_utc:
        return count_local(fires.pattern, after, until) if after < until else 0
    # Calendar and zone rules repeat every 400 years once the last recorded change of a zone has passed.
    begin = max(after, RULES_ONLY_SINCE)
    cycles = (until - begin) // CYCLE
    if cycles > 1:
        end = begin + cycles * CYCLE
        one = _count_stretches(fires, begin, begin + CYCLE)
        return _count_stretches(fires, after, begin) + cycles * one + _count_stretches(fires, end, until)
    return _count_stretches(fires, after, until)


def _count_stretches(fires: Fires, after: int, until: int) -> int:
    count, at = 0, after
    while at < until:
        stretch = fires.zone.stretch_at(at + 1)
        upto = min(until, stretch.end - 1)
        low, high = fires.placed_in(stretch)
        first, last = max(at + 1 + stretch.offset, low), min(upto + stretch.offset, high - 1)
        if first <= last:
            count += count_local(fires.pattern, first - 1, last)
        if at + 1 == stretch.start and not fires.skip_gap:
            count += _fires_for_gap(fires.pattern, stretch)
        at = upto
    return count


def _fires_for_gap(pattern: Pattern, stretch: Stretch) -> bool:
    """Whether times that the gap before a stretch left out are all that fires at its start."""
    opens, closes = stretch.start + stretch.before, stretch.start + stretch.offset
    missing = pattern.first_from(opens)
    return missing is not None and missing < closes and pattern.first_from(closes) != closes


def count_local(pattern: Pattern, after: int, until: int) -> int:
    """How many named local seconds lie after ``after`` and at or before ``until``."""
    return _count_to(pattern, until) - _count_to(pattern, after)


def _count_to(pattern: Pattern, local: int) -> int:
    """Named local seconds from the first day of the calendar to ``local``, the latter counted."""
    day, rest = divmod(min(local, LAST_SECOND), 86_400)
    hours, minutes, seconds = pattern.hours, pattern.minutes, pattern.seconds
    per_minute = seconds.bit_count()
    per_hour = minutes.bit_count() * per_minute
    count = pattern.days.count_before(day) * hours.bit_count() * per_hour
    if pattern.days.last_to(day) != day:
        return count
    hour, rest = divmod(rest, 3600)
    minute, second = divmod(rest, 60)
    count += (hours & ((1 << hour) - 1)).bit_count() * per_hour
    if hours >> hour & 1:
        count += (minutes & ((1 << minute) - 1)).bit_count() * per_minute
        if minutes >> minute & 1:
            count += (seconds & ((2 << second) - 1)).bit_count()
    return count
