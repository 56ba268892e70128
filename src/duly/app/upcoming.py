"""Windows to come, for people: when, when exactly, what the wall clock shows then, and what the clocks do to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone

from duly.core.ids import check_key
from duly.core.instants import to_datetime
from duly.core.rules.excluding import Exclusions, note_of
from duly.core.rules.moving import resumed_cursor
from duly.core.rules.starting import started
from duly.core.rules.windows import fire_instant, next_window
from duly.core.schedule import Definition, Schedule, Target, TargetKind
from duly.core.timing import Every, Jitter, Timing, dst_note
from duly.core.timing.epoch import to_second
from duly.core.timing.zone import zone_named

from .checking import check_number

MOST = 100
_NOWHERE = Target(TargetKind.JOB, "preview")


@dataclass(frozen=True, slots=True)
class Upcoming:
    """One window to come. ``local_time`` is the same instant on the wall clock of the timing's zone.

    One that is ``excluded`` does not fire; its note says by what.
    """

    window_at: datetime
    fire_at: datetime
    local_time: datetime
    note: str | None = None
    excluded: bool = False


Windows = list[Upcoming]


def previewed(
    timing: Timing,
    after: int,
    key: str | None,
    jitter: Jitter | None,
    calendars: tuple[str, ...],
    exclude_dates: tuple[date, ...],
) -> Definition:
    """The definition that a preview is of; an interval that counts from its start starts at ``after``."""
    definition = Definition(
        key="preview" if key is None else check_key(key),
        timing=timing,
        target=_NOWHERE,
        jitter=jitter,
        calendars=calendars,
        exclude_dates=exclude_dates,
    )
    return started(definition, after)


def preview(definition: Definition, after: int, count: int, exclusions: Exclusions | None) -> list[Upcoming]:
    """The first ``count`` windows of a definition strictly after an instant."""
    return _seen(definition, next_window(definition, after), count, None, exclusions)


def upcoming(schedule: Schedule, count: int, exclusions: Exclusions | None) -> list[Upcoming]:
    """The windows that a schedule will fire, or skip as excluded, as things stand; the one that is due first."""
    definition, facts, cursor = schedule.definition, schedule.facts, schedule.cursor
    if facts.paused_at is not None:
        if facts.paused_until is None:
            return []
        cursor = resumed_cursor(cursor, definition, facts.paused_until, paused_at=facts.paused_at, catch_up=False)
    runs = None if definition.max_runs is None else definition.max_runs - cursor.fired
    found = _seen(definition, cursor.next_window_at, count, runs, exclusions)
    if found and cursor.fire_at is not None:
        found[0] = replace(found[0], fire_at=to_datetime(cursor.fire_at))
    return found


def check_count_of(count: int) -> int:
    """Answer how many windows to show, or refuse it."""
    return check_number(count, "count", 1, MOST)


def seen(definition: Definition, windows: Sequence[int]) -> list[Upcoming]:
    """Windows as people see them."""
    return [_one(definition, window) for window in windows]


def _seen(
    definition: Definition, window: int | None, count: int, runs: int | None, exclusions: Exclusions | None
) -> list[Upcoming]:
    """Up to ``count`` windows from this one on, of which no more than ``runs`` fire."""
    found: list[Upcoming] = []
    fires = 0
    while window is not None and len(found) < count and (runs is None or fires < runs):
        found.append(_one(definition, window, exclusions))
        fires += not found[-1].excluded
        # An interval that counts from the end of a run has no second window before that end is known.
        window = None if definition.counts_from_completion else next_window(definition, window)
    return found


def _one(definition: Definition, window: int, exclusions: Exclusions | None = None) -> Upcoming:
    timing = definition.timing
    at = to_datetime(window)
    local = _on_the_wall(at, timing.timezone)
    note = None if isinstance(timing, Every) else dst_note(timing, window)
    by = None if exclusions is None else exclusions.excludes(window)
    if by is not None:
        note = note_of(by) if note is None else f"{note}; {note_of(by)}"
    return Upcoming(at, to_datetime(fire_instant(definition, window)), local, note, excluded=by is not None)


def _on_the_wall(at: datetime, name: str) -> datetime:
    zone = zone_named(name)
    if zone.is_utc:
        return at
    try:
        return at.astimezone(timezone(timedelta(seconds=zone.offset_at(to_second(at)))))
    except OverflowError:  # the first and the last day that a datetime can show, seen from another zone
        return at
