"""The way in and out: a key for a session, and its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from duly.api.auth.guard import LocalOnly
from duly.api.replies import Refused
from duly.core.credential import ANYBODY
from duly.core.errors import DulyError

from .page import View
from .serving import Desk, base_of, path_of, read_form, redirect

Handler = Callable[[Request], Awaitable[Response]]


def login_page(desk: Desk) -> Handler:
    async def show(request: Request) -> Response:
        try:
            await desk.guard.check_local(request.scope)
        except (LocalOnly, DulyError) as error:
            return desk.refusal(request, error)
        return _page(desk, request, to=request.query_params.get("to", ""))

    return show


def login(desk: Desk) -> Handler:
    async def begin(request: Request) -> Response:
        try:
            form = await read_form(request)
            to = form.get("to")
            cookie = await desk.sessions.begin(request.scope, form.get("key").strip())
        except (Refused, DulyError) as error:
            if (
                isinstance(error, LocalOnly)
                or not isinstance(error, Refused)
                or error.problem["status"] not in (401, 403)
            ):
                return desk.refusal(request, error)
            words = "This key is not good: it is unknown, revoked or expired, or may not read."
            return _page(desk, request, to=to, wrong=words, status=401)
        # Only a path of ours: never //somewhere, nor a scheme.
        target = to if to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() else "/"
        return redirect("./" + target.lstrip("/"), cookie or "")

    return begin


def logout(desk: Desk) -> Handler:
    async def end(request: Request) -> Response:
        try:
            form = await read_form(request)
        except Refused as error:
            return desk.refusal(request, error)
        if not desk.sessions.is_token(request.scope, form.get("token")):
            return redirect("./")
        return redirect("./login", desk.sessions.end(request.scope))

    return end


def _page(desk: Desk, request: Request, *, to: str, wrong: str = "", status: int = 200) -> Response:
    path = path_of(request)
    view = View(app=desk.guard.app_for(ANYBODY), caller=ANYBODY, path=path, base=base_of(path))
    values = {"title": "Log in", "to": to, "wrong": wrong}
    return desk.html(desk.renderer.plain("login.html", view, values, desk.around(request, None)), status)
