"""The first page: what is late, what fails, what comes next."""

from __future__ import annotations

from duly.api.operations import overlooking

from .page import RUNS, SCHEDULES, Page, Part, Values, View


async def _coming(view: View) -> Values:
    page = await overlooking.list_coming(view.app, {"limit": "10"})
    return {"coming": page["items"]}


PAGE = Page(
    path="/",
    label="Overview",
    title="Overview",
    template="overview.html",
    parts=(Part(name="coming", load=_coming, on=(RUNS, SCHEDULES), every=30),),
)
