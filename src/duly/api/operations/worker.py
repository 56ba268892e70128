"""What a worker without a store can ask."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from duly.api.answers import at_ms
from duly.api.bodies import RetryPolicy
from duly.api.findings import Findings, telling
from duly.api.reading import read
from duly.api.worker_bodies import (
    ClaimAnswer,
    ClaimBody,
    CompleteBody,
    FailBody,
    HeartbeatAnswer,
    HeartbeatBody,
    LentRun,
    ReleaseAnswer,
    ReleaseBody,
    ReportAnswer,
)
from duly.app import Duly
from duly.app.lending import Worker
from duly.app.payload import encode_payload
from duly.core.errors import Conflict, Forbidden, LeaseLost
from duly.core.failure import ErrorReport
from duly.core.ids import is_id
from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Retry
from duly.core.rules.suspects import NO_ROOM, Room
from duly.core.run import Claim, Completed, Failed, Interrupted, Outcome, Released, RunStatus, Snoozed
from duly.engine.registry import check_job_name

_decode = msgspec.json.decode
_LEFT: dict[Literal["retry", "timeout"], int] = {"retry": LEFT_RETRY, "timeout": LEFT_TIMEOUT}
_RETRY = {"backoff": "backoff", "delay_seconds": "delay", "max_delay_seconds": "max_delay", "jitter": "jitter"}


async def claim(app: Duly, body: object, *, only: frozenset[str] | None = None) -> ClaimAnswer:
    """Give a worker runs of jobs that it knows, and begin its session where it has none.

    ``only`` are the queues that its key is for; None is all.
    """
    given = read(ClaimBody, body)
    queues = _queues(given.queues, only)
    limit = 1 if given.limit is UNSET else given.limit
    wait = 0.0 if given.wait_seconds is UNSET else given.wait_seconds
    jobs = _jobs(given.jobs)
    if isinstance(given.session, str):
        session = _number(given.session)
    else:
        session = await app.lending.open(_worker(given, jobs))
        if limit == 0:
            wait = 0
    if limit == 0:
        changed = await app.lending.wait(session, wait)
        return _claimed(app, session, changed=sorted(changed))
    most = 1 if given.suspects is UNSET else given.suspects
    claimed = await app.lending.claim(
        session,
        jobs=jobs,
        limit=limit,
        wait=wait,
        queues=queues,
        suspects=Room(most) if most else NO_ROOM,
    )
    due = None if claimed.next_due_at is None else max(0, claimed.next_due_at - claimed.now) / 1000
    return _claimed(app, session, [*map(_lent, claimed.claims)], due=due, held_back=sorted(claimed.held_back))


async def heartbeat(app: Duly, body: object) -> HeartbeatAnswer:
    """Keep a session alive, and tell it what became of its runs."""
    given = read(HeartbeatBody, body)
    findings = Findings()
    _check_pair(given, findings, "to speak for the session alone")
    findings.check()
    beat = await app.lending.beat(_number(given.session))
    held = {(run.id, run.fence) for run in beat.held}
    if given.run_id is not UNSET and (given.run_id, given.fence) not in held:
        raise LeaseLost(
            f"run {given.run_id!r} with fence {given.fence} is not in the hands of session {given.session} (any more):"
            " drop what was done for it; the session lives on",
            run_id=given.run_id,
        )
    named = [] if given.runs is UNSET else given.runs
    return {
        "session": given.session,
        "leaseSeconds": app.settings.lease,
        "runs": [
            {"runId": run.id, "fence": run.fence, "cancelRequested": run.cancel_requested}
            for run in sorted(beat.held, key=lambda run: run.id)
        ],
        "cancelled": sorted(run.id for run in beat.held if run.cancel_requested),
        "lost": [run.run_id for run in named if (run.run_id, run.fence) not in held],
    }


async def complete(app: Duly, body: object) -> ReportAnswer:
    """Keep that an attempt did its work, and what it answered."""
    given = read(CompleteBody, body)
    result = None
    if given.result not in (UNSET, None):
        with telling(payload="/result"):
            result = encode_payload(given.result, app.settings.result_limit)
    answer = await _report(app, given, Completed(result))
    if answer["status"] == RunStatus.CANCELLED:
        raise Conflict(
            f"run {given.run_id} was cancelled meanwhile and has ended so; its result is not kept", run_id=given.run_id
        )
    return answer


async def fail(app: Duly, body: object) -> ReportAnswer:
    """Keep that an attempt failed; the run is tried again if it may be."""
    given = read(FailBody, body)
    retry = None
    findings = Findings()
    if isinstance(given.retry_policy, RetryPolicy):
        words = {word: getattr(given.retry_policy, name) for name, word in _RETRY.items()}
        with findings.at():
            retry = Retry(**{word: value for word, value in words.items() if value is not UNSET})
    findings.check()
    report = ErrorReport(
        type=_text(given.error_type),
        location=_text(given.error_location),
        stack=_text(given.stack),
        truncated=given.stack_truncated is True,
    )
    fatal, timed_out = given.fatal is True, given.timed_out is True
    outcome = Failed(_storable(given.error), fatal=fatal, timed_out=timed_out, report=report)
    tries = None if given.max_attempts is UNSET else given.max_attempts
    return await _report(app, given, outcome, retry, tries)


def _text(given: str | UnsetType) -> str | None:
    return None if given is UNSET else _storable(given)


def _storable(text: str) -> str:
    """Without NUL, which no store keeps."""
    return text.replace("\x00", "\\x00")


async def release(app: Duly, body: object) -> ReleaseAnswer:
    """Give back one run untried; or all of a session, whose end it is."""
    given = read(ReleaseBody, body)
    findings = Findings()
    _check_pair(given, findings, "to end the session")
    if given.snooze_seconds is not UNSET and given.run_id is UNSET:
        findings.add("snoozeSeconds is for one run; expected runId and fence beside it", pointer="/snoozeSeconds")
    findings.check()
    if given.run_id is UNSET:
        return {"released": await app.lending.close(_number(given.session))}
    seconds = 0 if given.snooze_seconds is UNSET else given.snooze_seconds
    outcome: Outcome = Released(given.started is True)
    if seconds:
        outcome = Snoozed(math.ceil(seconds * 1000))
    elif given.interrupted is True:
        outcome = Interrupted()
    await _report(app, given, outcome)
    return {"released": 1}


async def _report(
    app: Duly,
    given: CompleteBody | FailBody | ReleaseBody,
    outcome: Outcome,
    retry: Retry | None = None,
    max_attempts: int | None = None,
) -> ReportAnswer:
    run_id, fence = given.run_id, given.fence
    assert isinstance(run_id, str)
    assert isinstance(fence, int)
    if not is_id(run_id):
        raise LeaseLost(f"there is no run {run_id!r} in the hands of session {given.session}", run_id=run_id)
    status = await app.lending.report(_number(given.session), run_id, fence, outcome, retry, max_attempts)
    return {"runId": run_id, "status": status.value}


def _check_pair(given: HeartbeatBody | ReleaseBody, findings: Findings, otherwise: str) -> None:
    if (given.run_id is UNSET) is not (given.fence is UNSET):
        missing = "fence" if given.fence is UNSET else "runId"
        findings.add(f"{missing} is missing; give runId and fence, or neither {otherwise}", pointer=f"/{missing}")


def _jobs(given: list[str]) -> list[str]:
    """The names of jobs; workflows and deliveries are for workers that have the store."""
    findings = Findings()
    for place, name in enumerate(given):
        with findings.at(f"/jobs/{place}"):
            check_job_name(name)
    findings.check()
    return sorted(set(given))


def _queues(given: Any, only: frozenset[str] | None) -> list[str] | None:
    """The queues to claim from; to name one that the key is not for is refused, also where it does not exist."""
    if given in (UNSET, None):
        return None if only is None else sorted(only)
    if only is not None and (others := sorted(set(given) - only)):
        raise Forbidden(
            f"this key is for the queues {', '.join(sorted(only))} and not for {others[0]!r}; claim from those, or"
            " use a key that is for it",
            queue=others[0],
        )
    return list(given)


def _number(session: str) -> int:
    number = int(session)
    if number >= 2**63:
        raise LeaseLost(f"there is no session {session}; claim without one to begin anew")
    return number


def _worker(given: ClaimBody, jobs: list[str]) -> Worker:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else ""

    return Worker(
        jobs=tuple(jobs),
        name=text(given.name) or "remote",
        host=text(given.host),
        pid=given.pid if isinstance(given.pid, int) else 0,
        version=text(given.version),
    )


def _claimed(
    app: Duly,
    session: int,
    runs: list[LentRun] | None = None,
    *,
    due: float | None = None,
    held_back: list[str] | None = None,
    changed: list[Any] | None = None,
) -> ClaimAnswer:
    return {
        "session": str(session),
        "leaseSeconds": app.settings.lease,
        "heartbeatSeconds": app.settings.heartbeat,
        "runs": runs or [],
        "nextDueSeconds": due,
        "heldBack": held_back or [],
        "changed": changed or [],
    }


def _lent(claim: Claim) -> LentRun:
    return {
        "runId": claim.id,
        "fence": claim.fence,
        "jobType": claim.job,
        "payload": _decode(claim.payload or "null"),
        "attemptNumber": claim.attempt,
        "maxAttempts": claim.max_attempts,
        "timeoutSeconds": None if claim.timeout_ms is None else claim.timeout_ms / 1000,
        "leftToJob": [word for word, bit in _LEFT.items() if claim.left_to_job & bit],
        "kind": str(claim.kind),
        "queue": claim.queue,
        "scheduleId": claim.schedule_id,
        "scheduleKey": claim.key,
        "windowKey": claim.window_key,
        "scheduledAt": at_ms(claim.due_at if claim.window_at is None else claim.window_at),
        "firedAt": at_ms(claim.fired_at),
        "lostBefore": claim.suspect,
    }
