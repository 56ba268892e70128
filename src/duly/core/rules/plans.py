"""What a fire is given and what it answers, and the rows that it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duly.core.ids import window_run_id
from duly.core.policy import Missed, Overlap
from duly.core.rules.missed import Dropped
from duly.core.run import NewRun, Reason, RunKind, SkippedWindows
from duly.core.schedule import Cursor, Definition, ScheduleStatus, TargetKind

# Looked up once: an attribute of an enum costs as much as a call, and these are read on every fire.
_PENDING, _ACTIVE, _COMPLETED = ScheduleStatus.PENDING, ScheduleStatus.ACTIVE, ScheduleStatus.COMPLETED
_SKIP, _ALLOW, _ALL = Overlap.SKIP, Overlap.ALLOW, Missed.ALL
_WINDOW, _JOB = RunKind.WINDOW, TargetKind.JOB


@dataclass(frozen=True, slots=True)
class FireRules:
    """The settings of a server that a fire obeys."""

    grace_ms: int = 10_000
    per_schedule: int = 50
    default_max_attempts: int = 3
    cancel_grace_ms: int = 10_000
    max_interruptions: int | None = None


@dataclass(slots=True)
class Plan:
    """What one fire writes for one schedule: the moved cursor, runs, skipped rows and cancels.

    ``cancel_running`` get a cancel request; ``cancel_waiting`` end at once, cancelled, reason superseded, and
    ``release`` need not wait for them any more. A cursor that did not move is the very object that was given.
    """

    cursor: Cursor
    runs: list[NewRun]
    skips: list[SkippedWindows]
    cancel_running: list[str]
    cancel_waiting: list[str]
    release: tuple[str, ...] = ()


def new_run(
    cursor: Cursor, definition: Definition, window: int, due_at: int, hold: int, now: int, rules: FireRules, tenant: str
) -> NewRun:
    """The run of a window."""
    schedule_id = cursor.schedule_id
    target = definition.target
    retry = definition.retry
    overlap = definition.overlap
    # The same as definition.uses_lane, without its calls.
    alone = overlap is _SKIP or overlap is _ALLOW
    lane = not alone or definition.max_concurrent is not None or definition.catch_up.policy is _ALL
    return NewRun(
        id=window_run_id(schedule_id, window),
        job=target.name if target.kind is _JOB else target.handler,
        kind=_WINDOW,
        due_at=due_at,
        fired_at=now,
        schedule_id=schedule_id,
        revision=cursor.revision,
        window_at=window,
        tenant=tenant,
        queue=definition.queue,
        priority=definition.priority,
        slot=cursor.slot,
        hold=hold,
        lane=schedule_id if lane or hold else None,
        max_attempts=rules.default_max_attempts if retry is None else retry.max_attempts,
        timeout_ms=definition.timeout_ms,
        fair_key=definition.fairness_key,
    )


def skipped_row(cursor: Cursor, definition: Definition, dropped: Dropped, now: int) -> SkippedWindows:
    """The row of windows that do not fire, under the id of the newest of them."""
    schedule_id = cursor.schedule_id
    return SkippedWindows(
        id=window_run_id(schedule_id, dropped.until),
        schedule_id=schedule_id,
        revision=cursor.revision,
        since=dropped.since,
        window_at=dropped.until,
        windows=dropped.windows,
        job=definition.target.handler,
        queue=definition.queue,
        reason=dropped.reason,
        fired_at=now,
        detail=dropped.detail,
    )


def moved(
    cursor: Cursor, window: int | None, next_window: int | None, fire_at: int | None, fired: int, now: int, ended: bool
) -> Cursor:
    """The cursor after ``fired`` runs, with ``window`` as the newest one dealt with."""
    status = cursor.status
    if ended:
        status = _COMPLETED
    elif fired and status is _PENDING:
        status = _ACTIVE
    return Cursor(
        schedule_id=cursor.schedule_id,
        revision=cursor.revision,
        status=status,
        window_at=window,
        next_window_at=next_window,
        fire_at=fire_at,
        slot=cursor.slot,
        fired=cursor.fired + fired,
        failures=cursor.failures,
        last_fired_at=now if fired else cursor.last_fired_at,
    )


_WHY_SKIPPED = {
    Reason.MISSED: "its window was missed and the catch-up policy is skip",
    Reason.TOO_LATE: "its window was missed by more than max_lateness",
    Reason.EXCLUDED: "its date is excluded",
    Reason.PAUSED: "its window passed while it was paused",
}


def never_ran(cursor: Cursor, reason: Reason, detail: str | None = None) -> Cursor:
    """The cursor of a one-shot that was skipped: it has failed, and its error says why."""
    error = f"skipped ({reason}): {detail or _WHY_SKIPPED.get(reason, 'its window did not fire')}"
    return replace(cursor, status=ScheduleStatus.FAILED, next_window_at=None, fire_at=None, error=error)


def unmoved(cursor: Cursor, next_window: int | None, fire_at: int | None) -> Plan:
    """A plan that deals with nothing; it may set right what the cursor says is next."""
    if cursor.next_window_at != next_window or cursor.fire_at != fire_at:
        cursor = replace(cursor, next_window_at=next_window, fire_at=fire_at)
    return Plan(cursor, [], [], [], [])
