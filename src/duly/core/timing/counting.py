"""Counts fires without walking through them: a secondly schedule that slept a year has 31 million.

Between two changes of the UTC offset, fires and named local times are one and the same, and those are counted by
their masks. Only the few hours beside a change, where local times are missing or come twice, are walked.
"""

from __future__ import annotations

from duly.core.timing.fires import Fires
from duly.core.timing.pattern import Pattern


def count_fires(fires: Fires, after: int, until: int) -> int:
    """How many fires lie after the instant ``after`` and at or before ``until``, in whole seconds."""
    count, at = 0, after
    while at < until:
        start, end, offset, before, later = fires.zone.stretch_at(at + 1)
        calm_from = start + abs(offset - before) + 1
        calm_to = end - abs(later - offset) - 1
        if at + 1 < calm_from:
            at, walked = _walk(fires, at, min(until, calm_from - 1))
            count += walked
        elif at + 1 <= calm_to:
            upto = min(until, calm_to)
            count += count_local(fires.pattern, at + offset, upto + offset)
            at = upto
        else:
            at, walked = _walk(fires, at, min(until, end - 1))
            count += walked
    return count


def count_local(pattern: Pattern, after: int, until: int) -> int:
    """How many named local seconds lie after ``after`` and at or before ``until``."""
    return _count_to(pattern, until) - _count_to(pattern, after)


def _walk(fires: Fires, after: int, until: int) -> tuple[int, int]:
    count = 0
    fire = fires.next_after(after)
    while fire is not None and fire <= until:
        count += 1
        fire = fires.next_after(fire)
    return until, count


def _count_to(pattern: Pattern, local: int) -> int:
    """Named local seconds from the first day of the calendar to ``local``, the latter counted."""
    day, rest = divmod(local, 86_400)
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
