"""The table of routes: each path and method, what it takes, what it answers, and which problems it may have.

The router and the OpenAPI document are both made from it, so neither can forget the other.
"""

from __future__ import annotations

from msgspec import Struct

from duly.app import Duly
from duly.core.credential import Scope

from . import queries
from .bodies import (
    NoBody,
    PatchBody,
    PauseBody,
    PreviewBody,
    RescheduleBody,
    ResumeBody,
    RunBody,
    ScheduleBody,
    TriggerBody,
)
from .bodies_workflow import CancelRunBody
from .http import Call, Run
from .matching import meant, require, there
from .operations import controlling, runs, schedules
from .queries import read_query
from .replies import Reply
from .route import SCHEDULE_CODES, TIMING_CODES, Route
from .route_answers import ANSWERS
from .route_apply import APPLY
from .route_audit import AUDIT
from .route_calendars import CALENDARS
from .route_control import CONTROL
from .route_dead import DEAD_LETTERS
from .route_events import EVENTS
from .route_instances import INSTANCES
from .route_keys import KEYS
from .route_queues import QUEUES
from .route_webhooks import WEBHOOKS
from .route_worker import WORKER
from .route_workflows import WORKFLOWS
from .shapes import (
    PreviewAnswer,
    RunAnswer,
    RunPage,
    ScheduleAnswer,
    SchedulePage,
    StartedRunAnswer,
    UpcomingPage,
    WholeRunAnswer,
)
from .shapes_control import OperationAnswer
from .tenants import of_tenants


async def _create(app: Duly, call: Call) -> Reply:
    return _made(await schedules.create_schedule(app, call.body, id=call.id, by=call.by))


async def _get(app: Duly, call: Call) -> Reply:
    return _schedule(await schedules.get_schedule(app, call.ref))


async def _list(app: Duly, call: Call) -> Reply:
    return Reply(await schedules.list_schedules(app, call.query))


async def _patch(app: Duly, call: Call) -> Reply:
    if call.if_match_needed:
        require(call.if_match)
    return _schedule(await schedules.patch_schedule(app, call.ref, call.body, await _revision(app, call), by=call.by))


async def _put(app: Duly, call: Call) -> Reply:
    tenant = read_query(call.query, queries.TENANT).get("tenant")
    place = await schedules.place_to_put(app, call.ref, call.body, tenant)
    if call.if_match_needed and place.holder is not None and not call.if_absent:
        require(call.if_match)
    with there(call.if_match):
        revision = await meant(call.if_match, place.present)
        put = await schedules.put_schedule(app, place, call.body, revision, if_absent=call.if_absent, by=call.by)
    return _made(put.schedule) if put.created else _schedule(put.schedule)


async def _delete(app: Duly, call: Call) -> Reply:
    if call.if_match_needed:
        require(call.if_match)
    revision = await _revision(app, call, gone=True)
    left = await controlling.remove_schedule(app, call.ref, call.query, revision, by=call.by)
    return Reply(status=204) if left is None else Reply(left, 202, location=f"/operations/{left['id']}")


async def _pause(app: Duly, call: Call) -> Reply:
    return _schedule(await schedules.pause_schedule(app, call.ref, call.body, await _revision(app, call), by=call.by))


async def _resume(app: Duly, call: Call) -> Reply:
    return _schedule(await schedules.resume_schedule(app, call.ref, call.body, await _revision(app, call), by=call.by))


async def _cancel(app: Duly, call: Call) -> Reply:
    return _schedule(await schedules.cancel_schedule(app, call.ref, call.body, await _revision(app, call), by=call.by))


async def _reschedule(app: Duly, call: Call) -> Reply:
    return _made(await schedules.reschedule_schedule(app, call.ref, call.body, await _revision(app, call), by=call.by))


async def _trigger(app: Duly, call: Call) -> Reply:
    run = await schedules.trigger_schedule(app, call.ref, call.body, await _revision(app, call), id=call.id)
    return Reply(run, 202, location=f"/runs/{run['id']}")


async def _executions(app: Duly, call: Call) -> Reply:
    return Reply(await schedules.list_executions(app, call.ref, call.query))


