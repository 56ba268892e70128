"""The jump guard: a store clock that leaps must not fire a day at once or take every lease."""

from __future__ import annotations

from typing import Protocol

from duly.runtime.clock import Clock
from duly.runtime.events import Observer


class StoreClock(Protocol):
    async def now(self) -> int: ...


class JumpGuard:
    """Compares the store's clock with a steady one; after a leap it holds firing and recovery for one lease."""

    def __init__(self, clock: Clock, observer: Observer, *, limit: float, hold: float) -> None:
        self._clock = clock
        self._observer = observer
        self._limit_ms = limit * 1000
        self._hold = hold
        self._seen: tuple[float, float] | None = None
        self._held_until = 0.0

    async def look(self, store: StoreClock) -> bool:
        """Ask for the store's clock; True if it leapt since the last look."""
        asked_at = self._clock.steady()
        return self.saw(await store.now(), asked_at)

    def expected(self) -> tuple[float, float] | None:
        """Between which instants the store's clock can be now if it has not leapt; None before the first look."""
        if self._seen is None:
            return None
        passed = self._clock.steady() * 1000
        return self._seen[0] + passed - self._limit_ms, self._seen[1] + passed + self._limit_ms

    def saw(self, store_now: int, asked_at: float) -> bool:
        """Take note of the store's clock, read some time since ``asked_at``; True if it leapt since the last look."""
        # The answer may have been slow, so the distance of the two clocks is known only to lie between two values.
        least, most = store_now - self._clock.steady() * 1000, store_now - asked_at * 1000
        last, self._seen = self._seen, (least, most)
        if last is None:
            return False
        leap = max(least - last[1], 0) or min(most - last[0], 0)
        if abs(leap) <= self._limit_ms:
            return False
        self._held_until = self._clock.steady() + self._hold
        self._observer.clock_jumped(round(leap))
        return True

    def held_for(self) -> float:
        """Seconds that firing and recovery still hold."""
        return max(0.0, self._held_until - self._clock.steady())
