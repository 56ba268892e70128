"""A driver for callers without an event loop: its coroutines block and never suspend.

What is built on a store, coroutine upon coroutine, then runs to its end in one step, on the caller's thread and without
a loop. So there is one text for both kinds of callers.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from .driver import Driver
from .remembering import Remembered
from .statements import T, Transaction


class DirectDriver:
    """Another driver's synchronous calls, in the shape of the asynchronous ones."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.name = driver.name
        self.fires_at_once = driver.fires_at_once
        self.presence = driver.presence

    async def open(self) -> None:
        self._driver.open_sync()

    async def close(self) -> None:
        self._driver.close_sync()

    async def checks(self) -> list[str]:
        return await self._driver.checks()

    def open_sync(self) -> None:
        self._driver.open_sync()

    def close_sync(self) -> None:
        self._driver.close_sync()

    async def write(self, transaction: Transaction[T], *, due: int | None = None, engine: bool = False) -> T:
        return self._driver.write_sync(transaction)

    async def read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        return self._driver.read_sync(transaction)

    def write_sync(self, transaction: Transaction[T]) -> T:
        return self._driver.write_sync(transaction)

    def read_sync(self, transaction: Transaction[T]) -> T:
        return self._driver.read_sync(transaction)

    async def write_on(self, connection: Any, transaction: Transaction[T]) -> T:
        return self._driver.write_on_sync(connection, transaction)

    def write_on_sync(self, connection: Any, transaction: Transaction[T]) -> T:
        return self._driver.write_on_sync(connection, transaction)

    def remembered(self) -> Remembered | None:
        return self._driver.remembered()

    def remember(self, seen: Remembered) -> None:
        self._driver.remember(seen)

    def hint(self, topic: str) -> None:
        self._driver.hint(topic)

    def on_hint(self, listener: Callable[[str], None]) -> None:
        self._driver.on_hint(listener)


def run_direct(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that only ever waits for a direct driver, and answer its value."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    coroutine.close()
    raise RuntimeError(f"{coroutine!r} waited for an event loop; a call without one must not")
