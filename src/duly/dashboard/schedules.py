"""All schedules: searched, narrowed, and changed many at a time."""

from __future__ import annotations

from duly.api.operations import schedules

from .page import RUNS, SCHEDULES, Page, Part, Values, View


async def _rows(view: View) -> Values:
    return {"page": await schedules.list_schedules(view.app, view.query)}


PAGE = Page(
    path="/schedules",
    label="Schedules",
    title="Schedules",
    template="schedules.html",
    parts=(Part(name="rows", load=_rows, on=(RUNS, SCHEDULES), every=30),),
)
