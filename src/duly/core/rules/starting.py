"""The first cursor of a schedule: where its life begins."""

from __future__ import annotations

from dataclasses import replace

from duly.core.errors import ValidationFailed
from duly.core.instants import to_datetime
from duly.core.rules.windows import fire_instant, next_window, within_end
from duly.core.schedule import Cursor, Definition
from duly.core.timing import Every, Once


def started(definition: Definition, now: int) -> Definition:
    """The definition as it begins its life now: an interval that is counted from its start gets one.

    Only the store knows what time it is: by the clock of a caller who is ahead, the start would be a window to come.
    """
    timing = definition.timing
    if type(timing) is not Every or timing.anchor != "start":
        return definition
    if definition.start_at is None and timing.anchor_ms is not None:
        return definition
    start = now if definition.start_at is None else definition.start_at
    return replace(definition, timing=timing.anchored_at(start))


def first_cursor(schedule_id: str, definition: Definition, *, now: int, slot: int, paused: bool = False) -> Cursor:
    """The cursor of a new schedule: its windows count from now, or from ``start_at``.

    ``fire_current_window``, and a one-shot that may be late, make a window of the past the first one. Its
    ``fire_at`` is then now, later than the window asks for: by this ``plan`` knows that it is due, not missed.
    """
    window = first_window(definition, now)
    fire_at = None if paused else max(now, fire_instant(definition, window))
    return Cursor(schedule_id=schedule_id, next_window_at=window, fire_at=fire_at, slot=slot)


def first_window(definition: Definition, now: int) -> int:
    """The first window of a definition that starts its life now; refuse one that has none."""
    timing = definition.timing
    if isinstance(timing, Once):
        timing.check_not_past(now)
        window = allowed(definition, timing.at_ms)
    else:
        window = _current_window(definition, now) if definition.fire_current_window else None
        if window is None:
            window = next_window(definition, _eve(definition, now))
    if window is None:
        raise no_window(definition, now)
    return window


def _eve(definition: Definition, now: int) -> int:
    """The instant after which windows count: a window at the start counts, one at the creation does not."""
    return now - 1 if definition.start_at == now and not definition.counts_from_completion else now


def _current_window(definition: Definition, now: int) -> int | None:
    """The window that is already on."""
    ended = definition.end_at is not None and definition.end_at < now
    if definition.counts_from_completion or ended:
        return None
    return allowed(definition, definition.timing.latest_at_ms(now))


def allowed(definition: Definition, window: int | None) -> int | None:
    """The window, unless it lies before the schedule's start or after its end."""
    if window is None or (definition.start_at is not None and window < definition.start_at):
        return None
    return within_end(definition, window)


def no_window(definition: Definition, now: int) -> ValidationFailed:
    """The refusal of a timing that yields nothing between the schedule's start and end."""
    start = to_datetime(now if definition.start_at is None else max(now, definition.start_at))
    end = to_datetime(definition.end_at)
    until = f" and {end.isoformat()}" if end else ""
    return ValidationFailed(
        f"schedule {definition.key!r}: its timing has no window {'between' if end else 'after'} "
        f"{start.isoformat()}{until}; move start_at or end_at, or change the timing",
        field="timing",
        got=repr(definition.timing),
        expected="at least one window to come",
        key=definition.key,
    )
