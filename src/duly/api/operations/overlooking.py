"""What operators look at, and the switch of the fleet: who changed what, what comes next, how it all fares."""

from __future__ import annotations

from collections.abc import Mapping

from duly.api import queries
from duly.api.answers_control import (
    change_answer,
    coming_answer,
    firing_answer,
    group_answer,
    late_answer,
    operation_answer,
    stats_answer,
)
from duly.api.bodies_control import FiringPauseBody, FiringResumeBody
from duly.api.findings import telling
from duly.api.queries import read_query
from duly.api.reading import read
from duly.api.shapes_control import (
    ComingPage,
    DeadGroupPage,
    FiringAnswer,
    LatePage,
    OperationAnswer,
    ScheduleChangePage,
    StatsAnswer,
)
from duly.app import Duly
from duly.app.operations import Progress
from duly.app.watching import carry_on

from .schedules import is_ref, unknown


async def list_changes(app: Duly, ref: str, query: Mapping[str, str]) -> ScheduleChangePage:
    """The audit trail of a schedule, newest first; also of one that was deleted."""
    asked = read_query(query, queries.CHANGES)
    if not is_ref(ref):
        raise unknown(ref)
    page = await app.schedules.changes(ref, **asked)
    return {"items": [change_answer(change) for change in page.items], "nextCursor": page.next_cursor}


async def list_coming(app: Duly, query: Mapping[str, str]) -> ComingPage:
    """What fires next of all schedules."""
    page = await app.schedules.coming(**read_query(query, queries.COMING))
    now = app.clock.now()
    return {"items": [coming_answer(one, app.settings, now) for one in page.items], "nextCursor": page.next_cursor}


async def list_late(app: Duly, query: Mapping[str, str]) -> LatePage:
    """Which schedules should have fired and did not."""
    page = await app.schedules.late(**read_query(query, queries.COMING))
    now = app.clock.now()
    return {"items": [late_answer(one, app.settings, now) for one in page.items], "nextCursor": page.next_cursor}


async def get_stats(app: Duly) -> StatsAnswer:
    """How it all fares."""
    return stats_answer(await app.schedules.stats())


async def list_dead_groups(app: Duly, query: Mapping[str, str]) -> DeadGroupPage:
    """How many dead letters there are of each job and error."""
    where = read_query(query, queries.DEAD_GROUPS)
    named = {"schedule": where.pop("scheduleId", None), "job": where.pop("jobType", None)}
    named |= {"error_type": where.pop("errorType", None), "error_location": where.pop("errorLocation", None)}
    groups = await app.runs.dead_groups(**named, **where)
    return {"items": [group_answer(group) for group in groups], "nextCursor": None}


async def get_firing(app: Duly) -> FiringAnswer:
    """Whether anything fires."""
    return firing_answer(await app.firing.state())


async def pause_firing(app: Duly, body: object = None, *, by: str | None = None, id: str | None = None) -> FiringAnswer:
    """Stop all firing."""
    given = read(FiringPauseBody, {} if body is None else body)
    with telling():
        return firing_answer(await app.firing.pause(reason=given.reason or None, by=by, id=id))


async def resume_firing(
    app: Duly,
    body: object = None,
    *,
    by: str | None = None,
    id: str | None = None,
    on_progress: Progress | None = None,
) -> OperationAnswer:
    """Let all schedules fire again; what fell due meanwhile is dealt with beside, or with ``on_progress`` before."""
    given = read(FiringResumeBody, {} if body is None else body)
    if on_progress is not None:
        return operation_answer(await app.firing.resume(given.backlog or None, by=by, id=id, on_progress=on_progress))
    begun = await app.firing.begin_resume(given.backlog or None, by=by, id=id)
    if not begun.finished:
        carry_on(app, begun.id)
    return operation_answer(begun)


async def mark_restored(app: Duly, body: object = None, *, by: str | None = None) -> FiringAnswer:
    """Say that the store was restored from a backup: nothing fires until somebody chooses how to go on."""
    given = read(FiringPauseBody, {} if body is None else body)
    with telling():
        return firing_answer(await app.firing.restored(reason=given.reason or None, by=by))
