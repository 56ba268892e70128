"""Make a schedule, or change one: with its next windows, its errors and its copies shown while it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from duly.api.operations import schedules
from duly.api.problems import problem_of
from duly.app.watching import live_instances
from duly.core.credential import Scope
from duly.core.errors import DulyError, Invalid, KeyInUse, PayloadTooLarge, RevisionStale
from duly.core.timing.zone import zone_names
from duly.runtime.chance import Chance

from .copying import Copies, copies, essential
from .form import FIELDS, Wrong, body_of, changes_of, place, preview_of, values_of
from .page import Action, Form, Page, Part, Shown, Values, View, Went

_KINDLY = (Invalid, KeyInUse, PayloadTooLarge)
"""Refusals that a person can mend in the form."""

BEFORE = "before"
REVISION = "revision"
REQUEST = "request"
_NEW = {"when": "cron", "timezone": "UTC", "aim": "jobType", "everyMs/unit": "minutes", "weeklyTime/dayOfWeek": "1"}


async def _new(view: View) -> Values:
    values = dict(_NEW)
    if source := view.query.get("like"):
        values |= values_of(await schedules.get_schedule(view.app, source)) | {"key": "", "name": ""}
    values |= {name: text for name, text in view.query.items() if name in FIELDS}
    shown = await _shown(view, values) if source or len(view.query) else {"preview": None, "copied": None}
    return await _around(view) | {"values": values, "wrong": Wrong(), "editing": None, "conflict": None, **shown}


async def _edit(view: View) -> Values:
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    values = values_of(schedule)
    values |= {BEFORE: json.dumps(body_of(values, Wrong())), REVISION: str(schedule["revision"])}
    shown = await _shown(view, values)
    return await _around(view) | {
        "values": values, "wrong": Wrong(), "editing": schedule, "conflict": None, **shown
    }  # fmt: skip


async def _around(view: View) -> dict[str, Any]:
    jobs = (
        {job for instance in await live_instances(view.app) for job in instance.jobs} if view.may(Scope.ADMIN) else ()
    )
    return {"zones": zone_names(), "jobs": sorted(jobs), "request": Chance().id(view.app.clock)}


async def _create(view: View, form: Form) -> Went | Shown:
    values = _typed(form)
    wrong = Wrong()
    body = body_of(values, wrong)
    if not wrong:
        try:
            made = await schedules.create_schedule(view.app, body, id=form.get(REQUEST) or None, by=view.caller.name)
            return Went(to=f"/schedules/{made['id']}", said=f"{made['name']} is made")
        except _KINDLY as error:
            _tell(error, wrong)
    return Shown(page=NEW, values=await _again(view, values, wrong))


async def _change(view: View, form: Form) -> Went | Shown:
    values = _typed(form)
    wrong = Wrong()
    body = body_of(values, wrong)
    schedule = await schedules.get_schedule(view.app, view.refs["ref"])
    before = _before(values)
    changes = changes_of(before, body)
    if not wrong and not changes:
        return Went(to=f"/schedules/{schedule['id']}", said="Nothing was changed")
    conflict = None
    if not wrong:
        try:
            revision = _revision(values)
            made = await schedules.patch_schedule(view.app, schedule["id"], changes, revision, by=view.caller.name)
            return Went(to=f"/schedules/{made['id']}", said=f"{made['name']} is changed")
        except RevisionStale:
            conflict = _conflict(schedule, before, changes)
            values[REVISION] = str(schedule["revision"])
        except _KINDLY as error:
            _tell(error, wrong)
    shown = await _again(view, values, wrong) | {"conflict": conflict}
    return Shown(page=EDIT, values=shown, status=412 if conflict is not None else 422)


def _conflict(
    schedule: Mapping[str, Any], before: Mapping[str, Any], changes: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What somebody else changed meanwhile, and whether it is what is to be changed here too."""
    now = body_of(values_of(schedule), Wrong())
    theirs = changes_of(before, now)
    return [
        {"field": name, "theirs": theirs[name], "mine": changes.get(name), "both": name in changes} for name in theirs
    ]


async def _preview_new(view: View, form: Form) -> Shown:
    return await _previewed(view, form, NEW)


async def _preview_edit(view: View, form: Form) -> Shown:
    return await _previewed(view, form, EDIT)


async def _previewed(view: View, form: Form, page: Page) -> Shown:
    values = _typed(form)
    wrong = Wrong()
    body = body_of(values, wrong)
    try:
        await schedules.check_schedule(view.app, {**body, "name": body.get("name", "x")})
    except _KINDLY as error:
        _tell(error, wrong)
    # What was not written yet is not wrong yet.
    wrong.fields = {name: told for name, told in wrong.fields.items() if values.get(name, "").strip()}
    return Shown(page=page, values=await _again(view, values, wrong), status=200)


async def _again(view: View, values: dict[str, str], wrong: Wrong) -> dict[str, Any]:
    return {"values": values, "wrong": wrong, **await _shown(view, values)}


async def _shown(view: View, values: Mapping[str, str]) -> dict[str, Any]:
    """The next windows and the copies of what is written, as far as it says anything."""
    body = body_of(values, Wrong())
    preview = None
    try:
        preview = await schedules.preview(view.app, preview_of(body))
    except DulyError:
        return {"preview": None, "copied": None}
    return {"preview": preview, "copied": _copies(view, body)}


def _copies(view: View, body: Mapping[str, Any]) -> Copies | None:
    try:
        return copies(essential(body, view.app.settings), view.app.settings)
    except DulyError:
        return None


def _tell(error: DulyError, wrong: Wrong) -> None:
    _, document = problem_of(error)
    where = {"SCHEDULE_KEY_IN_USE": "/key", "PAYLOAD_TOO_LARGE": "/jobPayload"}.get(error.code, "")
    place(document.get("errors") or [{"pointer": where, "detail": document["detail"]}], FIELDS, wrong)


def _typed(form: Form) -> dict[str, str]:
    known = {*FIELDS, BEFORE, REVISION}
    return {name: form.get(name) for name in form.values if name in known}


def _before(values: Mapping[str, str]) -> dict[str, Any]:
    """What the form showed at first, as it says itself; whatever it says, only a change of its own fields follows."""
    try:
        found = json.loads(values.get(BEFORE, ""))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _revision(values: Mapping[str, str]) -> int | None:
    text = values.get(REVISION, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


NEW = Page(
    path="/schedules/new",
    template="editor.html",
    title="New schedule",
    parts=(Part(name="form", load=_new),),
    actions=(
        Action(path="/schedules/new", run=_create, scope=Scope.WRITE),
        Action(path="/schedules/new/preview", run=_preview_new, scope=Scope.WRITE),
    ),
    scope=Scope.WRITE,
)
EDIT = Page(
    path="/schedules/{ref}/edit",
    template="editor.html",
    title=lambda values: f"Edit {values['editing']['name']}",
    parts=(Part(name="form", load=_edit),),
    actions=(
        Action(path="/schedules/{ref}/edit", run=_change, scope=Scope.WRITE),
        Action(path="/schedules/{ref}/edit/preview", run=_preview_edit, scope=Scope.WRITE),
    ),
    scope=Scope.WRITE,
)
