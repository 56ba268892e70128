"""``Duly``: what a user makes. It declares jobs, owns the instance and opens nothing until it runs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from duly.config import Settings, database_url
from duly.core.errors import ConfigurationError
from duly.core.policy import Retry
from duly.core.run import Run
from duly.core.timing import Cron, Every, Timing
from duly.core.version import VERSION
from duly.engine.instance import ROLES, Instance, World
from duly.engine.registry import Registry, make_handler
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock, SystemClock
from duly.runtime.events import LogObserver, Observer, Observers
from duly.store.sql import SqlStore

from .building import Builder
from .checking import check_words, timeout_in_ms
from .declared import Declared
from .runs import Runs
from .schedules import Schedules
from .stores import open_store
from .words import SCHEDULE_WORDS, UNSET

NOT_OPEN = "this app is not open; use `async with app:`, or `await app.open()` if it is only to create and to look"
Function = TypeVar("Function", bound=Callable[..., Any])


class Duly:
    """A scheduler and worker inside your process.

    Use it as ``async with app:`` in a running event loop, or call ``app.run()``, which blocks and owns the signals.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        roles: Sequence[str] = ("scheduler", "worker"),
        name: str | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.url = database_url(url)
        self.name = name
        self.settings = settings or Settings()
        self._roles = _check_roles(roles)
        self._clock = clock or SystemClock()
        self._chance = chance or Chance()
        self._registry = Registry()
        self._observers = Observers([LogObserver(), *observers])
        self._store: SqlStore = open_store(self.url, self._clock)
        self._store.closed_until_open(NOT_OPEN)
        self._starting = False
        self._instance: Instance | None = None
        self._opened = 0
        builder = Builder(self.settings, self._registry, self._clock, self._chance)
        self._declared = Declared(self._store, builder, app=name)
        self.schedules = Schedules(
            self._store,
            self.settings,
            builder,
            self._clock,
            self._chance,
            on_schedules=self._schedules_changed,
            on_runs=self._runs_changed,
        )
        self.runs = Runs(
            self._store,
            self.settings,
            self._registry,
            self._clock,
            self._chance,
            on_runs=self._runs_changed,
            on_cancel=self._cancel_asked,
        )

    # Declaring

    def job(
        self,
        name: str | None = None,
        *,
        cron: str | None = None,
        every: str | Every | None = None,
        timezone: str = "UTC",
        retry: Retry | None = None,
        timeout: float | None = UNSET,
        process: bool = False,
        payload: Any = UNSET,
        **options: Any,
    ) -> Callable[[Function], Function]:
        """Register a function as a job; with ``cron`` or ``every`` also declare a schedule of the same key."""
        if callable(name):
            raise ConfigurationError("@app.job needs parentheses: write @app.job() or @app.job('name')")
        check_words("job", options, SCHEDULE_WORDS)
        if cron is not None and every is not None:
            raise ConfigurationError(f"job {name!r} has both cron and every; give one of them")
        timing = _timing(cron, every, timezone)
        if timing is None and (options or payload is not UNSET):
            raise ConfigurationError(f"job {name!r} has {', '.join(options) or 'payload'} but neither cron nor every")

        def register(function: Function) -> Function:
            if self._instance is not None:
                raise ConfigurationError("a job was declared while the app runs; declare jobs before it starts")
            job_name = name or getattr(function, "__name__", "job").replace("_", "-")
            self._registry.add(
                make_handler(
                    job_name,
                    function,
                    process=process,
                    retry=retry,
                    timeout_ms=None if timeout is UNSET else timeout_in_ms(timeout),
                    has_timeout=timeout is not UNSET,
                )
            )
            if timing is not None:
                self._declared.add({"key": job_name, "timing": timing, "job": job_name, "payload": payload, **options})
            return function

        return register

    def cron(self, expr: str, *, timezone: str = "UTC", **options: Any) -> Callable[[Function], Function]:
        """Short for ``job(cron=...)``."""
        return self.job(options.pop("name", None), cron=expr, timezone=timezone, **options)

    def every(self, every: str | Every, **options: Any) -> Callable[[Function], Function]:
        """Short for ``job(every=...)``."""
        return self.job(options.pop("name", None), every=every, **options)

    async def enqueue(self, job: str, payload: Any = UNSET, **options: Any) -> Run:
        """Ask for one run of a job; see ``Runs.enqueue``."""
        return await self.runs.enqueue(job, payload, **options)

    @property
    def clock(self) -> Clock:
        """The clock that this app was given, or the real one."""
        return self._clock

    # Running

    async def open(self) -> None:
        """Open the store without firing or working: enough to create and look."""
        if self._opened == 0:
            await self._store.open()
        self._opened += 1

    async def close(self) -> None:
        if self._opened == 0:
            return
        self._opened -= 1
        if self._opened == 0:
            await self._store.close()

    async def start(self) -> None:
        """Open the store, sync the declared schedules, start this instance's roles."""
        if self._instance is not None or self._starting:
            raise ConfigurationError("this app is already running; use the one you have, or make another Duly")
        self._starting = True
        try:
            await self._start()
        finally:
            self._starting = False

    async def _start(self) -> None:
        await self.open()
        try:
            await self._declared.sync()
            world = World(
                store=self._store,
                settings=self.settings,
                clock=self._clock,
                chance=self._chance,
                observers=self._observers,
                heartbeat_thread=isinstance(self._clock, SystemClock),
            )
            self._instance = Instance(world, self._registry, roles=self._roles, name=self.name, version=VERSION)
            self._instance.on_ended(self.runs.ended)
            await self._instance.start()
        except BaseException:
            self._instance = None
            await self.close()
            raise

    async def stop(self, grace: float | None = None) -> None:
        """Stop claiming, finish within ``grace`` seconds, give the rest back at once without spending an attempt."""
        instance, self._instance = self._instance, None
        if instance is not None:
            try:
                await instance.stop(self.settings.shutdown_timeout if grace is None else grace)
            finally:
                await self.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def run(self) -> None:
        """Run until SIGTERM or SIGINT: finish within the grace, release the rest. A second signal exits now."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise ConfigurationError("app.run() was called inside a running event loop; use `async with app:` there")
        asyncio.run(self._run())

    async def _run(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def on_signal(number: int) -> None:
            if stop.is_set():
                os._exit(128 + number)
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, on_signal, number)
        async with self:
            await stop.wait()

    def _schedules_changed(self) -> None:
        if self._instance is not None:
            self._instance.wake_scheduler()

    def _runs_changed(self) -> None:
        if self._instance is not None:
            self._instance.wake_worker()

    def _cancel_asked(self) -> None:
        if self._instance is not None:
            self._instance.cancel_soon()


def _check_roles(roles: Sequence[str]) -> tuple[str, ...]:
    unknown = [role for role in roles if role not in ROLES]
    if isinstance(roles, str) or unknown:
        raise ConfigurationError(f"roles is {roles!r}; expected some of {', '.join(ROLES)}")
    return tuple(roles)


def _timing(cron: str | None, every: str | Every | None, timezone: str) -> Timing | None:
    if cron is not None:
        return Cron(cron, timezone)
    if every is not None:
        return every if isinstance(every, Every) else Every(every)
    return None
