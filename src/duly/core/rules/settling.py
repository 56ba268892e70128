"""The end of an attempt: what becomes of its run, and what the end of a run does to its schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from duly.core.policy import Retry
from duly.core.rules.backoff import delay_ms
from duly.core.rules.windows import fire_instant, within_end
from duly.core.run import (
    Cancelled,
    Completed,
    Continued,
    Dispatched,
    Failed,
    Interrupted,
    Lost,
    Outcome,
    Reason,
    Released,
    RunKind,
    RunStatus,
    Snoozed,
    Suspended,
)
from duly.core.schedule import Cursor, Definition, ScheduleStatus
from duly.core.timing import Every, Once


@dataclass(frozen=True, slots=True)
class Finish:
    """The run has ended."""

    status: RunStatus
    reason: Reason | None = None
    error: str | None = None
    result: str | None = None
    ended_as: str | None = None

    @property
    def outcome(self) -> str:
        """The name of the last attempt's end in its record."""
        return self.ended_as or _OUTCOMES.get(self.reason, self.status.value)

    @property
    def recorded(self) -> bool:
        """Whether the last attempt leaves a record; otherwise it is derived from the history of the run."""
        return self.error is not None


_OUTCOMES: dict[Reason | None, str] = {Reason.TIMEOUT: "timed_out", Reason.LOST: "lost"}

INTERRUPTIONS = ("released", "interrupted")
"""The ends of attempts that were stopped through no fault of their own. A lost attempt counts against max_attempts."""

MAX_SNOOZED_RECORDS = 20
"""How many snoozed attempts of a run are kept; older ones are only counted."""

INTERRUPTION_ALERT = 20
"""Each time a run has been interrupted this often again, an alert is raised."""


@dataclass(frozen=True, slots=True)
class Again:
    """The run is pending again, due ``after_ms`` from now; ``outcome`` names the attempt's end in its record.

    ``suspect``: whether its process died with it. None leaves that as it was: it was given back before it could show.
    ``recorded`` is False where no handler was called, or where the run only waits: such an attempt leaves no record.
    """

    after_ms: int
    spends_attempt: bool
    error: str | None
    outcome: str
    suspect: bool | None = False
    recorded: bool = True

    @property
    def is_interruption(self) -> bool:
        """Whether the attempt was stopped through no fault of its own."""
        return self.recorded and self.outcome in INTERRUPTIONS


@dataclass(frozen=True, slots=True)
class PauseRequest:
    """The schedule is to be paused, for this reason."""

    reason: str


_CANCELLED = Finish(RunStatus.CANCELLED, Reason.CANCEL_REQUESTED)
_SUSPENDED = Again(0, spends_attempt=False, error=None, outcome="suspended", recorded=False)
_DISPATCHED = Again(0, spends_attempt=True, error=None, outcome="dispatched", recorded=False)
_RELEASED = Again(0, spends_attempt=False, error=None, outcome="released", suspect=None)
_NOT_STARTED = replace(_RELEASED, recorded=False)
_INTERRUPTED = replace(_RELEASED, outcome="interrupted")


def settle(
    outcome: Outcome, *, run_id: str, attempt: int, max_attempts: int, retry: Retry, cancel_requested: bool
) -> Finish | Again:
    """Decide what an attempt's outcome makes of its run; ``attempt`` counts from 1 and includes this one.

    Once a cancel was asked for, nothing goes again and no late success is taken.
    """
    match outcome:
        case Completed(result, reason):
            return _CANCELLED if cancel_requested else Finish(RunStatus.COMPLETED, reason, result=result)
        case Continued():
            return _CANCELLED if cancel_requested else Finish(RunStatus.COMPLETED, result=outcome.result)
        case Failed():
            decision = _after_failure(outcome, run_id, attempt, max_attempts, retry)
        case Lost(error) if attempt >= max_attempts:
            decision = Finish(RunStatus.FAILED, Reason.LOST, error)
        case Lost(error):
            decision = Again(0, spends_attempt=True, error=error, outcome="lost", suspect=True)
        case Cancelled(reason, error) if cancel_requested or reason is not None:
            return Finish(RunStatus.CANCELLED, reason or Reason.CANCEL_REQUESTED, error)
        case Released(started=False):
            decision = _NOT_STARTED
        case Cancelled() | Released():
            decision = _RELEASED
        case Interrupted():
            decision = _INTERRUPTED
        case Snoozed(for_ms):
            decision = Again(for_ms, spends_attempt=False, error=None, outcome="snoozed")
        case Suspended():
            decision = _SUSPENDED
        case Dispatched():
            decision = _DISPATCHED
        case unknown:
            assert_never(unknown)
    return _CANCELLED if cancel_requested and isinstance(decision, Again) else decision


