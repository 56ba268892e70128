"""The API as one ASGI application, to be served by itself or mounted inside another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Path

from duly.app import Duly
from duly.app.watching import tracing_of

from .auth.cors import Cors
from .auth.guard import Guard, guard_of
from .edge import Edge
from .hosts import Hosts
from .http import PREFIX, REQUEST_ID, Endpoint, Method
from .once import Once
from .pages import page_routes
from .problems import MEDIA_TYPE, NOT_ALLOWED, NOT_FOUND, occurred, problem
from .routes import ROUTES

DEADLINE = 30.0
Missing = Callable[[Request, HTTPException], Response]
"""What a browser is shown where there is no such page, or none that takes its method."""


def application(
    app: Duly,
    *,
    deadline: float = DEADLINE,
    routes: Sequence[BaseRoute] = (),
    hosts: Hosts | None = None,
    guard: Guard | None = None,
    open: bool = False,
    cors: Cors | None = None,
    missing: Missing | None = None,
) -> Starlette:
    """The REST API of an app under ``/api/v1``, its document at ``/openapi.json``, its page at ``/docs``.

    It neither opens nor starts the app: whoever does that serves it as well. ``deadline`` is how many seconds one
    request may take; ``routes`` are served beside, before its own pages, with the same care for headers and errors.
    ``hosts`` are the names that it answers to: by default all, once callers need a credential. ``guard`` knows the
    callers; by default they need an API key, and only this machine is served until the first key exists. ``open=True``
    serves everybody until then, under the names of ``hosts`` and loopback names. ``cors`` are pages of other sites that
    may ask. ``missing`` is what a browser is shown where there is nothing; without it the problem.
    """
    hosts, guard = guard_of(app, hosts, guard, open=open)
    methods: dict[str, dict[str, Method]] = defaultdict(dict)
    for route in ROUTES:
        methods[PREFIX + route.path][route.method] = route.served
    once = Once()
    paths: list[BaseRoute] = [
        Path(path, Endpoint(guard, served, deadline=deadline, once=once)) for path, served in methods.items()
    ]

    async def not_served(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if missing is not None and _is_for_a_browser(request):
            return missing(request, error)
        return _not_served(request, error)

    api = Starlette(
        routes=[*paths, *routes, *page_routes()],
        middleware=[
            Middleware(Edge, clock=app.clock, hosts=hosts, guard=guard, cors=cors or Cors(), tracing=tracing_of(app))
        ],
        exception_handlers={HTTPException: not_served},
    )
    api.router.redirect_slashes = False  # it would answer with a link made from the Host header
    return api


def _is_for_a_browser(request: Request) -> bool:
    below = request.url.path.removeprefix(request.scope.get("root_path", ""))
    return "text/html" in request.headers.get("accept", "") and not below.startswith("/api/")


def _not_served(request: Request, error: HTTPException) -> Response:
    """Where no route fits: the problem of it."""
    if error.status_code == 405:
        document = problem(NOT_ALLOWED, "METHOD_NOT_ALLOWED", f"{request.method[:20]} is not allowed here")
    else:
        root = request.scope.get("root_path", "")
        document = problem(NOT_FOUND, "NOT_FOUND", f"there is nothing here; {root}/docs tells what there is")
    body = msgspec.json.encode(occurred(document, request.scope[REQUEST_ID]))
    return Response(body, document["status"], error.headers, media_type=MEDIA_TYPE)
