"""Windows that had come when a schedule was stopped or moved on: each still fires, or one row says that it does not."""

from __future__ import annotations

from duly.core.rules.missed import Dropped
from duly.core.rules.plans import skipped_row
from duly.core.rules.windows import Windows, fire_instant, next_window
from duly.core.run import Reason, SkippedWindows
from duly.core.schedule import Cursor, Definition


def pending_at(cursor: Cursor, definition: Definition, instant: int) -> int | None:
    """The window whose own instant had come and whose jittered fire had not; there is one at most."""
    windows = _unused(cursor, definition)
    newest = None if windows is None else windows.newest_come(instant)
    return newest if newest is not None and fire_instant(definition, newest) > instant else None


def come_at_stop(
    cursor: Cursor, definition: Definition, stopped_at: int, *, reason: Reason, now: int, kept: int | None = None
) -> list[SkippedWindows]:
    """One row for the windows that had come at ``stopped_at`` and had not fired; none for none.

    ``kept`` is the newest of them where that one is to fire all the same. What comes after a pause has begun is not
    missed: paused time has no windows.
    """
    windows = _unused(cursor, definition)
    if windows is None:
        return []
    newest = windows.newest_come(stopped_at if kept is None else kept - 1)
    if newest is None:
        return []
    first = windows.first
    return [skipped_row(cursor, definition, Dropped(reason, first, newest, windows.count(first, newest)), now)]


def _unused(cursor: Cursor, definition: Definition) -> Windows | None:
    """The windows that the cursor has still to deal with."""
    first = cursor.next_window_at
    if first is not None and cursor.window_at is not None and first <= cursor.window_at:
        first = next_window(definition, cursor.window_at)  # written under a clock that lagged
    return None if first is None else Windows(definition, first)
