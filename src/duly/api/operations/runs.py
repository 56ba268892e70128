"""What can be asked about runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from duly.api import queries
from duly.api.answers import attempt_answer, run_answer, started_answer
from duly.api.arguments import instant
from duly.api.bodies import RunBody
from duly.api.bodies_workflow import CancelRunBody
from duly.api.findings import Findings, telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes import RunAnswer, RunPage, StartedRunAnswer, WholeRunAnswer
from duly.app import Duly
from duly.app.waiting import waits_for
from duly.core.errors import NotFound
from duly.core.ids import is_id, is_key, is_name, parse_window_key, window_run_id
from duly.core.marks import Marks
from duly.core.rules.settling import INTERRUPTIONS
from duly.core.run import Run
from duly.core.timing import Every

_FIRST_REVISION = 1
_OPTIONS = (
    "queue", "priority", "max_attempts", "fairness_key", "singleton", "max_running", "max_queued", "unique",
    "unique_for", "on_conflict",
)  # fmt: skip


async def create_run(app: Duly, body: object, *, id: str | None = None) -> StartedRunAnswer:
    """Ask for one run of a job, now or later; it is stored when this answers."""
    given = read(RunBody, body)
    options: dict[str, Any] = {name: value for name in _OPTIONS if (value := getattr(given, name)) not in (None, UNSET)}
    findings = Findings()
    with findings.at("/runAt"):
        options["run_at"] = instant(given.run_at, "run_at")
    findings.check()
    with telling(payload="/payload", id="/id"):
        run = await app.enqueue(given.job_type, given.payload, id=given.id or id, **options)
    return started_answer(run, given.id)


async def get_run(app: Duly, ref: str) -> WholeRunAnswer:
    """One run, by id or window key, with its attempts, and what it waits for."""
    run = await find(app, ref)
    attempts = await app.runs.attempts(run.id)
    marks = await app.workflows.marks(run.id) if run.workflow is not None else Marks()
    told = [attempt_answer(attempt) for attempt in attempts]
    return {
        **run_answer(run),
        "attempts": told,
        "snoozes": max((attempt.snoozes or 0 for attempt in attempts), default=0),
        "interruptions": sum(attempt.outcome in INTERRUPTIONS for attempt in attempts),
        "tags": list(marks.tags),
        "attributes": dict(marks.attributes),
        "waitsFor": await waits_for(app, run),
    }


async def list_runs(app: Duly, query: Mapping[str, str]) -> RunPage:
    """One page, newest first, without payloads and long results."""
    where = read_query(query, queries.RUNS)
    schedule = where.pop("scheduleId", None)
    if schedule is not None and not is_id(schedule) and not is_key(schedule):
        return {"items": [], "nextCursor": None}
    job = where.pop("jobType", None)
    marks = {"tags": where.pop("tag", ()), "attributes": where.pop("attr", ())}
    page = await app.runs.list(schedule=schedule, job=job, **marks, **where)
    return {"items": [run_answer(run, whole=False) for run in page.items], "nextCursor": page.next_cursor}


async def cancel_run(app: Duly, ref: str, body: object = None) -> RunAnswer:
    """End a waiting run, tell a running one to stop or to undo first; an ended one stays as it is."""
    given = read(CancelRunBody, {} if body is None else body)
    run = await find(app, ref)
    if given.compensate is True:
        return run_answer(await app.workflows.cancel(run.id, compensate=True))
    return run_answer(await app.runs.cancel(run.id))


async def find(app: Duly, ref: str) -> Run:
    """The run of an id, of a window key, or of an interval's window by its number."""
    run = None
    window = parse_window_key(ref)
    if is_id(ref):
        run = await app.runs.get(ref)
    elif window is not None and is_key(window[0]):
        run = await app.runs.get(ref) or await _by_bucket(app, *window)
    elif window is None and is_name(ref):
        run = await app.runs.get(ref)
    if run is None:
        raise NotFound(f"there is no run with id or window key {ref[:240]!r}", ref=ref)
    return run


async def _by_bucket(app: Duly, key: str, bucket: int) -> Run | None:
    """The run of ``sched:<key>:<bucket>``, where a bucket is the window's instant divided by the interval.

    Only while the interval was never edited: after an edit the same number would mean another window.
    """
    schedule = await app.schedules.get(key)
    if schedule is None or schedule.revision != _FIRST_REVISION:
        return None
    timing = schedule.timing
    if not isinstance(timing, Every) or timing.anchor != "epoch" or timing.after_completion:
        return None
    return await app.runs.get(window_run_id(schedule.id, bucket * timing.every_ms))
