"""Keeps the session alive from a thread of its own, and learns of cancels and lost runs.

Beats go on while a handler blocks the event loop for a moment, but not while the loop stands still for good: an
instance that cannot run its work must not keep it. An instance that cannot reach the store stops trusting its lease
before the store gives its runs away: ``lease`` counts from when the last good beat was *sent*, less a margin. That is
watched on the event loop, because a beat may hang for longer than the lease lasts.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Protocol

from duly.config import Settings
from duly.core.errors import DulyError
from duly.runtime.clock import Clock
from duly.runtime.events import Observer
from duly.store.values import Beat

MARGIN = 0.1
"""The share of a lease that is left when it is no longer trusted: time for handlers to stop."""

SLOW = 1.0
"""Seconds; a beat that took longer says little about the store's clock."""


class Beating(Protocol):
    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat: ...

    def beat_sync(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat: ...


class Heartbeat:
    """Beats for one session at a time; what it hears is told on the event loop."""

    def __init__(
        self,
        store: Beating,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        *,
        session: Callable[[], int | None],
        on_beat: Callable[[int, Beat], None],
        on_distrust: Callable[[int], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._observer = observer
        self._session = session
        self._on_beat = on_beat
        self._on_distrust = on_distrust
        self._trusted_until = 0.0
        self._doubted: int | None = None
        self._skewed: int | None = None
        self._turned_at = clock.steady()
        self.trust(self._turned_at)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._now = threading.Event()

    def trust(self, since: float) -> None:
        """The store has promised a lease to whoever asked at ``since``, by the steady clock."""
        self._trusted_until = since + self._settings.lease * (1 - MARGIN)
        self._doubted = None

    @property
    def trusted(self) -> bool:
        """Whether the store will give nothing of ours away for a moment yet."""
        return self._clock.steady() < self._trusted_until

    async def watch(self) -> float:
        """Say once when the lease is no longer to be trusted; answer the seconds to the next look."""
        left = self._trusted_until - self._clock.steady()
        if left > 0:
            return left
        session = self._session()
        if session is not None and session != self._doubted:
            self._doubted = session
            self._observer.lease_doubted(session)
            self._on_distrust(session)
        return self._settings.heartbeat

    async def run_once(self) -> float:
        """One beat on the event loop, for an instance that runs without the thread."""
        session = self._session()
        if session is not None:
            sent_at = self._clock.steady()
            try:
                heard = await self._store.beat(session, lease_ms=self._settings.lease_ms, skew_ms=self._skewed)
            except DulyError as error:
                self._missed(error)
            else:
                self._hear(session, heard, sent_at, self._skew(heard, sent_at))
        return self._settings.heartbeat

    def start(self) -> None:
        """Start the thread."""
        self._loop = asyncio.get_running_loop()
        self._turned()
        thread = threading.Thread(target=self._run, name="duly-heartbeat", daemon=True)
        thread.start()
        self._thread = thread

    def beat_soon(self) -> None:
        """Beat now: somebody asked for a cancel."""
        self._now.set()

    async def stop(self) -> None:
        self._stop.set()
        self._now.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.join, self._settings.heartbeat)

    def beat_once(self) -> None:
        """One beat on the calling thread, unless there is no session or a loop that could work for it."""
        session, stands_still = self._session(), self._stands_still()
        if session is None or stands_still:
            return
        sent_at = self._clock.steady()
        try:
            heard = self._store.beat_sync(session, lease_ms=self._settings.lease_ms, skew_ms=self._skewed)
        except Exception as error:  # noqa: BLE001 - around a loop's pass: a failed beat is followed by another
            self._tell(self._missed, error)
        else:
            self._tell(self._hear, session, heard, sent_at, self._skew(heard, sent_at))

    def _run(self) -> None:
        while not self._stop.is_set():
            self._now.wait(self._settings.heartbeat)
            self._now.clear()
            if not self._stop.is_set():
                self.beat_once()

    def _stands_still(self) -> bool:
        """Whether the event loop has not turned for half a lease."""
        self._tell(self._turned)
        return self._clock.steady() - self._turned_at > self._settings.lease / 2

    def _turned(self) -> None:
        self._turned_at = self._clock.steady()

    def _tell(self, method: Callable[..., None], *values: object) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(method, *values)
        except RuntimeError:  # the loop is closed: the instance is gone
            self._stop.set()

    def _skew(self, heard: Beat, sent_at: float) -> int | None:
        """How far the store's clock is ahead of this machine's, in ms; None if the answer took too long to tell."""
        passed = self._clock.steady() - sent_at
        return None if passed > SLOW else round(heard.now - self._clock.now() + passed * 500)

    def _hear(self, session: int, heard: Beat, sent_at: float, skew: int | None) -> None:
        self._turned()
        if skew is not None:
            self._skewed = skew
            self._observer.clock_skewed(skew)
        if heard.alive:
            self.trust(sent_at)
        self._on_beat(session, heard)

    def _missed(self, error: Exception) -> None:
        self._turned()  # the beat may have hung for longer than the loop may
        self._observer.beat_failed(error)
