"""Ends calls that have taken too long, from outside the thread that is blocked in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread

from duly.core.errors import StoreUnavailable
from duly.runtime.clock import SystemClock


class Watch:
    """One call, to be ended by ``abort`` at that instant of ``steady``; ``expired`` tells that the watchdog did."""

    __slots__ = ("abort", "expired", "expires_at")

    def __init__(self, abort: Callable[[], None], expires_at: float) -> None:
        self.abort = abort
        self.expires_at = expires_at
        self.expired = False


class Watchdog:
    """One daemon thread for all calls of a driver, asleep until the earliest of them must end.

    A call that no thread can watch is refused: it might never end.
    """

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._changed = Condition()
        self._watches: dict[int, Watch] = {}
        self._numbers = itertools.count()
        self._thread: Thread | None = None
        self._wakes_at: float | None = None
        self._closed = False

    def steady(self) -> float:
        """Seconds on the clock that ``expires_at`` of a watch is read from."""
        return self._clock.steady()

    @contextmanager
    def watching(self, watch: Watch) -> Iterator[None]:
        """Call ``abort`` of the watch, on the watchdog's thread, if the block has not ended by then."""
        number = next(self._numbers)
        with self._changed:
            if self._thread is None:
                self._thread = self._started()
            elif self._wakes_at is None or watch.expires_at < self._wakes_at:
                self._changed.notify()
            self._watches[number] = watch
        try:
            yield
        finally:
            with self._changed:
                del self._watches[number]

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _started(self) -> Thread:
        thread = Thread(target=self._guard, name="duly-postgres-watchdog", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            raise StoreUnavailable(f"the store has no thread to watch its calls: {error}; nothing was done") from error
        return thread

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
