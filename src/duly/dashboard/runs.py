"""All runs, newest first: narrowed by status, job, workflow and schedule."""

from __future__ import annotations

from duly.api import queries
from duly.api.operations import runs
from duly.core.run import RunStatus

from .asking import asked
from .page import RUNS, Page, Part, Values, View

FILTERS = ("status", "scheduleId", "jobType", "workflow")


async def _rows(view: View) -> Values:
    page = await runs.list_runs(view.app, asked(view, queries.RUNS))
    return {"page": page, "statuses": list(RunStatus), "filters": asked(view, FILTERS)}


PAGE = Page(
    path="/runs",
    label="Runs",
    title="Runs",
    template="runs.html",
    parts=(Part(name="rows", load=_rows, on=(RUNS,)),),
)
