"""``RemoteWorker``: runs jobs where no database can be reached, through a server."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, cast

from duly.client.talking import read_server
from duly.config import Settings
from duly.core.errors import ConfigurationError
from duly.core.version import VERSION
from duly.engine.instance import Instance, World
from duly.engine.registry import RESERVED, Registry
from duly.runtime.clock import SystemClock
from duly.store.sql import SqlStore

from .duly import LAST_WORDS, Duly
from .jobs import Jobs
from .life import enter_lifespan
from .remote_store import RemoteStore
from .signals import run_to_the_end, until_signalled

_log = logging.getLogger("duly.remote")
BEAT_WITHIN = 5.0
"""Seconds that one heartbeat may take: another one has to follow before the lease is over."""


class RemoteWorker:
    """Claims runs of the jobs it was given from a server, runs them here, and reports how they ended.

    ``jobs`` are those of an app, or ``duly.Jobs()``; the app's store is never opened. Lifespan, middleware and
    listeners to events of runs are the app's. Schedules that it declares are not stored by this, its listeners to
    topics hear nothing, and ``on_dead`` is for workers that have the store. Use it in ``async with``, or ``run()`` it.
    """

    def __init__(
        self,
        server: str,
        jobs: Duly | Jobs,
        *,
        key: str | None = None,
        name: str | None = None,
        settings: Settings | None = None,
        transport: Any = None,
    ) -> None:
        if isinstance(jobs, Jobs):
            given, jobs = jobs, Duly("sqlite:///:memory:")
            jobs.include(given)
        if not isinstance(jobs, Duly):
            raise ConfigurationError(f"jobs is {jobs!r}; expected a Duly or duly.Jobs()")
        _, self.place = read_server(server)
        self._app = jobs
        self._server = server
        self._key = key
        self._name = name or jobs.name
        self._settings = settings or jobs.settings
        self._transport = transport
        self._registry = _without_topics(jobs._registry)
        if not self._registry.names:
            raise ConfigurationError("a remote worker needs jobs, and none are declared; use @app.job(...)")
        self._stack = AsyncExitStack()
        self._instance: Instance | None = None

    async def start(self) -> None:
        """Begin the app's lifespan, a session on the server, and to work."""
        if self._instance is not None:
            raise ConfigurationError("this remote worker is already running")
        async with AsyncExitStack() as stack:
            store = await self._connect(stack)
            instance = self._make(store)
            await instance.start()
            listening = asyncio.create_task(store.listen(), name="duly-listen")
            stack.push_async_callback(_end, listening)
            stack.push_async_callback(self._stop_instance, instance)
            self._instance = instance
            self._stack = stack.pop_all()

    async def stop(self, grace: float | None = None) -> None:
        """Claim nothing more, finish within ``grace`` seconds, give the rest back at once, untried."""
        if grace is not None:
            self._settings = replace(self._settings, shutdown_timeout=grace)
        self._instance = None
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def run(self) -> None:
        """Work until SIGTERM or SIGINT. A second signal exits now."""
        run_to_the_end(self._run())

    async def _run(self) -> None:
        async with until_signalled() as signalled, self:
            _log.info("is ready: works for %s on %s", self.place, ", ".join(sorted(self._registry.names)))
            await signalled.wait()

    async def _connect(self, stack: AsyncExitStack) -> RemoteStore:
        """Begin the app's lifespan, and go by the server's lease and heartbeat."""
        from duly.client import AsyncClient, Client

        app = self._app
        client = await stack.enter_async_context(AsyncClient(self._server, key=self._key, transport=self._transport))
        beating = stack.enter_context(Client(self._server, key=self._key, tries=1, timeout=BEAT_WITHIN))
        if app._lifespan is not None:
            self._registry.around.state = await enter_lifespan(app._lifespan, app, stack)
        app._telling.start()
        stack.push_async_callback(app._telling.stop, LAST_WORDS)
        store = RemoteStore(client, beating, app._clock, sorted(self._registry.names))
        lease, heartbeat = await store.terms()
        self._settings = replace(self._settings, lease=lease, heartbeat=heartbeat)
        return store

    def _make(self, store: RemoteStore) -> Instance:
        app = self._app
        world = World(
            store=cast(SqlStore, store),  # an instance that only works asks for nothing else
            settings=self._settings,
            clock=app._clock,
            chance=app._chance,
            observers=app._observers,
            heartbeat_thread=isinstance(app._clock, SystemClock) and self._transport is None,
        )
        return Instance(world, self._registry, roles=("worker",), name=self._name, version=VERSION)

    async def _stop_instance(self, instance: Instance) -> None:
        await instance.stop(self._settings.shutdown_timeout)


def _without_topics(known: Registry) -> Registry:
    """The handlers of jobs: what hears topics has to look up schedules, and only a store knows those."""
    registry = Registry()
    registry.around = known.around
    for handler in known:
        if handler.name.startswith(RESERVED):
            _log.warning("%s is not served by a remote worker; a worker with the store has to", handler.name)
        else:
            registry.add(handler)
    return registry


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
