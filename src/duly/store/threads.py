"""Threads that do what would block an event loop, and answer on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from duly.core.errors import StoreUnavailable
from duly.runtime.answering import carry_out

from .statements import T

_Order = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class Threads:
    """A few threads, started when the first work comes; what comes while all are at work waits its turn.

    An executor of the standard library does the same with two futures for each call and one more turn of the loop.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """Do some work on a thread. Who stops waiting before it has begun takes it back."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:  # so that no order is put behind the last one that close has put
            if self._closed:
                raise StoreUnavailable("the store is closed")
            if len(self._threads) < self._count:
                self._start()
            self._orders.put((work, future))
        return await future

    def close(self) -> None:
        """Let what was asked for come to its end, and wait for that."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                self._orders.put(None)
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        """Start what is missing; where the machine has no thread to give, those that run must do."""
        try:
            for number in range(len(self._threads), self._count):
                thread = Thread(target=self._main, name=f"{self._name}-{number + 1}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except RuntimeError as error:
            if not self._threads:
                raise StoreUnavailable(f"the store has no thread to work on: {error}") from error

    def _main(self) -> None:
        while (order := self._orders.get()) is not None:
            carry_out(*order)
            del order  # what it held is not held until the next one comes
