"""Windows that were due when a schedule was stopped: they do not fire any more, and one row says so."""

from __future__ import annotations

from duly.core.rules.missed import Dropped
from duly.core.rules.plans import skipped_row
from duly.core.rules.windows import Windows, next_window
from duly.core.run import Reason, SkippedWindows
from duly.core.schedule import Cursor, Definition


def due_at_stop(
    cursor: Cursor, definition: Definition, stopped_at: int, *, reason: Reason, now: int
) -> list[SkippedWindows]:
    """One row for the windows whose instant had come at ``stopped_at`` and that had not fired; none for none.

    What comes after a pause has begun is not missed: paused time has no windows.
    """
    first = cursor.next_window_at
    if first is not None and cursor.window_at is not None and first <= cursor.window_at:
        first = next_window(definition, cursor.window_at)  # written under a clock that lagged
    if first is None:
        return []
    windows = Windows(definition, first)
    newest = windows.newest_at(stopped_at)
    if newest is None:
        return []
    return [skipped_row(cursor, definition, Dropped(reason, first, newest, windows.count(first, newest)), now)]