async def _upcoming(app: Duly, call: Call) -> Reply:
    return Reply(await schedules.upcoming(app, call.ref, call.query))


async def _preview(app: Duly, call: Call) -> Reply:
    return Reply(await schedules.preview(app, call.body))


async def _create_run(app: Duly, call: Call) -> Reply:
    run = await runs.create_run(app, call.body, id=call.id)
    return Reply(run, 202, location=f"/runs/{run['id']}")


async def _list_runs(app: Duly, call: Call) -> Reply:
    return Reply(await runs.list_runs(app, call.query))


async def _get_run(app: Duly, call: Call) -> Reply:
    return Reply(await runs.get_run(app, call.ref))


async def _cancel_run(app: Duly, call: Call) -> Reply:
    return Reply(await runs.cancel_run(app, call.ref, call.body))


async def _revision(app: Duly, call: Call, *, gone: bool = False) -> int | None:
    """The one revision that the request is meant for."""

    async def present() -> int:
        return (await schedules.find(app, call.ref)).revision

    return await meant(call.if_match, present, gone=gone)


def _made(answer: ScheduleAnswer) -> Reply:
    return Reply(answer, 201, answer["revision"], f"/schedules/{answer['id']}")


def _schedule(answer: ScheduleAnswer) -> Reply:
    return Reply(answer, revision=answer["revision"])


def _action(verb: str, summary: str, run: Run, body: type[Struct], *codes: str) -> Route:
    return Route(
        method="POST",
        path=f"/schedules/{{ref}}/{verb}",
        name=f"{verb}Schedule",
        summary=summary,
        run=run,
        scope=Scope.WRITE,
        body=body,
        body_needed=False,
        answer=ScheduleAnswer,
        if_match=True,
        etag=True,
        codes=codes,
    )


_ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/schedules",
        name="createSchedule",
        summary="Create a schedule",
        run=_create,
        scope=Scope.WRITE,
        body=ScheduleBody,
        answer=ScheduleAnswer,
        status=201,
        etag=True,
        codes=(*SCHEDULE_CODES[:-1], "SCHEDULE_KEY_IN_USE", "SCHEDULE_CLIENT_REQUEST_ID_IN_USE"),
    ),
    Route(
        method="GET",
        path="/schedules",
        name="listSchedules",
        summary="List schedules, oldest first",
        run=_list,
        scope=Scope.READ,
        query=queries.SCHEDULES,
        answer=SchedulePage,
    ),
    Route(
        method="POST",
        path="/schedules:preview",
        name="previewTiming",
        summary="Show the windows that a timing would have",
        run=_preview,
        scope=Scope.READ,
        body=PreviewBody,
        answer=PreviewAnswer,
        codes=(*TIMING_CODES, "CALENDAR_UNKNOWN"),
    ),
    APPLY,
    Route(
        method="GET",
        path="/schedules/{ref}",
        name="getSchedule",
        summary="Look at a schedule",
        run=_get,
        scope=Scope.READ,
        answer=ScheduleAnswer,
        etag=True,
    ),
    Route(
        method="PATCH",
        path="/schedules/{ref}",
        name="patchSchedule",
        summary="Change parts of a schedule",
        run=_patch,
        scope=Scope.WRITE,
        body=PatchBody,
        answer=ScheduleAnswer,
        if_match=True,
        etag=True,
        codes=(*SCHEDULE_CODES, "PRECONDITION_REQUIRED"),
    ),
    Route(
        method="PUT",
        path="/schedules/{ref}",
        name="putSchedule",
        summary="Create a schedule by key, or replace it",
        run=_put,
        scope=Scope.WRITE,
        body=ScheduleBody,
        answer=ScheduleAnswer,
        also=201,
        if_match=True,
        etag=True,
        codes=(*SCHEDULE_CODES, "SCHEDULE_CLIENT_REQUEST_ID_IN_USE", "PRECONDITION_REQUIRED"),
    ),
    Route(
        method="DELETE",
        path="/schedules/{ref}",
        name="deleteSchedule",
        summary="Delete a schedule and keep its runs; twice is fine",
        said="What never was is `404`. With `purge` its runs go too. Where that takes long, or runs are still open, the"
        " answer is `202` with the operation that removes them.",
        run=_delete,
        scope=Scope.WRITE,
        query=queries.DELETE,
        status=204,
        also=202,
        also_answer=OperationAnswer,
        if_match=True,
        codes=("PRECONDITION_REQUIRED",),
    ),
    _action("pause", "Stop firing, with a reason and an end", _pause, PauseBody, "CONFLICT"),
    _action("resume", "Fire again from now on", _resume, ResumeBody, "CONFLICT"),
    _action("cancel", "End a schedule and its waiting runs; twice is fine", _cancel, NoBody),
    Route(
        method="POST",
        path="/schedules/{ref}/reschedule",
        name="rescheduleSchedule",
        summary="Replace a schedule that never fired by one with another timing",
        said="The answer is the new one, with the key of the old; `replaces` and `replacedBy` link the two.",
        run=_reschedule,
        scope=Scope.WRITE,
        body=RescheduleBody,
        answer=ScheduleAnswer,
        status=201,
        if_match=True,
        etag=True,
        codes=(*TIMING_CODES, "SCHEDULE_JOB_NOT_CANCELLABLE"),
    ),
    Route(
        method="POST",
        path="/schedules/{ref}/trigger",
        name="triggerSchedule",
        summary="Make a run now, without moving the schedule",
        run=_trigger,
        scope=Scope.TRIGGER,
        body=TriggerBody,
        body_needed=False,
        answer=StartedRunAnswer,
        status=202,
        if_match=True,
        codes=("SCHEDULE_RUN_ACTIVE", "CONFLICT", "SCHEDULE_ENQUEUE_FAILURE"),
    ),
    Route(
        method="GET",
        path="/schedules/{ref}/executions",
        name="listExecutions",
        summary="List the runs of a schedule, newest first",
        run=_executions,
        scope=Scope.READ,
        query=queries.EXECUTIONS,
        answer=RunPage,
    ),
    Route(
        method="GET",
        path="/schedules/{ref}/upcoming",
        name="listUpcoming",
        summary="Show the next windows of a schedule",
        run=_upcoming,
        scope=Scope.READ,
        query=queries.UPCOMING,
        answer=UpcomingPage,
    ),
    Route(
        method="POST",
        path="/runs",
        name="createRun",
        summary="Run a job once, now or later",
        run=_create_run,
        scope=Scope.TRIGGER,
        body=RunBody,
        answer=StartedRunAnswer,
        status=202,
        codes=(
            "SCHEDULE_RETRY_POLICY_INVALID",
            "SCHEDULE_ENQUEUE_FAILURE",
            "SINGLETON_QUEUE_FULL",
            "UNIQUE_KEY_IN_USE",
        ),
    ),
    Route(
        method="GET",
        path="/runs",
        name="listRuns",
        summary="List runs, newest first",
        run=_list_runs,
        scope=Scope.READ,
        query=queries.RUNS,
        answer=RunPage,
        codes=("CONFLICT",),
    ),
    Route(
        method="GET",
        path="/runs/{ref}",
        name="getRun",
        summary="Look at a run, by id or window key",
        run=_get_run,
        scope=Scope.READ,
        answer=WholeRunAnswer,
        codes=("CONFLICT",),
    ),
    Route(
        method="POST",
        path="/runs/{ref}/cancel",
        name="cancelRun",
        summary="End a waiting run, tell a running one to stop, let a workflow undo first",
        run=_cancel_run,
        scope=Scope.WRITE,
        body=CancelRunBody,
        body_needed=False,
        answer=RunAnswer,
        codes=("CONFLICT",),
    ),
    *ANSWERS,
    *DEAD_LETTERS,
    *CALENDARS,
    INSTANCES,
    EVENTS,
    AUDIT,
    *QUEUES,
    *KEYS,
    *WEBHOOKS,
    *WORKFLOWS,
    *CONTROL,
    *WORKER,
)
ROUTES = of_tenants(_ROUTES)
