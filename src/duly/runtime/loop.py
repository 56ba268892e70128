"""The one loop: it owns pace, errors and stop, so that the work inside is a plain ``run_once``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .chance import Chance
from .clock import Clock, turn
from .events import Observer

FIRST_BACKOFF = 0.1
LONGEST_BACKOFF = 5.0


class Loop:
    """Calls ``run_once`` again and again; it answers how many seconds to rest, or None to rest until woken.

    A wake-up ends the rest at once and is never lost: one that comes during ``run_once`` skips the next rest.
    """

    def __init__(
        self,
        name: str,
        run_once: Callable[[], Awaitable[float | None]],
        *,
        clock: Clock,
        chance: Chance,
        observer: Observer,
    ) -> None:
        self.name = name
        self._run_once = run_once
        self._clock = clock
        self._chance = chance
        self._observer = observer
        self._woken = asyncio.Event()
        self._stopping = False
        self._failures = 0

    def wake(self) -> None:
        self._woken.set()

    def stop(self) -> None:
        """Let the pass in flight finish, then end."""
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        while not self._stopping:
            self._woken.clear()
            rest = await self._pass()
            if not self._stopping and rest != 0:
                await self._clock.wait(self._woken, rest)
            elif rest == 0:
                await turn()

    async def _pass(self) -> float | None:
        try:
            rest = await self._run_once()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - around a loop's run_once: one bad pass must not end the loop
            self._failures += 1
            self._observer.loop_failed(self.name, error)
            longest = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(self._failures, 10))
            return self._chance.spread(FIRST_BACKOFF, longest)
        self._failures = 0
        return rest
