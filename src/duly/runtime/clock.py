"""The only file that reads a clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio


class Clock(Protocol):
    """Time as the engine sees it: a wall clock for identity, a steady one for waiting.

    ``slack`` is how many seconds too late a wait may end.
    """

    @property
    def slack(self) -> float: ...

    def now(self) -> int:
        """The wall clock, epoch ms."""
        ...

    def steady(self) -> float:
        """Seconds on a clock that never jumps."""
        ...

    def until(self, instant: int) -> float:
        """Seconds until the wall clock shows an instant, exactly; none or less once it does."""
        ...

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        """Wait until the event is set (True) or ``timeout`` seconds have passed (False)."""
        ...


class SystemClock:
    """The real thing. An event loop's timers go by whole milliseconds, and a machine at rest wakes up slowly."""

    slack = 0.003

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def steady(self) -> float:
        return time.monotonic()

    def until(self, instant: int) -> float:
        return instant / 1000 - time.time()

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


class BlockingClock:
    """Another clock, whose waits block the calling thread: for callers without an event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @property
    def slack(self) -> float:
        return self._clock.slack

    def now(self) -> int:
        return self._clock.now()

    def steady(self) -> float:
        return self._clock.steady()

    def until(self, instant: int) -> float:
        return self._clock.until(instant)

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        if not event.is_set():
            time.sleep(3600.0 if timeout is None else timeout)  # noqa: ASYNC251 - no loop is there to be stopped
        return event.is_set()


async def turn() -> None:
    """Let the event loop run what is ready, once."""
    import asyncio

    await asyncio.sleep(0)