def limit_interruptions(verdict: Finish | Again, before: int, max_interruptions: int | None) -> Finish | Again:
    """End a run that was interrupted more than ``max_interruptions`` times; ``before`` counts the earlier ones."""
    if max_interruptions is None or not isinstance(verdict, Again) or not verdict.is_interruption:
        return verdict
    if before < max_interruptions:
        return verdict
    error = f"interrupted {before + 1} time(s); max_interruptions is {max_interruptions}"
    return Finish(RunStatus.FAILED, Reason.INTERRUPTED, error, ended_as=verdict.outcome)


def after_run(
    cursor: Cursor,
    definition: Definition,
    *,
    status: RunStatus,
    kind: RunKind,
    still_open: int,
    now: int,
    paused: bool = False,
) -> tuple[Cursor, PauseRequest | None]:
    """Decide what the end of a run does to its schedule; a cursor that stays as it is, is the one that was given.

    ``definition`` is the schedule's present revision, ``still_open`` counts its runs that are open after this one.
    """
    if cursor.status.ended:
        return cursor, None
    failures = _failures(cursor, status)
    if failures != cursor.failures:
        cursor = replace(cursor, failures=failures)
    timing = definition.timing
    # A window that is still to come (an edited one-shot) or a run that is still to end keeps the schedule as it is.
    if cursor.next_window_at is None:
        # The window's own run decides; where a manual run has superseded it, the last one that ends.
        decides = kind is RunKind.WINDOW or still_open == 0
        if isinstance(timing, Once) and decides:
            cursor = replace(cursor, status=_END_OF_ONCE[status])
        elif isinstance(timing, Every) and timing.after_completion and decides:
            cursor = _rearmed(cursor, definition, timing, now, paused)
    return _paused_by_failures(cursor, definition)


_END_OF_ONCE = {
    RunStatus.COMPLETED: ScheduleStatus.COMPLETED,
    RunStatus.FAILED: ScheduleStatus.FAILED,
    RunStatus.CANCELLED: ScheduleStatus.CANCELLED,
}


def _after_failure(failed: Failed, run_id: str, attempt: int, max_attempts: int, retry: Retry) -> Finish | Again:
    if failed.fatal:
        return Finish(RunStatus.FAILED, Reason.FATAL, failed.error)
    if attempt >= max_attempts:
        reason = Reason.TIMEOUT if failed.timed_out else Reason.ATTEMPTS_SPENT
        return Finish(RunStatus.FAILED, reason, failed.error)
    outcome = "timed_out" if failed.timed_out else "failed"
    after_ms = max(delay_ms(retry, attempt, run_id), failed.wait_ms)
    return Again(after_ms, spends_attempt=True, error=failed.error, outcome=outcome)


def _failures(cursor: Cursor, status: RunStatus) -> int:
    """Failed runs in a row: a success ends the row, a cancelled run neither lengthens nor ends it."""
    if status is RunStatus.FAILED:
        return cursor.failures + 1
    return 0 if status is RunStatus.COMPLETED else cursor.failures


def _rearmed(cursor: Cursor, definition: Definition, timing: Every, now: int, paused: bool) -> Cursor:
    """The next window of an interval that counts from the end of the run."""
    spent = definition.max_runs is not None and cursor.fired >= definition.max_runs
    since = now if cursor.window_at is None else max(now, cursor.window_at)
    window = None if spent else within_end(definition, timing.after_end_ms(since))
    if window is None:
        return replace(cursor, status=ScheduleStatus.COMPLETED)
    return replace(cursor, next_window_at=window, fire_at=None if paused else fire_instant(definition, window))


def _paused_by_failures(cursor: Cursor, definition: Definition) -> tuple[Cursor, PauseRequest | None]:
    limit = definition.pause_after_failures
    if limit is None or cursor.failures < limit or cursor.status.ended:
        return cursor, None
    parked = cursor if cursor.fire_at is None else replace(cursor, fire_at=None)
    return parked, PauseRequest(f"paused after {cursor.failures} failed runs in a row")
