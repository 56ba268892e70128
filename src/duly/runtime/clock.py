"""The only file that reads a clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio


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
        import asyncio  # here, so that what only reads the clock (`duly cron`) starts without it

        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            return event.is_set()
        return True


async def turn() -> None:
    """Let the event loop run what is ready, once."""
    import asyncio

    await asyncio.sleep(0)
