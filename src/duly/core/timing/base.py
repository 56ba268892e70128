"""The two faces of a timing: integers for the engine, aware UTC datetimes for people."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from datetime import datetime

from duly.core.timing.epoch import from_ms, to_ms


class TimingBase:
    """A pure rule of time: the same question always has the same answer.

    Windows are whole milliseconds. Where there is no window, or only one outside the years 1 to 9999, the answer is
    None. It is no ABC, which would make every question for the kind of a timing several times as slow.
    """

    __slots__ = ()

    @abstractmethod
    def next_after_ms(self, t_ms: int) -> int | None:
        """The earliest window strictly after ``t_ms``."""

    @abstractmethod
    def latest_at_ms(self, t_ms: int) -> int | None:
        """The newest window at or before ``t_ms``."""

    def between_ms(self, after_ms: int, until_ms: int) -> Iterator[int]:
        """Every window w with ``after_ms < w <= until_ms``, oldest first, found as it is asked for."""
        window = self.next_after_ms(after_ms)
        while window is not None and window <= until_ms:
            yield window
            window = self.next_after_ms(window)

    def count_between_ms(self, after_ms: int, until_ms: int) -> int:
        """How many windows w there are with ``after_ms < w <= until_ms``."""
        return sum(1 for _ in self.between_ms(after_ms, until_ms))

    def next_after(self, instant: datetime) -> datetime | None:
        """The earliest window strictly after an aware datetime, in UTC."""
        window = self.next_after_ms(to_ms(instant))
        return None if window is None else from_ms(window)

    def latest_at(self, instant: datetime) -> datetime | None:
        """The newest window at or before an aware datetime, in UTC."""
        window = self.latest_at_ms(to_ms(instant))
        return None if window is None else from_ms(window)

    def between(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Every window w with ``after < w <= until``, oldest first, in UTC."""
        return map(from_ms, self.between_ms(to_ms(after), to_ms(until)))
