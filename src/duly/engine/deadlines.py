"""Timeouts of attempts: one wait for all of them, because nearly none is ever reached."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Protocol

from duly.runtime.clock import Clock


class Limited(Protocol):
    """An attempt that can be told that its time is over."""

    def time_out(self) -> None: ...


class Deadlines:
    """Watches attempts and tells each whose deadline has passed. All calls are made on the event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._deadlines: dict[Limited, float] = {}
        self._next_look = math.inf
        self._sooner = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    def watch(self, attempt: Limited, seconds: float) -> None:
        """Time an attempt out ``seconds`` from now, unless it is forgotten before."""
        deadline = self._deadlines[attempt] = self._clock.steady() + seconds
        if deadline < self._next_look:
            self._next_look = deadline
            if self._watching is None:
                self._watching = asyncio.get_running_loop().create_task(self._watch(), name="duly-deadlines")
            else:
                self._sooner.set()

    def forget(self, attempt: Limited) -> None:
        """The attempt has ended. The wait goes on: it finds nothing to do, and looks for the next deadline."""
        self._deadlines.pop(attempt, None)

    def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    async def _watch(self) -> None:
        while self._deadlines:
            self._sooner.clear()
            await self._clock.wait(self._sooner, self._next_look - self._clock.steady())
            for time_out in self._look():
                time_out()
        # What was forgotten before the first look leaves its deadline behind, and nobody waits for that one now.
        self._watching, self._next_look = None, math.inf

    def _look(self) -> list[Callable[[], None]]:
        now = self._clock.steady()
        over: list[Callable[[], None]] = [one.time_out for one, deadline in self._deadlines.items() if deadline <= now]
        self._deadlines = {one: deadline for one, deadline in self._deadlines.items() if deadline > now}
        self._next_look = min(self._deadlines.values(), default=math.inf)
        return over
