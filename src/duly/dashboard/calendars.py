"""The calendars: the dates on which the schedules that name one do not fire."""

from __future__ import annotations

from duly.api import queries
from duly.api.operations import calendars

from .asking import asked
from .page import Page, Part, Values, View


async def _rows(view: View) -> Values:
    today = view.app.clock.now() // 86_400_000
    return {"page": await calendars.list_calendars(view.app, asked(view, queries.CALENDARS)), "today": today}


PAGE = Page(
    path="/calendars",
    label="Calendars",
    title="Calendars",
    template="calendars.html",
    parts=(Part(name="rows", load=_rows),),
)
