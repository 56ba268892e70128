"""A clock that moves only when it is told to.

Two ways to move it. ``move`` and ``move_to`` are plain calls: the hands are set, and whoever waited for an instant
that has now passed is woken. ``advance`` and ``advance_to`` are awaited: they stop at every instant that somebody
waits for, in order, and let everybody come to rest before they go on, so a loop that waits a minute thirty times sees
thirty minutes, each at its own time. ``jump`` sets the wall clock alone, as an operator or a time server would.

At rest means: the event loop has nothing left to run, nobody is inside ``working()``, and each thread that was woken
waits again. Whatever takes real time and must be waited for (a call to a server, a handler in a thread) belongs inside
``working()``; ``Watched`` does so for all calls to a store.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from threading import Lock
from typing import Any, Generic, TypeVar

from duly.core.instants import to_ms

DEFAULT_START = "2026-01-05T00:00:00Z"
"""A Monday, midnight."""

_MOST_TURNS = 100_000
_BLIND_TURNS = 50
_REAL_PAUSE = 0.001
_REAL_PATIENCE = 30.0

Instant = int | str | datetime
Wrapped = TypeVar("Wrapped")


class NeverAtRest(RuntimeError):
    """Tasks kept running although the clock stood still: a loop that does not wait, or work that does not end."""


@dataclass(eq=False, slots=True)
class _Waiter:
    deadline: int
    loop: asyncio.AbstractEventLoop
    limit: asyncio.Timeout
    over: bool = False

    def wake(self) -> None:
        """Let the wait end; called on any thread."""
        if self.loop is _running_loop():
            self._expire()
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._expire)

    def _expire(self) -> None:
        if not self.over:
            self.limit.reschedule(self.loop.time())


class ManualClock:
    """The clock of tests and simulations; see ``duly.runtime.clock.Clock``.

    ``start`` is epoch ms, an RFC 3339 text or an aware datetime. The clock may be read on any thread and waited for
    on several event loops; it is moved from one place at a time.
    """

    slack = 0.0

    def __init__(self, start: Instant = DEFAULT_START) -> None:
        self._wall = _ms_of(start)
        self._steady = 0
        self._waiters: list[_Waiter] = []
        self._woken: set[asyncio.AbstractEventLoop] = set()
        self._lock = Lock()
        self._working = 0

    def now(self) -> int:
        return self._wall

    def steady(self) -> float:
        return self._steady / 1000

    def until(self, instant: int) -> float:
        return (instant - self.now()) / 1000

    @property
    def waiting(self) -> int:
        """How many waits with a time limit are under way."""
        return len(self._waiters)

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        """Wait until the event is set (True) or the clock was moved on by ``timeout`` seconds (False)."""
        if event.is_set():
            return True
        if timeout is not None and timeout <= 0:
            await _Turn()
            return event.is_set()
        if timeout is None:
            return await event.wait()
        try:
            async with asyncio.timeout(None) as limit:
                waiter = self._enter(timeout, limit)
                try:
                    await event.wait()
                finally:
                    self._leave(waiter)
        except TimeoutError:
            return event.is_set()
        return True

    def move(
        self, *, milliseconds: int = 0, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> None:
        """Set the clock forward at once, over all instants between, and wake whoever waited for one of them."""
        self._set(self._steady + _span(milliseconds, seconds, minutes, hours, days))

    def move_to(self, instant: Instant) -> None:
        """Set the clock forward to an instant at once; see ``move``."""
        self._set(self._steady_at(instant))

    def jump(
        self, *, milliseconds: int = 0, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> None:
        """Move the wall clock alone, also back: waits go by the steady clock and notice nothing."""
        with self._lock:
            self._wall += _span(milliseconds, seconds, minutes, hours, days, back=True)

    async def advance(
        self, *, milliseconds: int = 0, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> None:
        """Let time pass: stop at each instant somebody waits for, and let everybody come to rest there."""
        await self._advance(self._steady + _span(milliseconds, seconds, minutes, hours, days))

    async def advance_to(self, instant: Instant) -> None:
        """Let time pass until an instant; see ``advance``."""
        await self._advance(self._steady_at(instant))

    async def settle(self) -> None:
        """Let everybody come to rest while the clock stands still."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + _REAL_PATIENCE
        turns = quiet = 0
        while quiet < 2:
            if self._others_work():
                if loop.time() > give_up_at:
                    raise NeverAtRest(f"work was still under way after {_REAL_PATIENCE} real seconds")
                await asyncio.sleep(_REAL_PAUSE)  # noqa: TID251  # a thread or a server takes real time
                quiet = 0
                continue
            if (turns := turns + 1) > _MOST_TURNS:
                raise NeverAtRest(f"tasks still run after {_MOST_TURNS} turns of the event loop at {self._wall}")
            await _Turn()
            quiet = quiet + 1 if _idle(loop, turns) else 0

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep an ``advance`` where it is until the work inside has ended."""
        with self._lock:
            self._working += 1
        try:
            yield
        finally:
            with self._lock:
                self._working -= 1

    async def _advance(self, target: int) -> None:
        await self.settle()
        while (deadline := self._earliest()) is not None and deadline <= target:
            self._set(max(deadline, self._steady))
            await self.settle()
        self._set(max(target, self._steady))
        await self.settle()

    def _set(self, steady: int) -> None:
        here = _running_loop()
        with self._lock:
            self._wall += steady - self._steady
            self._steady = steady
            due = [waiter for waiter in self._waiters if waiter.deadline <= steady]
            self._waiters = [waiter for waiter in self._waiters if waiter.deadline > steady]
            self._woken |= {waiter.loop for waiter in due if waiter.loop is not here}
        for waiter in sorted(due, key=lambda waiter: waiter.deadline):
            waiter.wake()

    def _enter(self, timeout: float, limit: asyncio.Timeout) -> _Waiter:
        loop = asyncio.get_running_loop()
        with self._lock:
            # Rounded up to a whole ms, so that a wait for a fraction of one still needs the clock to move.
            waiter = _Waiter(self._steady + max(1, math.ceil(round(timeout * 1000, 6))), loop, limit)
            self._waiters.append(waiter)
            self._woken.discard(loop)
        return waiter

    def _leave(self, waiter: _Waiter) -> None:
        waiter.over = True
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def _earliest(self) -> int | None:
        with self._lock:
            return min((waiter.deadline for waiter in self._waiters), default=None)

    def _others_work(self) -> bool:
        with self._lock:
            self._woken = {loop for loop in self._woken if loop.is_running()}
            return self._working > 0 or bool(self._woken)

    def _steady_at(self, instant: Instant) -> int:
        ahead = _ms_of(instant) - self._wall
        if ahead < 0:
            raise ValueError(f"the clock stands at {self._wall}, {-ahead} ms after {instant!r}; only jump() goes back")
        return self._steady + ahead


class Watched(Generic[Wrapped]):
    """Anything whose calls take real time: an ``advance`` of the clock waits for those under way.

    All attributes are those of what is wrapped; its coroutine methods run inside ``clock.working()``.
    """

    def __init__(self, wrapped: Wrapped, clock: ManualClock) -> None:
        self._wrapped = wrapped
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._wrapped, name)
        return self._watch(attribute) if asyncio.iscoroutinefunction(attribute) else attribute

    def _watch(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(call)
        async def watched(*args: Any, **kwargs: Any) -> Any:
            with self._clock.working():
                return await call(*args, **kwargs)

        return watched


class _Turn:
    """One turn of the event loop: whoever is ready runs before us."""

    def __await__(self) -> Generator[None, None, None]:
        yield


def _idle(loop: asyncio.AbstractEventLoop, turns: int) -> bool:
    ready = getattr(loop, "_ready", None)
    # Another loop than asyncio's own keeps its ready list to itself: give it a fixed number of turns.
    return turns >= _BLIND_TURNS if ready is None else not ready


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _ms_of(instant: Instant) -> int:
    if isinstance(instant, int):
        return instant
    return to_ms(datetime.fromisoformat(instant) if isinstance(instant, str) else instant)


def _span(milliseconds: int, seconds: float, minutes: float, hours: float, days: float, *, back: bool = False) -> int:
    span = timedelta(milliseconds=milliseconds, seconds=seconds, minutes=minutes, hours=hours, days=days)
    if span < timedelta(0) and not back:
        raise ValueError(f"the clock cannot be moved by {span}; only jump() goes back")
    return span // timedelta(milliseconds=1)
