"""Room for handlers: on the event loop there is more of it than in threads, so the two are counted apart."""

from __future__ import annotations

import math
from collections.abc import Callable

AT_FIRST = 50
"""Places that are there from the start: what is not a backlog finds room at once."""


class Places:
    """How many handlers of one kind may run at once. ``waiting`` is set while runs are left for want of a place.

    After a start they become more little by little, as long as there is a backlog to take: a fleet that comes back must
    not fall upon what its handlers use. ``held_back`` are the queues from which the last claim could take no more until
    one of their runs has ended.
    """

    def __init__(self, most: int, jobs: Callable[[], frozenset[str]], ramp_up: float = 0.0) -> None:
        self._all = most
        self._ramp_up = ramp_up
        self._ramp_began: float | None = None
        self._first = max(AT_FIRST, most // 10)
        self.ramping = ramp_up > 0 and most > self._first
        self.most = self._first if self.ramping else most
        self._jobs = jobs
        self.taken = 0
        self.reserved = 0
        self.waiting = False
        self.held_back: frozenset[str] = frozenset()
        self.claimed_at = -math.inf

    def grow(self, now: float) -> None:
        """Make more room, if it is time."""
        if self._ramp_began is None:
            self._ramp_began = now
        grown = (now - self._ramp_began) / self._ramp_up
        if grown >= 1:
            self.open_wide()
        else:
            self.most = self._first + int((self._all - self._first) * grown)

    def open_wide(self) -> None:
        """There is no backlog, or time has passed: all places are there from now on."""
        self.ramping, self.most = False, self._all

    @property
    def jobs(self) -> frozenset[str]:
        return self._jobs()

    @property
    def free(self) -> int:
        return self.most - self.taken - self.reserved

    @property
    def roomy(self) -> bool:
        """Whether half of the places are free: enough for a batch that is worth a transaction."""
        return self.free * 2 >= self.most

    def crowded(self, now: float, patience: float) -> bool:
        """Whether to wait for more room: batches stay large, but long handlers keep no place empty for long."""
        return self.free <= 0 or (not self.roomy and now - self.claimed_at < patience)
