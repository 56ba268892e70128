"""The edge of the API: every request gets an id, every answer its safe headers, and no exception gets out."""

from __future__ import annotations

import itertools
from contextlib import AbstractContextManager, nullcontext

from duly.core.errors import DulyError
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.tracing import Tracing

from .auth.cors import Cors
from .auth.guard import Guard
from .hosts import Hosts, is_from_other_origin
from .http import REQUEST_ID, Gone, Headers, Message, Receive, Scope, Send, send_internal, send_problem
from .problems import FORBIDDEN, MISDIRECTED, given_id, problem

_TRACE_HEADERS = frozenset({b"traceparent", b"tracestate"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
]
_DEFAULTS: Headers = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


class Edge:
    """ASGI around ASGI. An ``X-Request-ID`` that came is answered; otherwise one is made."""

    def __init__(
        self,
        inner: object,
        *,
        clock: Clock,
        cors: Cors,
        guard: Guard,
        hosts: Hosts | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._inner = inner
        self._tracing = tracing
        self._cors = cors
        self._hosts = hosts
        self._guard = guard
        # Ids of requests need not be guarded, only told apart: one drawn for the process, then a count.
        self._process = Chance().id(clock)
        self._count = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)  # type: ignore[operator]
            return
        request_id = given_id(scope["headers"]) or f"{self._process}-{next(self._count):x}"
        scope[REQUEST_ID] = request_id
        started = False
        origin = self._cors.allows(scope)

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers: Headers = list(message.get("headers", ()))
                names = {name for name, _ in headers}
                headers += [(name, value) for name, value in _DEFAULTS if name not in names]
                shared = [] if origin is None else self._cors.headers(origin)
                message["headers"] = [*headers, *_HEADERS, *shared, (b"x-request-id", request_id.encode())]
            await send(message)

        if self._hosts is not None and self._hosts.refuses_host(scope):
            detail = (
                "this server answers to localhost, loopback addresses and its own address only; the setting"
                " api.allowed_hosts, or hosts= of a mounted application, adds names"
            )
            await send_problem(send_with_headers, scope, problem(MISDIRECTED, "HOST_NOT_ALLOWED", detail))
            return
        if origin is not None and self._cors.is_preflight(scope):
            await self._cors.answer_preflight(send_with_headers)
            return
        if origin is None and scope["method"] not in _SAFE_METHODS and await self._is_cross_site(scope):
            # Only browsers send these headers: a page of another site must not change anything here.
            detail = "a browser sent this from another site; ask from a program, or from a page of this server"
            await send_problem(send_with_headers, scope, problem(FORBIDDEN, "CROSS_SITE_REQUEST", detail))
            return
        try:
            with self._trace_of(scope):
                await self._inner(scope, receive, send_with_headers)  # type: ignore[operator]
        except Gone:
            return
        except Exception as error:
            if started:
                raise
            await send_internal(send_with_headers, scope, error)

    def _trace_of(self, scope: Scope) -> AbstractContextManager[None]:
        """The trace that the request belongs to, where somebody traces."""
        if self._tracing is None:
            return nullcontext()
        return self._tracing.arriving(
            {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _TRACE_HEADERS}
        )

    async def _is_cross_site(self, scope: Scope) -> bool:
        """Whether a page of another site sent it; while no credential is needed also one of another port."""
        if (b"sec-fetch-site", b"cross-site") in scope["headers"]:
            return True
        if self._hosts is not None and self._hosts.refuses_origin(scope):
            return True
        if not is_from_other_origin(scope):
            return False
        try:
            return await self._guard.is_open()
        except DulyError:
            return True
