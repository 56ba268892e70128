"""One run: its attempts and steps on one axis of time, what went in and came out, and what can be done with it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from duly.api.operations import dead, runs, schedules, workflows
from duly.core.credential import Scope
from duly.core.errors import Invalid, NotFound, PayloadTooLarge
from duly.core.run import RunStatus

from .form import Wrong, json_of
from .page import RUNS, Action, Form, Page, Part, Shown, Values, View, Went
from .serving import told
from .timeline import timeline
from .words import pretty


async def _facts(view: View) -> Values:
    run = await runs.get_run(view.app, view.refs["ref"])
    steps = (await workflows.list_steps(view.app, run["id"]))["items"] if run["workflow"] is not None else []
    steps.sort(key=lambda step: (step["position"] < 0, step["position"]))  # undos come after what they undo
    now = datetime.fromtimestamp(view.app.clock.now() / 1000, UTC)
    return {
        "run": run,
        "steps": steps,
        "logs": [(step, line) for step in steps for line in step["log"]],
        "timeline": timeline(run, steps, now),
        "schedule": await _schedule(view, run["scheduleId"]),
        "is_open": not RunStatus(run["status"]).terminal,
        "is_dead": run["status"] == "failed" and run["acknowledgedAt"] is None,
    }


async def _schedule(view: View, id: str | None) -> Any:
    """The schedule, unless it is deleted."""
    if id is None:
        return None
    try:
        return await schedules.get_schedule(view.app, id)
    except NotFound:
        return None


async def _ask(view: View) -> Values:
    run = await runs.get_run(view.app, view.refs["ref"])
    return {"acted": run, "payload": pretty(run["payload"]), "wrong": Wrong()}


async def _cancel(view: View, form: Form) -> Went:
    run = await runs.cancel_run(view.app, view.refs["ref"])
    said = "Cancelled" if run["status"] == "cancelled" else "It was told to stop"
    return Went(to=f"/runs/{run['id']}", said=said)


async def _redrive(view: View, form: Form) -> Went | Shown:
    run = await runs.get_run(view.app, view.refs["ref"])
    body: dict[str, Any] = {"force": form.get("force") == "on"}
    wrong = Wrong()
    if typed := form.get("payload").strip():
        payload = json_of(typed, "payload", wrong)
        if payload != run["payload"]:
            body["payload"] = payload
    try:
        if not wrong:
            goes = await dead.redrive_run(view.app, run["id"], body, by=view.caller.name)
            said = "It goes again" if goes["id"] == run["id"] else "It goes again with the other payload, as this run"
            return Went(to=f"/runs/{goes['id']}", said=said)
    except (Invalid, PayloadTooLarge) as error:
        wrong.add("payload", told(error))
    return Shown(page=REDRIVE, values={"wrong": wrong, "payload": typed})


async def _acknowledge(view: View, form: Form) -> Went:
    run = await runs.get_run(view.app, view.refs["ref"])
    await dead.acknowledge_dead_letters(view.app, {"ids": [run["id"]]})
    return Went(to=f"/runs/{run['id']}", said="It is no dead letter any more")


PAGE = Page(
    path="/runs/{ref}",
    template="one_run.html",
    title=lambda values: f"Run of {values['run']['workflow'] or values['run']['jobType']}",
    parts=(Part(name="facts", load=_facts, on=(RUNS,)),),
    actions=(
        Action(path="/runs/{ref}/cancel", run=_cancel, scope=Scope.WRITE),
        Action(path="/runs/{ref}/acknowledge", run=_acknowledge, scope=Scope.WRITE),
    ),
)
REDRIVE = Page(
    path="/runs/{ref}/redrive",
    template="redrive.html",
    title="Redrive",
    parts=(Part(name="ask", load=_ask),),
    actions=(Action(path="/runs/{ref}/redrive", run=_redrive, scope=Scope.TRIGGER),),
    scope=Scope.TRIGGER,
)
