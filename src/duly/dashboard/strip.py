"""The calendar strip of one schedule: its past windows with what became of them, and the next ones, day by day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from duly.core.timing.zone import Zone, zone_named

from .words import MONTHS

_MOST_CHANGES = 8
"""Changes of the clocks that are told between two windows; a window every ten years passes more."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One window: when, what became of it (``next`` while it is to come), and the run that dealt with it.

    ``clock`` has seconds if any window of the strip does.
    """

    at: datetime
    clock: str
    outcome: str
    run_id: str | None = None
    count: int = 1
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """The windows of one local date; ``changes`` tells of the clocks since the day before it in the strip."""

    date: str
    weekday: str
    cells: list[Cell] = field(default_factory=list)
    changes: tuple[str, ...] = ()
    is_next: bool = False

    @property
    def number(self) -> str:
        """The day of its month."""
        return self.date[8:].lstrip("0")

    @property
    def month(self) -> str:
        return MONTHS[int(self.date[5:7]) - 1]


def strip(runs: Iterable[Any], upcoming: Iterable[Any], timezone: str) -> list[Day]:
    """The days of a strip, from the answers of executions (newest first) and of windows to come."""
    zone = zone_named(timezone)
    past = [_past(run, zone) for run in runs if run["windowKey"] is not None]
    cells = [*reversed(past), *(_coming(window, zone) for window in upcoming)]
    if any(cell.at.second for cell in cells):
        cells = [replace(cell, clock=f"{_local(cell.at, zone):%H:%M:%S}") for cell in cells]
    return list(_days(cells, zone))


def _past(run: Any, zone: Zone) -> Cell:
    at = instant(run["scheduledAt"])
    told = run["errorMessage"] or run["reasonDetail"] or run["reason"]
    return Cell(at, f"{_local(at, zone):%H:%M}", run["status"], run["id"], run["windowCount"] or 1, told)


def _coming(window: Any, zone: Zone) -> Cell:
    at = instant(window["windowAt"])
    outcome = "excluded" if window.get("excluded") else "next"
    return Cell(at, f"{_local(at, zone):%H:%M}", outcome, note=window["note"])


def _days(cells: Sequence[Cell], zone: Zone) -> Iterator[Day]:
    day: Day | None = None
    for before, cell in zip([None, *cells], cells, strict=False):
        local = _local(cell.at, zone)
        changes = () if before is None else tuple(clock_changes(zone, before.at, cell.at))
        is_next = cell.run_id is None
        if day is None or day.date != f"{local:%Y-%m-%d}" or day.is_next != is_next:
            if day is not None:
                yield day
            day = Day(f"{local:%Y-%m-%d}", f"{local:%a}", [], changes, is_next)
        elif changes:
            yield day
            day = Day(day.date, day.weekday, [], changes, is_next)
        day.cells.append(cell)
    if day is not None:
        yield day


def clock_changes(zone: Zone, after: datetime, until: datetime) -> Iterator[str]:
    """What the clocks of a zone do after one instant and until another, in words."""
    if zone.is_utc:
        return
    at, end = int(after.timestamp()), int(until.timestamp())
    for _ in range(_MOST_CHANGES):
        stretch = zone.stretch_at(at)
        if stretch.end > end:
            return
        if stretch.after != stretch.offset:
            yield _change(stretch.end, stretch.offset, stretch.after)
        at = stretch.end


def _change(at: int, offset: int, after: int) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    old, new = moment + timedelta(seconds=offset), moment + timedelta(seconds=after)
    way = "forward" if after > offset else "back"
    return f"clocks go {way} on {old:%Y-%m-%d}: {old:%H:%M} becomes {new:%H:%M}"


def _local(at: datetime, zone: Zone) -> datetime:
    return at + timedelta(seconds=zone.offset_at(int(at.timestamp())))


def instant(text: str) -> datetime:
    """An instant as the API writes it."""
    return datetime.fromisoformat(text)
