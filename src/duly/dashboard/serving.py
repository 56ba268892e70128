"""A request for a page in, HTML out: who asks, what they may, the parts that are wanted, and errors as pages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qs

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from duly.api.auth.guard import Guard, LocalOnly
from duly.api.http import REQUEST_ID
from duly.api.problems import FORBIDDEN, TOO_LARGE, UNREADABLE, problem_of
from duly.api.replies import Refused
from duly.core.credential import ANYBODY, Scope
from duly.core.errors import DulyError, OutcomeUnknown, StoreError

from .memory import Memory
from .page import Action, Form, Page, Part, Shown, Values, View
from .rendering import BACK, TOKEN, Around, Renderer
from .sessions import THEME, Sessions, cookies_of

DEADLINE: Final = 30.0
FORM_LIMIT: Final = 1024 * 1024
FIELDS_LIMIT: Final = 2000
WANTED: Final = "x-duly-parts"
"""The header by which an open page asks for parts of itself."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'"
)
_STALE_FORM = (
    "nothing was done: this form was made before you logged in or before the server was started anew."
    " Load its page again, and send it once more"
)
_log = logging.getLogger("duly.dashboard")


class Desk:
    """Serves the pages of one app."""

    def __init__(self, guard: Guard, sessions: Sessions, renderer: Renderer, pages: Sequence[Page]) -> None:
        self.guard = guard
        self.sessions = sessions
        self.renderer = renderer
        self._pages = pages
        self._memory = Memory()

    async def show(self, request: Request, page: Page) -> Response:
        """A page, or the parts of it that are asked for."""
        wanted = request.headers.get(WANTED)
        try:
            async with asyncio.timeout(DEADLINE):
                view = await self.view(request, page.scope)
                allowed = [part for part in page.parts if view.may(part.scope)]
                if wanted is not None:
                    names = wanted.split(",")
                    return await self._parts(request, page, view, [part for part in allowed if part.name in names])
                return await self._page(request, page, view, await _load(view, allowed), allowed)
        except (Refused, DulyError, TimeoutError) as error:
            return self.refusal(request, error, fragment=wanted is not None)

    async def act(self, request: Request, action: Action) -> Response:
        """What a form asks for, then the page it leads to."""
        back: str | None = None
        try:
            form = await read_form(request)
            back = _back(form)
            async with asyncio.timeout(DEADLINE):
                view = await self.view(request, action.scope)
                if not self.sessions.is_token(request.scope, form.get(TOKEN)):
                    raise Refused(FORBIDDEN, "FORBIDDEN", _STALE_FORM)
                try:
                    done = await action.run(view, form)
                except DulyError as error:
                    if back is None:
                        raise
                    said = self.sessions.say(request.scope, told(error), wrong=True)
                    return redirect(view.base + back, said)
                if isinstance(done, Shown):
                    return await self._again(request, done, view)
                said = self.sessions.say(request.scope, done.said) if done.said else ""
                return redirect(view.url(done.to, **done.query), said)
        except (Refused, DulyError, TimeoutError) as error:
            return self.refusal(request, error, back=back)

    async def view(self, request: Request, scope: Scope) -> View:
        """The request as a page sees it; refuses whoever may not."""
        caller = await self.sessions.caller(request.scope, scope)
        path = path_of(request)
        return View(
            app=self.guard.app_for(caller),
            caller=caller,
            path=path,
            base=base_of(path),
            query=dict(request.query_params),
            refs=request.path_params,
            repeated={name: request.query_params.getlist(name) for name in request.query_params},
            memory=self._memory,
        )

    def around(self, request: Request, view: View | None) -> Around:
        """What stands around a page, for whoever looks."""
        navigation = [] if view is None else [
            (page.label, page.path) for page in self._pages if page.label is not None and view.may(page.scope)
        ]  # fmt: skip
        theme = cookies_of(request.scope).get(THEME, "")
        return Around(
            navigation=navigation,
            token=self.sessions.token(request.scope),
            said=self.sessions.said(request.scope),
            theme=theme if theme in ("light", "dark") else "",
            session=self.sessions.of(request.scope) is not None,
        )

    def refusal(
        self, request: Request, error: Exception, *, fragment: bool = False, back: str | None = None
    ) -> Response:
        """An error as a page; who has to say who they are is led to the login.

        ``back`` is the page that a form was on, below the root: from the error, or the login, the way leads there.
        """
        status, detail = _words(error, request)
        if fragment:
            return Response(status_code=status)
        path = path_of(request)
        nobody = View(app=self.guard.app_for(ANYBODY), caller=ANYBODY, path=path, base=base_of(path))
        if status == 401 and not isinstance(error, LocalOnly):
            if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
                # A link from another site brings no strict cookie along; the same page asked for from here does.
                return self.html(self.renderer.plain("again.html", nobody, {}, self.around(request, None)), 200)
            here = path + (f"?{request.url.query}" if request.url.query else "")
            return redirect(nobody.url("/login", to=here if request.method == "GET" else f"/{back or ''}"))
        values = {
            "title": f"{status}",
            "status": status,
            "detail": detail,
            "request_id": request.scope[REQUEST_ID],
            "back": nobody.base + back if back else None,
        }
        return self.html(self.renderer.plain("error.html", nobody, values, self.around(request, None)), status)

    def html(self, text: str, status: int = 200) -> Response:
        return HTMLResponse(text, status, headers={"content-security-policy": POLICY})

    async def _page(
        self, request: Request, page: Page, view: View, values: Values, allowed: Sequence[Part], status: int = 200
    ) -> Response:
        around = self.around(request, view)
        answer = self.html(self.renderer.page(page, view, values, around, allowed), status)
        if around.said is not None:
            answer.headers.append("set-cookie", self.sessions.unsay(request.scope))
        return answer

    async def _parts(self, request: Request, page: Page, view: View, parts: Sequence[Part]) -> Response:
        rendered = self.renderer.parts(page, view, await _load(view, parts), self.around(request, view), parts)
        return Response(msgspec.json.encode(rendered), media_type="application/json")

    async def _again(self, request: Request, done: Shown, view: View) -> Response:
        allowed = [part for part in done.page.parts if view.may(part.scope)]
        values = {**await _load(view, allowed), **done.values}
        return await self._page(request, done.page, view, values, allowed, done.status)


