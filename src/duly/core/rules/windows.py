"""The windows that a schedule has still to deal with, seen from its cursor."""

from __future__ import annotations

from duly.core.schedule import Definition
from duly.core.timing import Every


def fire_instant(definition: Definition, window: int) -> int:
    """The instant at which a window is to fire: itself, or later by its jitter, below the next window."""
    if definition.jitter is None:
        return window
    return definition.fire_at(window, _raw_following(definition, window))


def next_window(definition: Definition, after: int) -> int | None:
    """The first window strictly after an instant, within the schedule's own start and end.

    An interval that counts from the end of a run has its next window one interval later.
    """
    start_at = definition.start_at
    timing = definition.timing
    if isinstance(timing, Every) and timing.after_completion:
        base = after if start_at is None else max(after, start_at)
        return within_end(definition, timing.after_end_ms(base))
    if start_at is not None and start_at > after:
        after = start_at - 1  # a window exactly at the start counts
    return within_end(definition, timing.next_after_ms(after))


def within_end(definition: Definition, window: int | None) -> int | None:
    """The window itself, or None when it lies after the schedule's end."""
    if window is None or (definition.end_at is not None and window > definition.end_at):
        return None
    return window


class Windows:
    """The windows of a definition from ``first`` on, found by jumps and never by a walk over an outage.

    ``first`` is a window because the cursor says so, even when newer zone rules would no longer yield it. An
    interval that counts from the end of a run has this one window only.
    """

    __slots__ = ("_alone", "_definition", "_end_at", "_timing", "first")

    def __init__(self, definition: Definition, first: int) -> None:
        self.first = first
        self._definition = definition
        self._timing = definition.timing
        self._end_at = definition.end_at
        self._alone = definition.counts_from_completion

    def newest_at(self, instant: int) -> int | None:
        """The newest window whose fire instant has come.

        Fire instants keep the order of their windows, and each lies below the next window: so it is the newest
        window at that instant or the one before it.
        """
        end_at = self._end_at
        if end_at is not None and self.first > end_at:
            return None
        newest = self.newest_until(instant if end_at is None or instant < end_at else end_at)
        if fire_instant(self._definition, newest) <= instant:
            return newest
        return None if newest == self.first else self.newest_until(newest - 1)

    def newest_come(self, instant: int) -> int | None:
        """The newest window whose own instant has come, though its jitter may still delay its fire."""
        end_at = self._end_at
        until = instant if end_at is None or instant < end_at else end_at
        return None if self.first > until else self.newest_until(until)

    def newest_until(self, instant: int) -> int:
        """The newest window at or before an instant, or the first one."""
        if self._alone:
            return self.first
        newest = self._timing.latest_at_ms(instant)
        return self.first if newest is None or newest < self.first else newest

    def following(self, window: int) -> int | None:
        """The window after this one, or None at the end."""
        return None if self._alone else within_end(self._definition, self._timing.next_after_ms(window))

    def count(self, since: int, until: int) -> int:
        """How many windows lie from ``since`` to ``until``, both of them windows and both counted."""
        return 1 if since == until else 1 + self._timing.count_between_ms(since, until)

    def walk(self, since: int | None, until: int, limit: int) -> list[int]:
        """Up to ``limit`` windows from ``since`` to ``until``, oldest first."""
        found: list[int] = []
        while since is not None and since <= until and len(found) < limit:
            found.append(since)
            since = self.following(since)
        return found


def _raw_following(definition: Definition, window: int) -> int | None:
    timing = definition.timing
    if isinstance(timing, Every) and timing.after_completion:
        return timing.after_end_ms(window)
    return timing.next_after_ms(window)
