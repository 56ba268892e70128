"""Batches that form by themselves: one flush in flight, and what arrives meanwhile is the next batch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


class Batcher(Generic[In, Out]):
    """Turns many single calls into few batched ones, without timers.

    A lone call is flushed at once. ``flush`` answers one result per item, in order; a result that is an exception is
    raised to its caller alone, an exception from ``flush`` itself to all of the batch.
    """

    def __init__(
        self, flush: Callable[[Sequence[In]], Awaitable[Sequence[Out | Exception]]], *, most: int = 1000
    ) -> None:
        self._flush = flush
        self._most = most
        self._waiting: list[tuple[In, asyncio.Future[Out]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def put(self, item: In) -> Out:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Out] = loop.create_future()
        self._waiting.append((item, answer))
        if self._flushing is None:
            self._flushing = loop.create_task(self._drain())
        return await answer

    async def put_alone(self, item: In) -> Out:
        """The same for a caller who has no event loop, and so nobody beside him: a batch of one."""
        (answer,) = await self._flush([item])
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _drain(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._flush_one(taken)
        finally:
            self._flushing = None

    async def _flush_one(self, taken: list[tuple[In, asyncio.Future[Out]]]) -> None:
        try:
            answers = await self._flush([item for item, _ in taken])
            if len(answers) != len(taken):
                raise RuntimeError(f"a flush of {len(taken)} items gave {len(answers)} answers; expected one for each")
        except Exception as error:  # noqa: BLE001 - every caller of the batch must hear of it
            for _, future in taken:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(taken, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