def path_of(request: Request) -> str:
    """The path below the dashboard's root."""
    return request.scope["path"].removeprefix(request.scope.get("root_path", "")) or "/"


def base_of(path: str) -> str:
    """The way from a path to the root, as a relative link: right under any prefix, also one that a proxy takes off."""
    return "../" * (path.count("/") - 1) or "./"


def told(error: DulyError) -> str:
    """An error as the API says it."""
    _, document = problem_of(error)
    return str(document["detail"])


def redirect(to: str, cookie: str = "") -> Response:
    """Lead somewhere, with a cookie."""
    headers = {"location": to}
    if cookie:
        headers["set-cookie"] = cookie
    return Response(status_code=303, headers=headers)


async def _load(view: View, parts: Sequence[Part]) -> Values:
    values: dict[str, object] = {}
    for part in parts:
        values.update(await part.load(view))
    return values


async def read_form(request: Request) -> Form:
    """What a form sent, within bounds."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_LIMIT:
            raise Refused(TOO_LARGE, "PAYLOAD_TOO_LARGE", f"the form is larger than {FORM_LIMIT} bytes; send less")
    try:
        values = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_LIMIT)
    except ValueError:
        raise Refused(UNREADABLE, "INVALID_REQUEST", "the form cannot be read; load the page again") from None
    # A browser sends the lines of a text area with CRLF, whatever was typed.
    return Form(values={name: [one.replace("\r\n", "\n") for one in given] for name, given in values.items()})


def _back(form: Form) -> str | None:
    """The page that a form was on: a plain path of ours, never another site's; None if it names no such page."""
    back = form.get(BACK).partition("#")[0]
    first = back.partition("?")[0].partition("/")[0]
    return back if back.isprintable() and not back.startswith(("/", "\\")) and ":" not in first else None


def _words(error: Exception, request: Request) -> tuple[int, str]:
    if isinstance(error, Refused):
        return error.problem["status"], error.problem["detail"]
    if isinstance(error, TimeoutError):
        error = OutcomeUnknown("the request reached its deadline")
    assert isinstance(error, DulyError)
    status, document = problem_of(error)
    if isinstance(error, StoreError):
        _log.warning("the store did not answer, request %s: %s", request.scope[REQUEST_ID], error)
    elif status >= 500:
        _log.error("an error that nobody foresaw, request %s", request.scope[REQUEST_ID], exc_info=error)
    return status, document["detail"]
