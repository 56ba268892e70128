"""One schedule: what it did and will do, window by window, why it is as it is, and what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duly.api.operations import controlling, overlooking, schedules
from duly.api.shapes import ScheduleAnswer
from duly.core.credential import Scope
from duly.core.errors import Conflict, DulyError, Invalid, PayloadTooLarge
from duly.core.timing import explain
from duly.runtime.chance import Chance

from .asking import given, instant_in
from .copying import Copies, copies, essential
from .form import Wrong, body_of, json_of, number, values_of
from .page import RUNS, SCHEDULES, Action, Form, Page, Part, Shown, Values, View, Went
from .policies import policies
from .serving import told
from .strip import strip
from .words import plural, pretty

SHOWN_RUNS = 20
STRIP_PAST, STRIP_NEXT = 40, 14
_FIRST_WINDOWS = 12
"""Windows of a dry run that are listed; the rest is counted."""


async def _facts(view: View) -> Values:
    found = await schedules.find(view.app, view.refs["ref"])
    schedule = await schedules.get_schedule(view.app, found.id)
    runs = await schedules.list_executions(view.app, found.id, {"limit": str(STRIP_PAST)})
    upcoming = await schedules.upcoming(view.app, found.id, {"count": str(STRIP_NEXT)})
    return {
        "schedule": schedule,
        "explanation": explain(found.definition.timing),
        "days": strip(runs["items"], upcoming["items"], schedule["timezone"]),
        "upcoming": upcoming["items"],
    }


async def _about(view: View) -> Values:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    return {"about": schedule, "policies": policies(schedule)}


async def _runs(view: View) -> Values:
    runs = await schedules.list_executions(view.app, view.refs["ref"], {"limit": str(SHOWN_RUNS)})
    return {"runs": runs["items"], "more_runs": runs["nextCursor"] is not None}


async def _changes(view: View) -> Values:
    query = {"limit": "10"} | given({"cursor": view.query.get("changes")})
    return {"changes": await overlooking.list_changes(view.app, view.refs["ref"], query)}


async def _actions(view: View) -> Values:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    typed = {name: view.query.get(name, "") for name in ("from", "to", "ratePerSecond")}
    return {
        "acted": schedule,
        "typed": typed,
        "backfill": await _dry_run(view, schedule, typed) if typed["from"] and view.may(Scope.TRIGGER) else None,
        "request": Chance().id(view.app.clock),
        "copied": _copies(view, schedule),
    }


async def _dry_run(view: View, schedule: ScheduleAnswer, typed: Mapping[str, str]) -> dict[str, Any]:
    """The windows that a backfill would run, or why it would not."""
    try:
        found = await controlling.backfill(view.app, schedule["id"], {**_range(schedule, typed), "dryRun": True})
    except (Invalid, Conflict) as error:
        return {"error": told(error)}
    windows: Sequence[Any] = found["items"]
    shown = windows[:_FIRST_WINDOWS]
    return {"error": None, "count": len(windows), "windows": shown, "left": len(windows) - len(shown)}


def _range(schedule: ScheduleAnswer, typed: Mapping[str, str]) -> dict[str, Any]:
    body: dict[str, Any] = {name: instant_in(schedule["timezone"], typed[name].strip()) for name in ("from", "to")}
    if rate := typed["ratePerSecond"].strip():
        body["ratePerSecond"] = number(rate)
    return body


def _copies(view: View, schedule: ScheduleAnswer) -> Copies | None:
    wrong = Wrong()
    body = body_of(values_of(schedule), wrong)
    try:
        return None if wrong else copies(essential(body, view.app.settings), view.app.settings)
    except DulyError:
        return None


async def _ask(view: View) -> Values:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    # One form makes one run, however often it is sent.
    request = Chance().id(view.app.clock)
    return {
        "acted": schedule, "payload": pretty(schedule["jobPayload"]), "request": request, "wrong": Wrong(),
        "force": False,
    }  # fmt: skip


async def _trigger(view: View, form: Form) -> Went | Shown:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    body: dict[str, Any] = {"force": form.get("force") == "on"}
    wrong = Wrong()
    if typed := form.get("payload").strip():
        payload = json_of(typed, "payload", wrong)
        if payload != schedule["jobPayload"]:
            body["payload"] = payload
    try:
        if not wrong:
            id = form.get("request") or None
            run = await schedules.trigger_schedule(view.app, schedule["id"], body, id=id)
            return Went(to=f"/runs/{run['id']}", said="Triggered: this is the run")
    except (Invalid, PayloadTooLarge) as error:
        wrong.add("payload", told(error))
    return Shown(page=TRIGGER, values={"wrong": wrong, "payload": typed, "force": body["force"]})


async def _pause(view: View, form: Form) -> Went:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    until = form.get("until").strip()
    body = given({"reason": form.get("reason").strip(), "until": until and instant_in(schedule["timezone"], until)})
    await schedules.pause_schedule(view.app, schedule["id"], body, by=view.caller.name)
    return Went(to=f"/schedules/{schedule['id']}", said=f"{schedule['name']} is paused")


async def _resume(view: View, form: Form) -> Went:
    body = {"catchUp": form.get("catchUp") == "on"}
    schedule = await schedules.resume_schedule(view.app, view.refs["ref"], body, by=view.caller.name)
    return Went(to=f"/schedules/{schedule['id']}", said=f"{schedule['name']} fires again")


async def _backfill(view: View, form: Form) -> Went:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    body = _range(schedule, {name: form.get(name) for name in ("from", "to", "ratePerSecond")})
    body["force"] = form.get("force") == "on"
    id = form.get("request") or None
    made = await controlling.backfill(view.app, schedule["id"], body, by=view.caller.name, id=id)
    many: int = made["matched"]  # type: ignore[typeddict-item]  # an operation, because this is no dry run
    return Went(to=f"/schedules/{schedule['id']}", said=f"{many} {plural(many, 'window')} will run, oldest first")


async def _delete(view: View, form: Form) -> Went:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    query = {"cancelRunning": "true"} if form.get("cancelRunning") == "on" else {}
    await controlling.remove_schedule(view.app, schedule["id"], query, by=view.caller.name)
    return Went(to="/schedules", said=f"{schedule['name']} is deleted; its runs are kept")


PAGE = Page(
    path="/schedules/{ref}",
    template="one_schedule.html",
    title=lambda values: str(values["schedule"]["name"]),
    parts=(
        Part(name="facts", load=_facts, on=(SCHEDULES, RUNS), every=60),
        Part(name="about", load=_about, on=(SCHEDULES,)),
        Part(name="runs", load=_runs, on=(RUNS,)),
        Part(name="changes", load=_changes, on=(SCHEDULES,)),
        Part(name="actions", load=_actions),
    ),
    actions=(
        Action(path="/schedules/{ref}/pause", run=_pause, scope=Scope.WRITE),
        Action(path="/schedules/{ref}/resume", run=_resume, scope=Scope.WRITE),
        Action(path="/schedules/{ref}/backfill", run=_backfill, scope=Scope.TRIGGER),
        Action(path="/schedules/{ref}/delete", run=_delete, scope=Scope.WRITE),
    ),
)
TRIGGER = Page(
    path="/schedules/{ref}/trigger",
    template="trigger.html",
    title=lambda values: f"Trigger {values['acted']['name']}",
    parts=(Part(name="ask", load=_ask),),
    actions=(Action(path="/schedules/{ref}/trigger", run=_trigger, scope=Scope.TRIGGER),),
    scope=Scope.TRIGGER,
)
