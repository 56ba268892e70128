"""Time travel: an app on a clock that moves when told, its database in memory, its engine the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

from duly.app import Duly
from duly.config import Settings
from duly.core.run import RunStatus
from duly.engine.instance import Instance
from duly.engine.threads import Threads
from duly.runtime.events import Attempted, Observer

from .clock import Instant, ManualClock

DAY = 86_400.0
MEMORY = "sqlite:///:memory:"


def travel_settings(settings: Settings | None = None) -> Settings:
    """Settings for a month in milliseconds: nobody looks every second whether there is something to do.

    In one process everything that happens wakes whom it concerns, so nothing waits for a poll.
    """
    return replace(settings or Settings(), poll=DAY, heartbeat=DAY, lease=3 * DAY, ramp_up=0)


@asynccontextmanager
async def travel(
    app: Duly, *, start: Instant | None = None, settings: Settings | None = None
) -> AsyncIterator[ManualClock]:
    """Run an app, with its jobs and declared schedules, in a database in memory and on the clock that this yields.

    ``start`` is where the clock begins. The app itself is used, and given back as it was: what it has stored
    elsewhere is neither seen nor touched. Handlers in threads, and steps that are not async, are waited for; an async
    handler that waits for the outside world is not.
    """
    clock = ManualClock() if start is None else ManualClock(start)
    before = app.url, app.settings, app._roles, app._clock
    _move_to(app, MEMORY, travel_settings(settings or app.settings), ("scheduler", "worker"), clock)
    try:
        await app.start()
        _watch(app, clock)
        try:
            await clock.settle()
            yield clock
        finally:
            await app.stop(grace=0)
    finally:
        _move_to(app, *before)


def _move_to(app: Duly, url: str, settings: Settings, roles: tuple[str, ...], clock: Any) -> None:
    declared = app._declared
    app._clock = app._telling._clock = clock
    app._assemble(url, settings, roles)
    app._declared.take_over(declared)


class WatchedThreads(Threads):
    """Threads for handlers; the clock stands still while one is at work."""

    def __init__(self, most: int, clock: ManualClock) -> None:
        super().__init__(most)
        self._clock = clock

    def submit(self, function: Callable[[], Any], on_start: Callable[[], None]) -> asyncio.Future[Any]:
        work = self._clock.working()
        work.__enter__()
        future = super().submit(function, on_start)
        future.add_done_callback(lambda _: work.__exit__(None, None, None))
        return future


class _WatchedExecutor(ThreadPoolExecutor):
    """What ``asyncio.to_thread`` uses; the clock stands still while it is at work.

    The work has ended when the event loop has heard of it: in one callback with the one by which asyncio tells the
    loop, so that no thread that is put off between the two lets the clock go on too early.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: ManualClock) -> None:
        super().__init__(thread_name_prefix="duly-travel")
        self._event_loop = loop
        self._clock = clock

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        work = self._clock.working()
        work.__enter__()
        future = super().submit(function, *args, **kwargs)

        def add_asyncios(fn: Callable[[Future[Any]], object]) -> None:
            del future.add_done_callback
            future.add_done_callback(lambda done: self._tell(fn, done, work))

        future.add_done_callback = add_asyncios  # type: ignore[method-assign]
        return future

    def _tell(
        self, tell: Callable[[Future[Any]], object], done: Future[Any], work: AbstractContextManager[None]
    ) -> None:
        try:
            tell(done)
        finally:
            self._event_loop.call_soon_threadsafe(work.__exit__, None, None, None)


class _Waker(Observer):
    """Lets the worker look at once for what an attempt that ended put off, since nobody polls."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def attempts_settled(
        self, attempts: Sequence[Attempted], ended: Mapping[str, RunStatus], lost: Sequence[str]
    ) -> None:
        self._instance.wake_worker()


def _watch(app: Duly, clock: ManualClock) -> None:
    """Let the clock stand still while a handler, a step or a listener is at work in a thread."""
    assert app._instance is not None
    app._observers.add(_Waker(app._instance))
    app._instance._worker._threads = WatchedThreads(app.settings.threads, clock)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(_WatchedExecutor(loop, clock))


class Traveller(Duly):
    """A new app, in memory and on a manual clock."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(MEMORY, clock=clock, settings=travel_settings())
        self._manual = clock

    async def start(self) -> None:
        await super().start()
        _watch(self, self._manual)

    async def stop(self, grace: float | None = None) -> None:
        """Give back at once what is at work, unless a grace is given: nobody moves the clock on which it would pass."""
        await super().stop(0 if grace is None else grace)
