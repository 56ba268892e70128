"""Events of the fleet, bound to their programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from duly.store.methods import events
from duly.store.watching import Events, Watched

from .base import Bound


class BoundEvents(Bound):
    """``protocol.Watching`` on a driver."""

    async def watch_events(self, *, lease_ms: int) -> Watched:
        return await self._write(partial(events.watch_events, lease_ms=lease_ms, watch=self._watch))

    async def read_events(self, *, after: int, limit: int) -> Events:
        return await self._read(partial(events.read_events, after=after, limit=limit))

    async def number_events(self, *, limit: int) -> int:
        return await self._write(partial(events.number_events, limit=limit))

    async def purge_events(self, *, keep_ms: int, most: int, limit: int) -> int:
        return await self._write(partial(events.purge_events, keep_ms=keep_ms, most=most, limit=limit))

    def on_told(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when this store has told an event, on the thread that it was told on."""
        self._told_listeners.append(listener)
