"""Calendars: named sets of local dates on which nothing is to fire."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

_LAST_ORDINAL = date.max.toordinal()


class DateRange(NamedTuple):
    """All dates from the first to the last, both counted."""

    first: date
    last: date

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


class MonthDay(NamedTuple):
    """A date of every year; the 29th of February is one of leap years only."""

    month: int
    day: int

    def __str__(self) -> str:
        return f"{self.month:02}-{self.day:02}"


@dataclass(frozen=True, slots=True)
class Days:
    """A set of dates, as people wrote it: single ones, ranges, and dates of every year."""

    dates: tuple[date, ...] = ()
    ranges: tuple[DateRange, ...] = ()
    yearly: tuple[MonthDay, ...] = ()
    _single: frozenset[int] = field(init=False, repr=False, compare=False)
    _starts: list[int] = field(init=False, repr=False, compare=False)
    _ends: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spans = _joined(self.ranges)
        object.__setattr__(self, "_single", frozenset(day.toordinal() for day in self.dates))
        object.__setattr__(self, "_starts", [first for first, _ in spans])
        object.__setattr__(self, "_ends", [last for _, last in spans])

    def holds(self, ordinal: int) -> bool:
        """Whether a date, as its proleptic ordinal, is one of the set."""
        if ordinal in self._single:
            return True
        if self._starts:
            place = bisect_right(self._starts, ordinal) - 1
            if place >= 0 and ordinal <= self._ends[place]:
                return True
        if not self.yearly or not 1 <= ordinal <= _LAST_ORDINAL:
            return False
        day = date.fromordinal(ordinal)
        return (day.month, day.day) in self.yearly


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """A named set of excluded dates. A new revision holds for every window that has not fired yet."""

    id: str
    name: str
    tenant: str = ""
    description: str | None = None
    days: Days
    revision: int
    created_at: datetime
    created_by: str | None
    updated_at: datetime
    updated_by: str | None

    @property
    def dates(self) -> tuple[date, ...]:
        return self.days.dates

    @property
    def ranges(self) -> tuple[DateRange, ...]:
        return self.days.ranges

    @property
    def yearly(self) -> tuple[MonthDay, ...]:
        return self.days.yearly


def _joined(ranges: tuple[DateRange, ...]) -> list[tuple[int, int]]:
    """The ranges as ordinals, in order, those that touch made one."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted((first.toordinal(), last.toordinal()) for first, last in ranges):
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return spans
