"""The newest events of the fleet, read once for all readers of a process.

It keeps as many as ``KEPT``; a reader that is further behind reads from the store, and one that is behind what the
store keeps is told so. So however slow a reader is, nothing grows. There is no task: whoever waits for events reads
them, renews the watch and clears up, and when the last reader is gone the watch runs out by itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from duly.core.event import Event
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore

POLL = 0.5
"""Seconds after which a process looks for events of others, if nothing wakes it."""

LEAST_PAUSE = 0.05
LEASE = 60.0
"""Seconds that events go on being told after the last reader: one that comes back in time has lost nothing."""

RENEW_EVERY = 10.0
RENEW_UNSETTLED = 1.0
KEEP = 300.0
MOST_STORED = 100_000
KEPT = 5_000
PAGE = 1_000
PAGES = 6
PURGED = 5_000
PURGES = 100


@dataclass(frozen=True, slots=True)
class News:
    """Events after a position and the position after them; ``lost`` says why others were not told, if so."""

    events: Sequence[Event]
    position: int
    lost: str | None = None


class Feed:
    """Reads on behalf of every reader, one at a time."""

    def __init__(self, store: SqlStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._kept: deque[Event] = deque(maxlen=KEPT)
        self._head: int | None = None
        self._reading = asyncio.Lock()
        self._stale = True
        self._read_at = -POLL
        self._renewed_at: float | None = None
        self._settled = False
        self._listens = False
        self._woken = asyncio.Event()

    @property
    def woken(self) -> asyncio.Event:
        """Set when there may be news; take it before you read, and wait for that one."""
        return self._woken

    def wake(self) -> None:
        """There is something to read."""
        self._stale = True
        woken, self._woken = self._woken, asyncio.Event()
        woken.set()

    async def begin(self) -> int:
        """Watch, and answer a position, of now or of a moment ago, from which on nothing is lost."""
        if not self._listens:
            self._listens = True
            self._store.on_change(self._changed)
            self._store.on_told(self.wake)
        await self._refresh()
        assert self._head is not None
        return self._head

    async def after(self, position: int) -> News:
        """What came after a position, as much as fits a page."""
        await self._refresh()
        assert self._head is not None
        oldest = self._kept[0].number if self._kept else self._head + 1
        assert oldest is not None
        if oldest - 1 <= position <= self._head:
            events = list(islice(self._kept, position - oldest + 1, position - oldest + 1 + PAGE))
            return News(events, events[-1].number if events else position)  # type: ignore[arg-type]  # all have one
        read = await self._store.read_events(after=position, limit=PAGE)
        if position < read.gone:
            return News([], read.last, lost="too_old")
        if position > read.last:
            return News([], read.last, lost="unknown")
        return News(read.events, read.events[-1].number if read.events else position)  # type: ignore[arg-type]

    async def _refresh(self) -> None:
        async with self._reading:
            now = self._clock.steady()
            if not self._stale and now - self._read_at < POLL * 0.9:
                return
            early = LEAST_PAUSE - (now - self._read_at)
            if early > 0:  # a busy fleet wakes us for every commit
                await self._clock.wait(asyncio.Event(), early)
                now = self._clock.steady()
            self._stale, self._read_at = False, now
            await self._renew(now)
            await self._read()

    async def _renew(self, now: float) -> None:
        every = RENEW_EVERY if self._settled else RENEW_UNSETTLED
        if self._renewed_at is not None and now - self._renewed_at < every:
            return
        if self._renewed_at is None or now - self._renewed_at > LEASE:
            self._head = None  # nobody has read for so long that what is kept here is of no use
        watched = await self._store.watch_events(lease_ms=round(LEASE * 1000))
        self._renewed_at, self._settled = now, watched.settled
        for _ in range(PURGES):
            if await self._store.purge_events(keep_ms=round(KEEP * 1000), most=MOST_STORED, limit=PURGED) < PURGED:
                break

    async def _read(self) -> None:
        if self._head is None:
            while await self._store.number_events(limit=PAGE) == PAGE:
                pass
            self._kept.clear()
            self._head = (await self._store.read_events(after=0, limit=0)).last
            return
        for _ in range(PAGES):
            read = await self._store.read_events(after=self._head, limit=PAGE)
            for event in read.events:
                assert event.number is not None
                if event.number != self._head + 1:
                    self._kept.clear()
                self._kept.append(event)
                self._head = event.number
            if self._head < read.gone:  # nobody here has read for long
                self._kept.clear()
                self._head = read.gone
            elif len(read.events) < PAGE:
                if not read.waiting:
                    return
                await self._store.number_events(limit=PAGE)
        self._stale = True  # there is more, and the readers shall have this first

    def _changed(self, topic: str) -> None:
        if topic == "events":
            self.wake()
