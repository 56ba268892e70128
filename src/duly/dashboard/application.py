"""The dashboard as one ASGI application, or as routes beside the API's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from duly.api.auth.cors import Cors
from duly.api.auth.guard import Guard, guard_of
from duly.api.edge import Edge
from duly.api.hosts import Hosts
from duly.api.problems import NOT_ALLOWED, NOT_FOUND
from duly.api.replies import Refused
from duly.app import Duly

from .live import Live
from .login import login, login_page, logout
from .pages import PAGES
from .rendering import Renderer
from .serving import Desk
from .sessions import Sessions
from .static_files import StaticFiles

Handler = Callable[[Request], Awaitable[Response]]
_ONLY_SENT_TO = "there is nothing to see at this address: a form sends to it"


def dashboard(
    app: Duly,
    *,
    guard: Guard | None = None,
    secret: str | None = None,
    hosts: Hosts | None = None,
    open: bool = False,
) -> Starlette:
    """The dashboard of an app, to be mounted in another application: ``web.mount("/duly", dashboard(app))``.

    It neither opens nor starts the app. People log in with an API key. Until the first key exists only this machine is
    served; ``open=True`` serves everybody until then. Processes that share a ``secret`` of 32 or more characters know
    each other's logins; without one a login ends with the process. ``hosts`` are the names that it answers to: by
    default all, once people have to log in.
    """
    hosts, guard = guard_of(app, hosts, guard, open=open)
    desk = make_desk(app, guard, secret=secret)

    async def not_served(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return missing(desk, request, error)

    served = Starlette(
        routes=dashboard_routes(desk),
        middleware=[Middleware(Edge, clock=app.clock, hosts=hosts, guard=guard, cors=Cors())],
        exception_handlers={HTTPException: not_served},
    )
    served.router.redirect_slashes = False
    return served


def make_desk(app: Duly, guard: Guard, *, secret: str | None = None) -> Desk:
    """What serves the pages of an app."""
    return Desk(guard, Sessions(app, guard, secret), Renderer(StaticFiles(), app.clock), PAGES)


def dashboard_routes(desk: Desk) -> list[BaseRoute]:
    """Its routes, for an application that has an edge already."""
    routes: list[BaseRoute] = [
        Route("/static/{version}/{name}", desk.renderer.files.serve),
        Route("/login", login_page(desk), methods=["GET"]),
        Route("/login", login(desk), methods=["POST"]),
        Route("/logout", logout(desk), methods=["POST"]),
        Route("/live", Live(desk)),
    ]
    for page in PAGES:
        routes += [Route(action.path, _to(desk.act, action), methods=["POST"]) for action in page.actions]
        routes.append(Route(page.path, _to(desk.show, page), methods=["GET"]))
    return routes


def missing(desk: Desk, request: Request, error: HTTPException) -> Response:
    """What somebody is shown who asks for a page that there is not, or for one that is only sent to."""
    if error.status_code != 405:
        return desk.refusal(request, Refused(NOT_FOUND, "NOT_FOUND", "there is no such page"))
    answer = desk.refusal(request, Refused(NOT_ALLOWED, "METHOD_NOT_ALLOWED", _ONLY_SENT_TO))
    answer.headers.update(error.headers or {})
    return answer


def _to(serve: Callable[..., Awaitable[Response]], what: object) -> Handler:
    async def handle(request: Request) -> Response:
        return await serve(request, what)

    return handle
