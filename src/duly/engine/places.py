"""Room for handlers: on the event loop there is more of it than in threads, so the two are counted apart."""

from __future__ import annotations

import math
from collections.abc import Callable


class Places:
    """How many handlers of one kind may run at once. ``waiting`` is set while runs are left for want of a place.

    ``held_back`` are the queues from which the last claim could take no more until one of their runs has ended.
    """

    def __init__(self, most: int, jobs: Callable[[], frozenset[str]]) -> None:
        self.most = most
        self._jobs = jobs
        self.taken = 0
        self.reserved = 0
        self.waiting = False
        self.held_back: frozenset[str] = frozenset()
        self.claimed_at = -math.inf

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
