"""Excluded windows: which of a schedule's windows fall on dates of its calendars, and what a fire does with them.

A window is excluded by its local date in the zone of its timing, UTC unless said. It is neither due nor missed and
takes no part in any policy, so the policies are asked about the others alone, and what is excluded is put between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from duly.core.calendar import Days
from duly.core.ids import window_run_id
from duly.core.rules.missed import Backlog, Dropped, Kept, Step, sort_out
from duly.core.rules.windows import Windows
from duly.core.run import Reason, SkippedWindows
from duly.core.schedule import Definition
from duly.core.timing import Timing, Zone, zone_named

OWN_DATES = "its own dates"
"""What stands in the place of a calendar's name where a schedule's own dates exclude a window."""

_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400


class Span(NamedTuple):
    """Neighbouring windows, both ends counted, and what excludes them all; ``by`` is None where nothing does."""

    since: int
    until: int
    by: str | None


class Exclusions:
    """The dates on which one schedule does not fire: its own first, then those of its calendars in their order."""

    __slots__ = ("_sources", "_zone")

    def __init__(self, definition: Definition, calendars: Sequence[tuple[str, Days]] = ()) -> None:
        own = [(OWN_DATES, Days(definition.exclude_dates))] if definition.exclude_dates else []
        self._sources: Sequence[tuple[str, Days]] = [*own, *calendars]
        self._zone = zone_of(definition.timing)

    def excludes(self, window: int) -> str | None:
        """What excludes a window: a calendar's name, ``OWN_DATES``, or None."""
        second = window // 1000
        return self._on(_EPOCH + (second + self._zone.offset_at(second)) // _DAY)

    def constant_from(self, window: int, until: int) -> tuple[str | None, int]:
        """What excludes a window, and an instant up to which that stays so, looking no further than ``until``.

        Within a stretch of constant offset, local dates follow one another; across a change they need not.
        """
        second = window // 1000
        stretch = self._zone.stretch_at(second)
        day = _EPOCH + (second + stretch.offset) // _DAY
        by = self._on(day)
        horizon = min(until // 1000, stretch.end - 1)
        midnight = _midnight_after(day, stretch.offset)
        while midnight <= horizon and self._on(day + 1) == by:
            day += 1
            midnight = _midnight_after(day, stretch.offset)
        return by, min(midnight, stretch.end) * 1000 - 1

    def _on(self, ordinal: int) -> str | None:
        for name, days in self._sources:
            if days.holds(ordinal):
                return name
        return None


class OpenWindows(Windows):
    """Of the windows of an outage, those that nothing excludes."""

    __slots__ = ("_raw", "_sinces", "_spans")

    def __init__(self, definition: Definition, raw: Windows, spans: Sequence[Span]) -> None:
        super().__init__(definition, spans[0].since)
        self._raw = raw
        self._spans = spans
        self._sinces = [span.since for span in spans]

    def newest_until(self, instant: int) -> int:
        place = bisect_right(self._sinces, instant) - 1
        if place < 0:
            return self.first
        until = self._spans[place].until
        return until if instant >= until else self._raw.newest_until(instant)

    def following(self, window: int) -> int | None:
        place = self._place(window)
        if window < self._spans[place].until:
            return self._raw.following(window)
        return self._sinces[place + 1] if place + 1 < len(self._spans) else None

    def count(self, since: int, until: int) -> int:
        spans = self._spans[self._place(since) : self._place(until) + 1]
        return sum(self._raw.count(max(since, span.since), min(until, span.until)) for span in spans)

    def _place(self, window: int) -> int:
        return bisect_right(self._sinces, window) - 1


def zone_of(timing: Timing) -> Zone:
    """The zone in which the windows of a timing have their dates."""
    return zone_named(timing.timezone)


def note_of(by: str) -> str:
    """Why a window does not fire, in words."""
    return f"excluded by {by}"


def excluded_window(window: int, by: str) -> Dropped:
    """What becomes of one excluded window."""
    return Dropped(Reason.EXCLUDED, window, window, 1, note_of(by))


def steps_excluding(
    windows: Windows, definition: Definition, exclusions: Exclusions, *, now: int, grace_ms: int, limit: int
) -> list[Step]:
    """What to do with the windows whose instant has come, oldest first, at most ``limit`` steps of it."""
    newest = windows.newest_at(now)
    if newest is None:
        return []
    spans = spans_of(windows, exclusions, newest)
    kept = [span for span in spans if span.by is None]
    backlog = Backlog()
    if kept:
        view = windows if len(spans) == 1 else OpenWindows(definition, windows, kept)
        backlog = sort_out(view, definition, now=now, grace_ms=grace_ms, limit=limit)
    steps = _interleaved(backlog, spans, windows)
    if len(backlog.kept) >= limit:
        # There may be more than were listed: nothing after the last of them is dealt with.
        last = next((place for place in reversed(range(len(steps))) if isinstance(steps[place], Kept)), -1)
        del steps[last + 1 :]
    return steps[:limit]


def without_excluded(row: SkippedWindows, definition: Definition, exclusions: Exclusions) -> list[SkippedWindows]:
    """The rows of windows that were dropped for another reason, had those that are excluded been left out first."""
    windows = Windows(definition, row.since)
    spans = spans_of(windows, exclusions, row.window_at)
    if len(spans) == 1 and spans[0].by is None:
        return [row]
    return [
        replace(
            row,
            id=window_run_id(row.schedule_id, span.until),
            since=span.since,
            window_at=span.until,
            windows=windows.count(span.since, span.until),
            reason=row.reason if span.by is None else Reason.EXCLUDED,
            detail=row.detail if span.by is None else note_of(span.by),
        )
        for span in spans
    ]


def spans_of(windows: Windows, exclusions: Exclusions, newest: int) -> list[Span]:
    """The windows from the first to ``newest``, parted by what excludes them: by dates, never window by window."""
    spans: list[Span] = []
    window: int | None = windows.first
    while window is not None and window <= newest:
        by, last = exclusions.constant_from(window, newest)
        until = newest if last >= newest else windows.newest_until(last)
        if spans and spans[-1].by == by:
            spans[-1] = Span(spans[-1].since, until, by)
        else:
            spans.append(Span(window, until, by))
        window = windows.following(until) if until < newest else None
    return spans


def _interleaved(backlog: Backlog, spans: Sequence[Span], windows: Windows) -> list[Step]:
    steps: list[Step] = []
    kept = iter(backlog.kept)
    following = next(kept, None)
    for since, until, by in spans:
        if by is not None:
            steps.append(Dropped(Reason.EXCLUDED, since, until, windows.count(since, until), note_of(by)))
            continue
        for dropped in backlog.dropped:
            low, high = max(dropped.since, since), min(dropped.until, until)
            if low <= high:
                steps.append(Dropped(dropped.reason, low, high, windows.count(low, high)))
        while following is not None and following.window <= until:
            steps.append(following)
            following = next(kept, None)
    return steps


def _midnight_after(ordinal: int, offset: int) -> int:
    """The second at which the next local date begins, while the offset lasts."""
    return (ordinal + 1 - _EPOCH) * _DAY - offset
