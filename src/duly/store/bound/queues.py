"""Queues, bound to their programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from duly.core.queue import Queue, QueueState
from duly.store.methods import queues

from .base import Bound


class BoundQueues(Bound):
    """``protocol.Queues`` on a driver."""

    async def change_queue(self, name: str, change: Callable[[QueueState, int], QueueState]) -> Queue:
        changed = await self._write(partial(queues.change_queue, name=name, change=change))
        self.driver.hint("runs")
        return changed

    async def list_queues(self, name: str | None = None) -> list[Queue]:
        return await self._read(partial(queues.list_queues, name=name))

    async def adopt_fair_keys(self, *, limit: int) -> int:
        return await self._write(partial(queues.adopt_fair_keys, limit=limit))
