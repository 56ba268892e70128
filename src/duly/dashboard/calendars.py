"""The calendars: the dates on which the schedules that name one do not fire, and a form for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duly.api import queries
from duly.api.operations import calendars
from duly.core.credential import Scope
from duly.core.errors import Invalid, NotFound, RevisionStale

from .asking import asked
from .page import Action, Form, Page, Part, Shown, Values, View, Went
from .serving import told

_TYPED = ("name", "description", "dates", "ranges", "yearly", "revision")


async def _rows(view: View) -> Values:
    today = view.app.clock.now() // 86_400_000
    return {"page": await calendars.list_calendars(view.app, asked(view, queries.CALENDARS)), "today": today}


async def _form(view: View) -> Values:
    """The form of the calendar that the query names, or of a new one."""
    name = view.query.get("name", "")
    # Revision 0 is of a calendar that is not there yet: a new one must not become another's.
    typed = {**dict.fromkeys(_TYPED, ""), "revision": "0"}
    if name:
        found = await calendars.get_calendar(view.app, name, asked(view, ("tenant",)))
        typed = {
            "name": name,
            "description": found["description"] or "",
            "dates": "\n".join(found["dates"]),
            "ranges": "\n".join(f"{one['from']} to {one['to']}" for one in found["ranges"]),
            "yearly": "\n".join(found["yearly"]),
            "revision": str(found["revision"]),
        }
    return {"name": name, "tenant": view.query.get("tenant", ""), "typed": typed, "wrong": ""}


async def _save(view: View, form: Form) -> Went | Shown:
    typed = {name: form.get(name).strip() for name in _TYPED}
    name = view.query.get("name") or typed["name"]
    try:
        await calendars.put_calendar(
            view.app, name, _body(typed), asked(view, ("tenant",)), _revision(form), by=view.caller.name
        )
    except (Invalid, NotFound, RevisionStale) as error:
        return Shown(page=EDIT, values={"typed": typed, "wrong": told(error)})
    return Went(to="/calendars", said=f"{name} is saved")


async def _delete(view: View, form: Form) -> Went:
    name = view.query.get("name", "")
    await calendars.delete_calendar(view.app, name, asked(view, ("tenant",)), _revision(form))
    return Went(to="/calendars", said=f"{name} is deleted")


def _revision(form: Form) -> int:
    text = form.get("revision")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _body(typed: Mapping[str, str]) -> dict[str, Any]:
    """What the API is asked for: a date of each word, a range of each line; the API says what is none."""
    ranges = [line.partition(" to ") for line in typed["ranges"].splitlines() if line.strip()]
    return {
        "description": typed["description"],
        "dates": typed["dates"].replace(",", " ").split(),
        "yearly": typed["yearly"].replace(",", " ").split(),
        "ranges": [{"from": first.strip(), "to": last.strip()} for first, _, last in ranges],
    }


PAGE = Page(
    path="/calendars",
    label="Calendars",
    title="Calendars",
    template="calendars.html",
    parts=(Part(name="rows", load=_rows),),
)
EDIT = Page(
    path="/calendars:edit",
    title=lambda values: f"Calendar {values['name']}" if values["name"] else "New calendar",
    template="calendar.html",
    parts=(Part(name="form", load=_form, scope=Scope.ADMIN),),
    actions=(
        Action(path="/calendars:edit", run=_save, scope=Scope.ADMIN),
        Action(path="/calendars:delete", run=_delete, scope=Scope.ADMIN),
    ),
    scope=Scope.ADMIN,
)
