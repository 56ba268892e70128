"""Ends calls that have taken too long, from outside the thread that is blocked in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread

from duly.runtime.clock import SystemClock


class Watch:
    """One call under watch; ``expired`` tells that the watchdog ended it."""

    __slots__ = ("abort", "expired", "expires_at")

    def __init__(self, abort: Callable[[], None], expires_at: float) -> None:
        self.abort = abort
        self.expires_at = expires_at
        self.expired = False


class Watchdog:
    """One daemon thread for all calls of a driver, asleep until the earliest of them must end."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._changed = Condition()
        self._watches: dict[int, Watch] = {}
        self._numbers = itertools.count()
        self._thread: Thread | None = None
        self._wakes_at: float | None = None
        self._closed = False

    def steady(self) -> float:
        """Seconds on the clock that the instants given to ``watching`` are read from."""
        return self._clock.steady()

    @contextmanager
    def watching(self, abort: Callable[[], None], expires_at: float) -> Iterator[Watch]:
        """Call ``abort``, on the watchdog's thread, if the block has not ended at that instant of ``steady``."""
        watch = Watch(abort, expires_at)
        number = next(self._numbers)
        with self._changed:
            self._watches[number] = watch
            if self._thread is None:
                self._thread = Thread(target=self._guard, name="duly-postgres-watchdog", daemon=True)
                self._thread.start()
            elif self._wakes_at is None or expires_at < self._wakes_at:
                self._changed.notify()
        try:
            yield watch
        finally:
            with self._changed:
                del self._watches[number]

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _guard(self) -> None:
        with self._changed:
            while not self._closed:
                now = self._clock.steady()
                for watch in self._watches.values():
                    if watch.expires_at <= now and not watch.expired:
                        watch.expired = True
                        watch.abort()
                waiting = [watch.expires_at for watch in self._watches.values() if not watch.expired]
                self._wakes_at = min(waiting, default=None)
                self._changed.wait(None if self._wakes_at is None else self._wakes_at - now)
