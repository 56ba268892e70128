"""Dead letters: what is kept of a run that failed for good, and what its handler is told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .failure import AttemptError, ErrorReport
from .instants import to_datetime
from .run import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """One execution of a run that started its handler.

    ``outcome`` is failed, timed_out, lost (the lease expired), released (given back at a shutdown), interrupted
    (stopped by its own process because the store could not be reached), snoozed, completed, cancelled, or running.
    Only failed, timed_out and lost attempts count against ``max_attempts``: after any other end, the next attempt has
    the same number. A redriven run counts from 1 again. ``fence`` grows with every claim and orders the records.
    ``snoozes`` is set for snoozed attempts: how often the run has been snoozed. Of those, the newest 20 are kept.
    """

    attempt_number: int
    outcome: str
    error_message: str | None
    started_at: datetime | None
    ended_at: datetime | None
    instance: str | None
    error: AttemptError | None = None
    fence: int = 0
    snoozes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """What an ``on_dead`` handler is told, as its argument ``dead``."""

    run_id: str
    job: str
    reason: str
    error: str
    attempts: int
    payload: Any
    died_at: datetime
    scheduled_at: datetime
    schedule_id: str | None = None
    schedule_key: str | None = None
    error_type: str | None = None
    error_location: str | None = None
    stack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadGroup:
    """Dead letters of one job that died of one error.

    They have the type of the exception and the line that raised it in common; where no line is known, the text.
    ``error`` is the text of the newest one (its first 200 characters).
    """

    job: str
    error: str
    count: int
    first_died_at: datetime
    last_died_at: datetime
    newest_run_id: str
    error_type: str | None = None
    error_location: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDead:
    """Which job is told when a run of ``job`` dies, and with what budget."""

    job: str
    handler: str
    queue: str
    max_attempts: int
    timeout_ms: int | None


def on_dead_payload(
    claim: Claim,
    *,
    attempt: int,
    reason: str | None,
    error: str | None,
    died_at: int,
    report: ErrorReport | None = None,
) -> str:
    """The payload of the handler's run: a ``DeadLetter`` under the name ``dead``."""
    report = report or ErrorReport()
    facts = json.dumps(
        {
            "run_id": claim.id,
            "job": claim.job,
            "reason": reason,
            "error": error,
            "attempts": attempt,
            "died_at": _instant(died_at),
            "scheduled_at": _instant(claim.due_at if claim.window_at is None else claim.window_at),
            "schedule_id": claim.schedule_id,
            "schedule_key": claim.key,
            "error_type": report.type,
            "error_location": report.location,
            "stack": report.stack,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return f'{{"dead":{facts[:-1]},"payload":{claim.payload or "null"}}}}}'


def _instant(at: int) -> str:
    return to_datetime(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
