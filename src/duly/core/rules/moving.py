"""Where a resume or an edit puts the cursor: after every window that was dealt with, and after now.

The window whose jitter still delays it is the exception: it has come, so it is kept if the cursor can go on from it.
"""

from __future__ import annotations

from dataclasses import replace

from duly.core.errors import MomentInPast
from duly.core.instants import to_datetime
from duly.core.rules.plans import never_ran
from duly.core.rules.starting import allowed, no_window
from duly.core.rules.stopping import pending_at
from duly.core.rules.windows import fire_instant, next_window, within_end
from duly.core.run import Reason
from duly.core.schedule import Cursor, Definition, ScheduleStatus
from duly.core.timing import Once


def resumed_cursor(cursor: Cursor, definition: Definition, now: int, *, paused_at: int, catch_up: bool) -> Cursor:
    """The cursor after a pause; a schedule whose last window passed meanwhile is completed, a one-shot has failed.

    A window that its jitter still delayed when the pause came fires, at its instant or now, unless another came since.
    """
    pending = pending_at(cursor, definition, paused_at)
    cursor = replace(cursor, failures=0, error=None)
    window = cursor.next_window_at
    if window is None:
        return cursor  # the end of its run decides what comes next
    timing = definition.timing
    if isinstance(timing, Once):
        late = timing.on_past == "fire" and not catch_up
        if window <= now and not late and not catch_up:
            return never_ran(cursor, Reason.PAUSED)
        return _aimed(cursor, definition, window, now if late else None)
    if catch_up:
        return _aimed(cursor, definition, window)
    if definition.counts_from_completion and window > now:
        return _aimed(cursor, definition, window)
    newest = _newest(cursor, now, paused_at)
    if pending is not None and (definition.counts_from_completion or _leads_on(definition, pending, newest)):
        return _aimed(cursor, definition, pending, now)
    return _aimed(cursor, definition, next_window(definition, newest))


def edited_cursor(cursor: Cursor, old: Definition, new: Definition, now: int, *, paused_at: int | None) -> Cursor:
    """The cursor under a new definition; it moves only if the timing or the start is another one.

    An end before the next window completes the schedule; one that has gone by is refused, as at creation.

    A window that its jitter still delays fires under the new definition, unless that starts, ends or has windows
    between the two.
    """
    window = cursor.next_window_at
    if window is not None and new.max_runs is not None and cursor.fired >= new.max_runs:
        return _aimed(cursor, new, None)
    if (new.timing, new.start_at) != (old.timing, old.start_at):
        waits = window is None and old.counts_from_completion and new.counts_from_completion
        if waits:
            return cursor
        pending = pending_at(cursor, old, now if paused_at is None else paused_at)
        return _retimed(cursor, new, now, paused_at, pending)
    if window is None:
        return cursor
    if within_end(new, window) is None:
        if new.end_at is not None and new.end_at <= now:
            raise no_window(new, now)  # whoever wants it to end now cancels it; this cannot be taken back
        return _aimed(cursor, new, None)
    if paused_at is not None or (new.jitter, new.key) == (old.jitter, old.key):
        return cursor
    return _aimed(cursor, new, window)


def _retimed(cursor: Cursor, new: Definition, now: int, paused_at: int | None, pending: int | None) -> Cursor:
    timing = new.timing
    not_before = None
    if isinstance(timing, Once):
        timing.check_not_past(now)
        window = allowed(new, timing.at_ms)
        _check_unused(cursor, new, timing)
        not_before = now
    else:
        newest = _newest(cursor, now, paused_at)
        window = next_window(new, newest)
        if window is not None and pending is not None and _leads_on(new, pending, newest):
            window, not_before = pending, now
    if window is None:
        raise no_window(new, now)
    cursor = _aimed(replace(cursor, error=None), new, window, not_before)
    return cursor if paused_at is None else replace(cursor, fire_at=None)


def _aimed(cursor: Cursor, definition: Definition, window: int | None, not_before: int | None = None) -> Cursor:
    """The cursor with another next window, or at its end without one."""
    if window is None:
        return replace(cursor, status=ScheduleStatus.COMPLETED, next_window_at=None, fire_at=None)
    fire_at = fire_instant(definition, window)
    return replace(cursor, next_window_at=window, fire_at=fire_at if not_before is None else max(fire_at, not_before))


def _leads_on(definition: Definition, pending: int, newest: int) -> bool:
    """Whether the definition allows this window and goes on from it as it would from now, with none in between."""
    if allowed(definition, pending) is None:
        return False
    return next_window(definition, pending) == next_window(definition, newest)


def _newest(cursor: Cursor, now: int, paused_at: int | None) -> int:
    """Now, or what was dealt with last if a clock that went back puts now before it: a window, or the time up to a
    pause, whose windows are skipped."""
    return max(at for at in (now, cursor.window_at, paused_at) if at is not None)


def _check_unused(cursor: Cursor, definition: Definition, timing: Once) -> None:
    if cursor.window_at is not None and timing.at_ms <= cursor.window_at:
        raise MomentInPast(
            f"schedule {definition.key!r}: the moment {timing.at.isoformat()} is not after its newest window, "
            f"{to_datetime(cursor.window_at).isoformat()}; give a later one",
            field="at",
            got=timing.at.isoformat(),
            expected="an instant after the newest window",
        )
