"""The routes of receivers: what became of a run that was delivered to them, with the fence that they were given."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .http import Call
from .operations import answering
from .replies import Reply
from .route import Route
from .worker_bodies import DoneBody, NotDoneBody, ReportAnswer, StartedBody


async def _started(app: Duly, call: Call) -> Reply:
    return Reply(await answering.started(app, call.ref, call.body))


async def _completed(app: Duly, call: Call) -> Reply:
    return Reply(await answering.completed(app, call.ref, call.body))


async def _failed(app: Duly, call: Call) -> Reply:
    return Reply(await answering.failed(app, call.ref, call.body))


ANSWERS: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/runs/{ref}/started",
        name="answerStarted",
        summary="Tell that the receiver of a delivered run has begun; its time counts from then",
        run=_started,
        scope=Scope.WORKER,
        body=StartedBody,
        answer=ReportAnswer,
        once=False,
        codes=("SCHEDULE_JOB_NOT_FOUND", "LEASE_LOST"),
    ),
    Route(
        method="POST",
        path="/runs/{ref}/completed",
        name="answerCompleted",
        summary="Tell that the receiver of a delivered run did it; twice is fine",
        run=_completed,
        scope=Scope.WORKER,
        body=DoneBody,
        answer=ReportAnswer,
        once=False,
        codes=("SCHEDULE_JOB_NOT_FOUND", "LEASE_LOST", "PAYLOAD_TOO_LARGE"),
    ),
    Route(
        method="POST",
        path="/runs/{ref}/failed",
        name="answerFailed",
        summary="Tell that the receiver of a delivered run failed; twice is fine",
        run=_failed,
        scope=Scope.WORKER,
        body=NotDoneBody,
        answer=ReportAnswer,
        once=False,
        codes=("SCHEDULE_JOB_NOT_FOUND", "LEASE_LOST"),
    ),
)
