"""``/livez``, ``/readyz``, ``/healthz``, ``/version`` and ``/metrics``: for machines that watch, without a framework.

Nothing here waits for the engine: a process that cannot work says so at once, and says so again when it can.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec

from duly.app import Duly
from duly.app.watching import Check, count_load, look, observe, store_name
from duly.core.version import VERSION
from duly.runtime.clock import Clock, SystemClock
from duly.store.load import Load
from duly.telemetry.metrics import Metrics

from .problems import MEDIA_TYPE, NOT_READY, Kind, problem

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

LOOK_EVERY = 1.0
COUNT_EVERY = 5.0
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
DRAINING = Kind(503, "draining", "Stopping")


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    media_type: str = TEXT


Answer = Callable[[str, str], Awaitable[Reply]]
"""Takes the query string and the Accept header."""


class Health:
    """Answers about one app. ``phase`` is what the process itself knows: starting, running or stopping."""

    def __init__(self, app: Duly, metrics: Metrics, *, clock: Clock | None = None, phase: str = "running") -> None:
        self._app = app
        self._metrics = metrics
        self._steady = (clock or SystemClock()).steady
        self.phase = phase
        self._looking = asyncio.Lock()
        self._checks: list[Check] = []
        self._looked_at = float("-inf")
        self._load: Load | None = None
        self._counted_at = float("-inf")
        self._exposition: Any = None

    @property
    def answers(self) -> Mapping[str, Answer]:
        """What is answered, by path."""
        return {
            "/livez": self._livez,
            "/readyz": self._readyz,
            "/healthz": self._readyz,
            "/version": self._version,
            "/metrics": self._text,
        }

    async def _livez(self, query: str, accept: str) -> Reply:
        return Reply(200, b"ok\n")

    async def _version(self, query: str, accept: str) -> Reply:
        return Reply(200, _json({"name": "duly", "version": VERSION}), JSON)

    async def _readyz(self, query: str, accept: str) -> Reply:
        """200 when the store answers and the session is alive; else 503 with what is missing."""
        checks = await self._look()
        verbose = "verbose" in parse_qs(query, keep_blank_values=True)
        shown = {check.name: {"ok": check.ok, "seen": check.seen} for check in checks} if verbose else None
        wrong = [f"{check.name}: {check.seen}" for check in checks if not check.ok]
        if not wrong:
            # It can work, and nobody should restart it for that; but who looks should see it.
            notes = ["firing is paused"] if any(check.seen == "paused" for check in checks) else []
            body: dict[str, Any] = {"status": "ready"} | ({"notes": notes} if notes else {})
            body |= {"version": VERSION, "checks": shown} if shown else {}
            return Reply(200, _json(body), JSON)
        kind = DRAINING if self.phase == "stopping" else NOT_READY
        return problem_reply(kind, "NOT_READY", "; ".join(wrong), **({"checks": shown} if shown else {}))

    async def _look(self) -> list[Check]:
        """Look at most once a second, however many ask; what is starting or stopping need not ask the store."""
        if self.phase != "running":
            return [Check("process", False, self.phase)]
        async with self._looking:
            if self._steady() - self._looked_at >= LOOK_EVERY:
                self._checks = await look(self._app)
                self._looked_at = self._steady()
        return self._checks

    async def _text(self, query: str, accept: str) -> Reply:
        if self._exposition is None:
            from duly.telemetry.exposition import Exposition  # its library is imported with the first scrape

            self._exposition = Exposition(self._metrics, store=store_name(self._app))
        body, media_type = self._exposition.text(await self._count(), accept)
        return Reply(200, body, media_type)

    async def _count(self) -> Load | None:
        """What the store says, at most every five seconds; nothing while it cannot be asked."""
        if self._steady() - self._counted_at >= COUNT_EVERY:
            self._counted_at = self._steady()
            self._load = await count_load(self._app)
        return self._load


def health_of(app: Duly, **options: Any) -> Health:
    """Health and metrics of an app; counting begins now."""
    metrics = Metrics(app.clock)
    observe(app, metrics)
    return Health(app, metrics, **options)


def health_routes(app: Duly, health: Health | None = None) -> list[BaseRoute]:
    """The same as routes, for an application of one's own: ``application(app, routes=health_routes(app))``."""
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    def endpoint(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            reply = await answer(request.url.query, request.headers.get("accept", ""))
            return Response(reply.body, reply.status, {"cache-control": "no-store"}, reply.media_type)

        return respond

    answers = (health or health_of(app)).answers
    return [Route(path, endpoint(answer), methods=["GET"], include_in_schema=False) for path, answer in answers.items()]


def problem_reply(kind: Kind, code: str, detail: str, **extra: Any) -> Reply:
    return Reply(kind.status, _json(problem(kind, code, detail, **extra)), MEDIA_TYPE)


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)
