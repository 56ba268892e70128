"""Timeouts of attempts: one timer for all of them, because nearly none is ever reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol


class Timed(Protocol):
    """An attempt that can be told that its time is over."""

    def time_out(self) -> None: ...


class Deadlines:
    """Watches attempts and tells each whose deadline has passed. All calls are made on the event loop."""

    def __init__(self) -> None:
        self._deadlines: dict[Timed, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, attempt: Timed, seconds: float) -> None:
        """Time an attempt out ``seconds`` from now, unless it is forgotten before."""
        loop = asyncio.get_running_loop()
        deadline = self._deadlines[attempt] = loop.time() + seconds
        if self._timer is None or deadline < self._timer.when():
            self._set_timer(loop, deadline)

    def forget(self, attempt: Timed) -> None:
        """The attempt has ended. The timer stays: it finds nothing to do, and looks for the next deadline."""
        self._deadlines.pop(attempt, None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        self.close()
        self._timer = loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        over: list[Callable[[], None]] = [one.time_out for one, deadline in self._deadlines.items() if deadline <= now]
        self._deadlines = {one: deadline for one, deadline in self._deadlines.items() if deadline > now}
        if self._deadlines:
            self._set_timer(loop, min(self._deadlines.values()))
        for time_out in over:
            time_out()
