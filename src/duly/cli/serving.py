"""One process that serves: the engine and the API in one event loop, from the first line on stderr to the exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

import click

from duly.app import Duly
from duly.app.demo import begin_demo
from duly.app.signals import run_to_the_end, until_signalled
from duly.app.watching import observe
from duly.config import service_manager
from duly.config.masking import mask_url
from duly.core.version import VERSION
from duly.runtime.clock import SystemClock
from duly.runtime.supervisor import Supervisor
from duly.telemetry.logs import is_json
from duly.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from duly.api.auth.guard import Policy
    from duly.api.health import Health
    from duly.api.limits import Limits
    from duly.api.server import Asgi, Server

log = logging.getLogger("duly.serve")

CLEAN, CUT_OFF = 0, 1


@dataclass(frozen=True, slots=True)
class Callers:
    """Who may call the API: by what policy, from pages of which origins, and whether metrics are for everybody.

    ``session_secret`` signs the logins of the dashboard; without one they end with the process.
    """

    policy: Policy
    origins: tuple[str, ...] = ()
    open_metrics: bool = True
    dashboard: bool = True
    session_secret: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Describe what to run. Without a ``listener`` no port is open; ``url`` is where a browser finds it.

    ``hosts`` are names that the API answers to besides those of this machine; None is any name. ``insecure`` serves
    everybody as long as no key exists.
    """

    app: Duly
    roles: tuple[str, ...]
    log_format: str
    listener: socket.socket | None = None
    url: str | None = None
    demo: bool = False
    hosts: tuple[str, ...] | None = None
    limits: Limits | None = None
    callers: Callers | None = None
    insecure: bool = False


def run(plan: Plan) -> int:
    """Serve until a signal; answer the exit code: 0 after a clean end, 1 if work was cut off or its end is not kept."""
    return run_to_the_end(_serve(plan), loop_factory=_loop_factory())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(plan: Plan) -> int:
    process = _Process(plan)
    supervisor = Supervisor(*service_manager(os.getpid()))
    async with until_signalled() as signalled:
        waiting = asyncio.create_task(signalled.wait())
        watchdog = asyncio.create_task(supervisor.keep_telling(SystemClock()))
        try:
            if await _unless(waiting, process.start()):
                process.announce()
                supervisor.tell("READY=1", f"STATUS=roles {', '.join(plan.roles)}")
                await _unless(waiting, process.ended())
            supervisor.tell("STOPPING=1")
            return await process.stop()
        except BaseException:
            await process.stop()
            raise
        finally:
            watchdog.cancel()


async def _unless(signalled: asyncio.Task[bool], work: Awaitable[None]) -> bool:
    """Do some work, unless a signal comes first; True if it was done."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task, signalled}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
        return True
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return False


class _Process:
    """What is started, and stopped in the reverse order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._app = plan.app
        self._metrics = Metrics(plan.app.clock)
        observe(plan.app, self._metrics)
        self._health: Health | None = None
        self._server: Server | None = None
        self._running = False
        self._callers = ""

    async def start(self) -> None:
        """Answer probes at once, then open the store and start the engine."""
        if self._plan.listener is not None:
            self._server = self._make_server(self._plan.listener)
            self._server.start()
        await self._app.start()
        self._running = True
        if self._plan.demo:
            await begin_demo(self._app)
        if self._health is not None:
            self._callers = await self._who()
            self._health.phase = "running"

    def _make_server(self, listener: socket.socket) -> Server:
        from duly.api.health import Health
        from duly.api.server import Server

        self._health = Health(self._app, self._metrics, phase="starting")
        callers = self._plan.callers
        guarded = () if callers is None or callers.open_metrics else ("/metrics",)
        return Server(listener, self._health, self._application, self._plan.limits, guarded=guarded)

    def _application(self) -> Asgi:
        from starlette.routing import BaseRoute, Route

        from duly.api.application import application
        from duly.api.auth.cors import Cors
        from duly.api.auth.guard import Guard
        from duly.api.auth.metrics import PATH, GuardedMetrics
        from duly.api.health import health_routes
        from duly.api.hosts import Hosts
        from duly.dashboard.application import dashboard_routes, make_desk, missing

        hosts, callers = self._plan.hosts, self._plan.callers
        names = None if hosts is None else Hosts(hosts)
        guard = Guard(self._app, None if callers is None else callers.policy, open=self._plan.insecure, hosts=names)
        routes: list[BaseRoute] = []
        desk = None
        if callers is not None and not callers.open_metrics and self._health is not None:
            routes.append(Route(PATH, GuardedMetrics(self._health, guard), methods=["GET"]))
        if self._health is not None:  # the server has answered what asks for them; other methods hear what they take
            routes += health_routes(self._app, self._health)
        if callers is None or callers.dashboard:
            secret = None if callers is None else callers.session_secret
            desk = make_desk(self._app, guard, secret=secret)
            routes += dashboard_routes(desk)
            Thread(target=desk.renderer.compile_all, name="duly-templates", daemon=True).start()
        return application(
            self._app,
            hosts=names,
            guard=guard,
            cors=None if callers is None else Cors(callers.origins),
            routes=routes,
            missing=None if desk is None else partial(missing, desk),
        )

    async def _who(self) -> str:
        """In words, who may call."""
        issuer = None if self._plan.callers is None else self._plan.callers.policy.issuer
        if issuer is not None:
            return f"callers need a key, or a token of {issuer.name}"
        if await self._app.keys.any():
            return "callers need a key"
        if self._plan.insecure:
            return "open: no key was created, and everybody who reaches it may do anything"
        return "open to this machine only: no key was created"

    def announce(self) -> None:
        """Say that all is ready: to a person in words, to a machine as an event."""
        plan, store = self._plan, mask_url(self._app.url)
        address = f"{plan.url} (API at {plan.url}/docs, {self._callers})" if plan.url else "no port is open"
        line = f"duly {VERSION} is ready: {address}, store {store}, roles {', '.join(plan.roles)}"
        if is_json(plan.log_format, sys.stderr):
            log.info(line, extra={"address": plan.url, "store": store, "roles": list(plan.roles)})
        else:
            click.echo(line, err=True)

    async def ended(self) -> None:
        """Load the API, which nobody had to wait for, then wait for what should never end by itself."""
        if self._server is not None:
            await self._server.load()
            await self._server.ended()
        else:
            await asyncio.Event().wait()

    async def stop(self) -> int:
        """Accept and claim nothing more, finish or hand back, and say whether anything had to be cut off."""
        if self._health is not None:
            self._health.phase = "stopping"
        if not self._running:
            await self._stop_server()
            return CLEAN
        released = self._metrics.attempts["released"]
        # Requests in flight need the store until they have ended, so it is held open beyond the engine's own end.
        await self._app.open()
        try:
            await asyncio.gather(self._app.stop(), self._stop_server())
        finally:
            await self._app.close()
        cut_off = self._metrics.attempts["released"] - released + self._metrics.active
        if cut_off:
            log.warning("%d attempts took longer than shutdown_timeout and were handed back", cut_off)
        return CUT_OFF if cut_off or self._metrics.abandoned else CLEAN

    async def _stop_server(self) -> None:
        if self._server is not None:
            await self._server.stop()
