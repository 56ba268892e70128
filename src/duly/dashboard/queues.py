"""The queues: what limits each, what is in it, a switch, and a form for its limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duly.api.operations import queues
from duly.core.credential import Scope
from duly.core.errors import Invalid

from .asking import given
from .form import number
from .page import RUNS, Action, Form, Page, Part, Shown, Values, View, Went
from .serving import told

_TYPED = ("maxRunning", "limit", "periodSeconds", "fair", "newestFirst")


async def _rows(view: View) -> Values:
    return {"queues": (await queues.list_queues(view.app))["items"]}


async def _pause(view: View, form: Form) -> Went:
    queue = await queues.pause_queue(
        view.app, form.get("queue"), given({"reason": form.get("reason").strip()}), by=view.caller.name
    )
    return Went(to="/queues", said=f"Nothing of {queue['name']} starts until it is resumed")


async def _resume(view: View, form: Form) -> Went:
    queue = await queues.resume_queue(view.app, form.get("queue"))
    return Went(to="/queues", said=f"{queue['name']} goes on")


async def _limits(view: View) -> Values:
    queue = await queues.get_queue(view.app, view.query.get("queue", "default"))
    rate = queue["rateLimit"]
    present = {
        "maxRunning": queue["maxRunning"],
        "limit": rate and rate["limit"],
        "periodSeconds": rate and f"{rate['periodMs'] / 1000:g}",
        "fair": "on" if queue["fair"] else None,
        "newestFirst": "on" if queue["newestFirst"] else None,
    }
    return {"name": queue["name"], "typed": {name: present[name] or "" for name in _TYPED}, "wrong": ""}


async def _limit(view: View, form: Form) -> Went | Shown:
    typed = {name: form.get(name).strip() for name in _TYPED}
    try:
        queue = await queues.put_queue(view.app, view.query.get("queue", "default"), _body(typed))
    except Invalid as error:
        return Shown(page=LIMITS, values={"typed": typed, "wrong": told(error)})
    return Went(to="/queues", said=f"The limits of {queue['name']} are changed")


def _body(typed: Mapping[str, str]) -> dict[str, Any]:
    """What the API is asked for; what is no number is handed on, and the API says what is wrong with it."""
    body: dict[str, Any] = {"fair": typed["fair"] == "on", "newestFirst": typed["newestFirst"] == "on"}
    if typed["maxRunning"]:
        body["maxRunning"] = number(typed["maxRunning"])
    if typed["limit"] or typed["periodSeconds"]:
        seconds = number(typed["periodSeconds"])
        period = seconds if isinstance(seconds, str) else round(seconds * 1000)
        body["rateLimit"] = {"limit": number(typed["limit"]), "periodMs": period}
    return body


PAGE = Page(
    path="/queues",
    label="Queues",
    title="Queues",
    template="queues.html",
    parts=(Part(name="rows", load=_rows, on=(RUNS,), least=3),),
    actions=(
        Action(path="/queues/pause", run=_pause, scope=Scope.ADMIN),
        Action(path="/queues/resume", run=_resume, scope=Scope.ADMIN),
    ),
)
LIMITS = Page(
    path="/queues:limits",
    title=lambda values: f"Limits of {values['name']}",
    template="limits.html",
    parts=(Part(name="limits", load=_limits, scope=Scope.ADMIN),),
    actions=(Action(path="/queues:limits", run=_limit, scope=Scope.ADMIN),),
    scope=Scope.ADMIN,
)
