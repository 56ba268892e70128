"""The routes of workers that only have HTTP: all carry the session but the first claim, reports also run and fence."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .http import Call
from .operations import worker
from .replies import Reply
from .route import Route
from .worker_bodies import (
    ClaimAnswer,
    ClaimBody,
    CompleteBody,
    FailBody,
    HeartbeatAnswer,
    HeartbeatBody,
    ReleaseAnswer,
    ReleaseBody,
    ReportAnswer,
)


async def _claim(app: Duly, call: Call) -> Reply:
    return Reply(await worker.claim(app, call.body, only=call.caller.queues))


async def _heartbeat(app: Duly, call: Call) -> Reply:
    return Reply(await worker.heartbeat(app, call.body))


async def _complete(app: Duly, call: Call) -> Reply:
    return Reply(await worker.complete(app, call.body))


async def _fail(app: Duly, call: Call) -> Reply:
    return Reply(await worker.fail(app, call.body))


async def _release(app: Duly, call: Call) -> Reply:
    return Reply(await worker.release(app, call.body))


WORKER: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/worker/claim",
        name="claimRuns",
        summary="Take runs to work on; begins a session, and waits for runs",
        run=_claim,
        scope=Scope.WORKER,
        body=ClaimBody,
        answer=ClaimAnswer,
        once=False,
        waits=True,
        codes=("LEASE_LOST",),
    ),
    Route(
        method="POST",
        path="/worker/heartbeat",
        name="beatSession",
        summary="Keep a session alive, and hear of runs that were cancelled or lost",
        run=_heartbeat,
        scope=Scope.WORKER,
        body=HeartbeatBody,
        answer=HeartbeatAnswer,
        once=False,
        codes=("LEASE_LOST",),
    ),
    Route(
        method="POST",
        path="/worker/complete",
        name="completeRun",
        summary="Report that an attempt did its work; twice is fine",
        run=_complete,
        scope=Scope.WORKER,
        body=CompleteBody,
        answer=ReportAnswer,
        once=False,
        codes=("LEASE_LOST", "CONFLICT", "PAYLOAD_TOO_LARGE"),
    ),
    Route(
        method="POST",
        path="/worker/fail",
        name="failRun",
        summary="Report that an attempt failed; twice is fine",
        run=_fail,
        scope=Scope.WORKER,
        body=FailBody,
        answer=ReportAnswer,
        once=False,
        codes=("LEASE_LOST", "SCHEDULE_RETRY_POLICY_INVALID"),
    ),
    Route(
        method="POST",
        path="/worker/release",
        name="releaseRuns",
        summary="Give a run back untried, or end a session and give back all of it; twice is fine",
        run=_release,
        scope=Scope.WORKER,
        body=ReleaseBody,
        answer=ReleaseAnswer,
        once=False,
        codes=("LEASE_LOST",),
    ),
)
