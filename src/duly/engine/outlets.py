"""Ways out of duly: how much may be on its way to one place, and a breaker that waits while nobody is there.

Each place has room of its own, so one that is slow or down keeps nothing from the others. Runs that are not claimed
spend no attempts: while the breaker is open they wait in their queue, and one at a time is sent to see who is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from duly.runtime.clock import Clock
from duly.runtime.events import Observer

from .places import Places

FAILURES = 3
"""Sends in a row that found nobody, after which no more are made for a while."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


class Outlet:
    """One place outside, as the worker sees it. ``most`` runs may be on their way to it at once."""

    def __init__(self, name: str, clock: Clock, observer: Observer, most: int) -> None:
        self.name = name
        self.most = most
        self.taken = 0
        self._passed_over = False
        self._clock = clock
        self._observer = observer
        self._failures = 0
        self._pause = FIRST_PAUSE
        self._open_until: float | None = None

    @property
    def broken(self) -> bool:
        """Whether the breaker is open: nobody was there the last times."""
        return self._open_until is not None

    def takes_more(self) -> bool:
        """Whether it takes a batch; if not, ``free_again`` is to be asked."""
        if self._open_until is None and self.taken < self.most:
            return True
        self._passed_over = True
        return False

    def free_again(self) -> bool:
        """Whether it was passed over by a claim, and has room again for one that is worth it."""
        if not self._passed_over or self._open_until is not None or self.taken * 2 > self.most:
            return False
        self._passed_over = False
        return True

    @property
    def to_be_tried(self) -> bool:
        """Whether it is time to send one run to see who is there."""
        return self._open_until is not None and self.taken == 0 and self._clock.steady() >= self._open_until

    def reached(self) -> None:
        """Somebody answered."""
        self._failures, self._pause = 0, FIRST_PAUSE
        if self._open_until is not None:
            self._open_until = None
            self._observer.target_back(self.name)

    def missed(self, reason: str) -> None:
        """Nobody was there."""
        self._failures += 1
        if self._failures < FAILURES:
            return
        if self._open_until is None:
            self._observer.target_away(self.name, reason, self._pause)
        self._open_until = self._clock.steady() + self._pause
        self._pause = min(LONGEST_PAUSE, self._pause * 2)


class OutsidePlaces(Places):
    """Room for what goes out. It is counted by each outlet: a batch may overfill one, and then it is left alone."""

    def __init__(self, batch: int, outlets: Callable[[], Mapping[str, Outlet]]) -> None:
        super().__init__(batch, self._ready)
        self._outlets = outlets

    def _ready(self) -> frozenset[str]:
        return frozenset(job for job, outlet in self._outlets().items() if outlet.takes_more())

    @property
    def free(self) -> int:
        return self.most - self.reserved

    def crowded(self, now: float, patience: float) -> bool:
        return False


class Trials(Places):
    """Room for one run to each outlet that may be back."""

    def __init__(self, job: str, outlet: Outlet) -> None:
        super().__init__(1, lambda: frozenset({job}) if outlet.to_be_tried else frozenset())

    @property
    def free(self) -> int:
        return 1 - self.reserved

    def crowded(self, now: float, patience: float) -> bool:
        return False
