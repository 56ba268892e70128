"""The queues: what limits each, what is in it, and a switch."""

from __future__ import annotations

from duly.api.operations import queues
from duly.core.credential import Scope

from .asking import given
from .page import RUNS, Action, Form, Page, Part, Values, View, Went


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
