"""What fires next of all schedules, the earliest first."""

from __future__ import annotations

from itertools import groupby

from duly.api import queries
from duly.api.operations import overlooking

from .asking import asked
from .page import SCHEDULES, Page, Part, Values, View


async def _rows(view: View) -> Values:
    page = await overlooking.list_coming(view.app, asked(view, queries.COMING))
    hours = [(hour, list(found)) for hour, found in groupby(page["items"], key=lambda one: one["fireAt"][:13])]
    return {"page": page, "hours": hours, "filters": asked(view, ("owner", "tenant"))}


PAGE = Page(
    path="/upcoming",
    label="Upcoming",
    title="Upcoming",
    template="upcoming.html",
    parts=(Part(name="rows", load=_rows, on=(SCHEDULES,), every=30),),
)
