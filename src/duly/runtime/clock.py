"""The only file that reads a clock."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time as the engine sees it: a wall clock for identity, a steady one for waiting."""

    def now(self) -> int:
        """The wall clock, epoch ms."""
        ...

    def steady(self) -> float:
        """Seconds on a clock that never jumps."""
        ...

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        """Wait until the event is set (True) or ``timeout`` seconds have passed (False)."""
        ...


class SystemClock:
    """The real thing."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def steady(self) -> float:
        return time.monotonic()

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        if event.is_set():
            return True
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            return event.is_set()
        return True


async def turn() -> None:
    """Let the event loop run what is ready, once."""
    await asyncio.sleep(0)
