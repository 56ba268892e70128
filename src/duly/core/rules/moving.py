"""Where a resume or an edit puts the cursor: always after now and after every window that was dealt with."""

from __future__ import annotations

from dataclasses import replace

from duly.core.errors import MomentInPast
from duly.core.instants import to_datetime
from duly.core.rules.starting import no_window
from duly.core.rules.windows import fire_instant, next_window, within_end
from duly.core.schedule import Cursor, Definition, ScheduleStatus
from duly.core.timing import Once


def resumed_cursor(cursor: Cursor, definition: Definition, now: int, catch_up: bool) -> Cursor:
    """The cursor after a pause; a schedule whose last window passed meanwhile is completed."""
    cursor = replace(cursor, failures=0, error=None)
    window = cursor.next_window_at
    if window is None:
        return cursor  # the end of its run decides what comes next
    timing = definition.timing
    if isinstance(timing, Once):
        late = timing.on_past == "fire" and not catch_up
        return _aimed(cursor, definition, window if late or catch_up or window > now else None, now if late else None)
    if catch_up:
        return _aimed(cursor, definition, window)
    if definition.counts_from_completion and window > now:
        return _aimed(cursor, definition, window)
    return _aimed(cursor, definition, next_window(definition, _newest(cursor, now)))


def edited_cursor(cursor: Cursor, old: Definition, new: Definition, now: int, paused: bool) -> Cursor:
    """The cursor under a new definition; it moves only if the timing or the start is another one."""
    window = cursor.next_window_at
    if window is not None and new.max_runs is not None and cursor.fired >= new.max_runs:
        return _aimed(cursor, new, None)
    if (new.timing, new.start_at) != (old.timing, old.start_at):
        waits = window is None and old.counts_from_completion and new.counts_from_completion
        return cursor if waits else _retimed(cursor, new, now, paused)
    if window is None:
        return cursor
    if within_end(new, window) is None:
        return _aimed(cursor, new, None)
    if paused or (new.jitter, new.key) == (old.jitter, old.key):
        return cursor
    return _aimed(cursor, new, window)


def _retimed(cursor: Cursor, new: Definition, now: int, paused: bool) -> Cursor:
    timing = new.timing
    not_before = None
    if isinstance(timing, Once):
        timing.check_not_past(now)
        window = within_end(new, timing.at_ms)
        _check_unused(cursor, new, timing)
        not_before = now
    else:
        window = next_window(new, _newest(cursor, now))
    if window is None:
        raise no_window(new, now)
    cursor = _aimed(replace(cursor, error=None), new, window, not_before)
    return replace(cursor, fire_at=None) if paused else cursor


def _aimed(cursor: Cursor, definition: Definition, window: int | None, not_before: int | None = None) -> Cursor:
    """The cursor with another next window, or at its end without one."""
    if window is None:
        return replace(cursor, status=ScheduleStatus.COMPLETED, next_window_at=None, fire_at=None)
    fire_at = fire_instant(definition, window)
    return replace(cursor, next_window_at=window, fire_at=fire_at if not_before is None else max(fire_at, not_before))


def _newest(cursor: Cursor, now: int) -> int:
    """Now, or the newest window dealt with if a clock that lags puts now before it."""
    return now if cursor.window_at is None else max(now, cursor.window_at)


def _check_unused(cursor: Cursor, definition: Definition, timing: Once) -> None:
    if cursor.window_at is not None and timing.at_ms <= cursor.window_at:
        raise MomentInPast(
            f"schedule {definition.key!r}: the moment {timing.at.isoformat()} is not after its newest window, "
            f"{to_datetime(cursor.window_at).isoformat()}; give a later one",
            field="at",
            got=timing.at.isoformat(),
            expected="an instant after the newest window",
        )
