"""Routes for operators: changes of many schedules, backfills, the audit trail, the switch of the fleet."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope
from duly.core.errors import Forbidden

from . import queries
from .bodies_control import BackfillBody, BulkBody, FiringPauseBody, FiringResumeBody
from .http import Call
from .operations import controlling, overlooking
from .replies import Reply
from .route import Route
from .shapes import UpcomingPage
from .shapes_control import (
    ComingPage,
    DeadGroupPage,
    FiringAnswer,
    LatePage,
    MatchingAnswer,
    OperationAnswer,
    OperationPage,
    ScheduleChangePage,
    StatsAnswer,
)


async def _bulk(app: Duly, call: Call) -> Reply:
    if isinstance(call.body, dict) and call.body.get("action") == "trigger" and not call.caller.may(Scope.TRIGGER):
        raise Forbidden("this needs the scope trigger, which the credential does not have")
    return _begun(await controlling.change_many(app, call.body, by=call.by, id=call.id))


async def _backfill(app: Duly, call: Call) -> Reply:
    return _begun(await controlling.backfill(app, call.ref, call.body, by=call.by, id=call.id))


async def _changes(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.list_changes(app, call.ref, call.query))


async def _operation(app: Duly, call: Call) -> Reply:
    return Reply(await controlling.get_operation(app, call.ref))


async def _operations(app: Duly, call: Call) -> Reply:
    return Reply(await controlling.list_operations(app, call.query))


async def _late(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.list_late(app, call.query))


async def _coming(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.list_coming(app, call.query))


async def _stats(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.get_stats(app))


async def _dead_groups(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.list_dead_groups(app, call.query))


async def _firing(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.get_firing(app))


async def _pause(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.pause_firing(app, call.body, by=call.by, id=call.id))


async def _resume(app: Duly, call: Call) -> Reply:
    return _begun(await overlooking.resume_firing(app, call.body, by=call.by, id=call.id))


async def _restored(app: Duly, call: Call) -> Reply:
    return Reply(await overlooking.mark_restored(app, call.body, by=call.by))


def _begun(answer: OperationAnswer | MatchingAnswer | UpcomingPage) -> Reply:
    """What was begun, with its place; or what a dry run told."""
    id = answer.get("id")
    return Reply(answer) if id is None else Reply(answer, 202, location=f"/operations/{id}")


CONTROL: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/schedules:bulk",
        name="changeSchedules",
        summary="Do one thing to many schedules",
        said="Those that are named are done when it answers, and `items` says what became of each. Those that fit a"
        " filter are done beside, in small batches, by this process or another one: `GET /operations/{id}` says how far"
        " it is. A dry run is `200` and only counts.",
        run=_bulk,
        scope=Scope.WRITE,
        body=BulkBody,
        answer=OperationAnswer,
        status=202,
        also=200,
        also_answer=MatchingAnswer,
    ),
    Route(
        method="POST",
        path="/schedules/{ref}/backfill",
        name="backfillSchedule",
        summary="Make runs of the windows of a past range",
        said="At most 1,000 windows, oldest first; the schedule itself stays where it is. A dry run is `200` with the"
        " windows.",
        run=_backfill,
        scope=Scope.TRIGGER,
        body=BackfillBody,
        answer=OperationAnswer,
        status=202,
        also=200,
        also_answer=UpcomingPage,
    ),
    Route(
        method="GET",
        path="/schedules/{ref}/changes",
        name="listChanges",
        summary="Show who changed what of a schedule, newest first",
        said="A schedule that was deleted is found too, as long as its history is kept.",
        run=_changes,
        scope=Scope.READ,
        query=queries.CHANGES,
        answer=ScheduleChangePage,
    ),
    Route(
        method="GET",
        path="/operations",
        name="listOperations",
        summary="List operations, newest first",
        run=_operations,
        scope=Scope.READ,
        query=queries.PAGE,
        answer=OperationPage,
    ),
    Route(
        method="GET",
        path="/operations/{ref}",
        name="getOperation",
        summary="See how far an operation has come",
        run=_operation,
        scope=Scope.READ,
        answer=OperationAnswer,
    ),
    Route(
        method="GET",
        path="/upcoming",
        name="listComing",
        summary="Show what fires next of all schedules, the earliest first",
        said="Each schedule is there once, with its next window; those that are paused are not.",
        run=_coming,
        scope=Scope.READ,
        query=queries.COMING,
        answer=ComingPage,
    ),
    Route(
        method="GET",
        path="/late",
        name="listLate",
        summary="Show which schedules should have fired and did not, the latest first",
        said="Each with how late it is and how many windows it owes by now; what is paused owes none.",
        run=_late,
        scope=Scope.READ,
        query=queries.COMING,
        answer=LatePage,
    ),
    Route(
        method="GET",
        path="/stats",
        name="getStats",
        summary="See how it all fares",
        run=_stats,
        scope=Scope.ADMIN,
        answer=StatsAnswer,
    ),
    Route(
        method="GET",
        path="/dead-letters:groups",
        name="listDeadGroups",
        summary="Count dead letters by job and error, the most first",
        run=_dead_groups,
        scope=Scope.READ,
        query=queries.DEAD_GROUPS,
        answer=DeadGroupPage,
    ),
    Route(
        method="GET",
        path="/firing",
        name="getFiring",
        summary="See whether anything fires, and if not, why",
        run=_firing,
        scope=Scope.READ,
        answer=FiringAnswer,
    ),
    Route(
        method="POST",
        path="/firing/pause",
        name="pauseFiring",
        summary="Stop all firing, on every instance at once",
        said="Windows stay due; runs that exist go on, and a trigger still makes one.",
        run=_pause,
        scope=Scope.ADMIN,
        body=FiringPauseBody,
        body_needed=False,
        answer=FiringAnswer,
    ),
    Route(
        method="POST",
        path="/firing/resume",
        name="resumeFiring",
        summary="Let all schedules fire again, and say what becomes of the backlog",
        run=_resume,
        scope=Scope.ADMIN,
        body=FiringResumeBody,
        body_needed=False,
        answer=OperationAnswer,
        status=202,
        codes=("CONFLICT",),
    ),
    Route(
        method="POST",
        path="/firing/restored",
        name="markRestored",
        summary="Say that the store was restored from a backup",
        said="Nothing fires until somebody has resumed it and chosen what becomes of the backlog.",
        run=_restored,
        scope=Scope.ADMIN,
        body=FiringPauseBody,
        body_needed=False,
        answer=FiringAnswer,
    ),
)
