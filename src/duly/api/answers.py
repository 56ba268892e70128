"""What is answered: schedules, runs and coming windows as plain camelCase dictionaries, times as RFC 3339 in UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import UnsetType

from duly.config import Settings
from duly.core.calendar import Calendar
from duly.core.dead import AttemptRecord
from duly.core.naming import health_at
from duly.core.queue import Queue
from duly.core.run import Run
from duly.core.schedule import Schedule, Target, TargetKind
from duly.core.sealed import is_sealed, readable
from duly.core.timing import Cron, Every, Once, Timing, explain
from duly.core.timing.epoch import FIRST_SECOND, LAST_SECOND

from .shapes import (
    AttemptAnswer,
    CalendarAnswer,
    PreviewAnswer,
    QueueAnswer,
    RunAnswer,
    ScheduleAnswer,
    StartedRunAnswer,
    TimingAnswer,
    UpcomingAnswer,
)

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - it only counts seconds, and stands for UTC
_SECONDS = range(FIRST_SECOND, LAST_SECOND + 1)


def timing_answer(timing: Timing) -> TimingAnswer:
    return {
        "scheduleType": "cron" if isinstance(timing, Cron) else "interval" if isinstance(timing, Every) else "once",
        "cronExpression": timing.expr if isinstance(timing, Cron) else None,
        "everyMs": timing.every_ms if isinstance(timing, Every) else None,
        "intervalMinutes": None,
        "dailyTime": None,
        "weeklyTime": None,
        "monthlyTime": None,
        "onceAt": at_ms(timing.at_ms) if isinstance(timing, Once) else None,
        "timezone": timing.timezone,
        "dst": {"gap": timing.dst_gap, "fold": timing.dst_fold} if isinstance(timing, Cron) else None,
        "strictFields": timing.strict_fields if isinstance(timing, Cron) else None,
        "onPast": timing.on_past if isinstance(timing, Once) else None,
        "anchor": _anchor(timing) if isinstance(timing, Every) else None,
        "afterCompletion": timing.after_completion if isinstance(timing, Every) else None,
    }


def schedule_answer(
    schedule: Schedule, settings: Settings, now: int, last: Run | None = None, *, whole: bool = True
) -> ScheduleAnswer:
    """A schedule; ``last`` is the run of its newest window, ``whole`` is False in lists."""
    facts, definition, cursor = schedule.facts, schedule.definition, schedule.cursor
    retry, jitter, catch_up, target = definition.retry, definition.jitter, definition.catch_up, definition.target
    max_attempts = retry.max_attempts if retry else settings.default_max_attempts
    answer: ScheduleAnswer = {
        "id": facts.id,
        "key": facts.key,
        "name": facts.name,
        "description": facts.description,
        "status": cursor.status.value,
        "enabled": facts.paused_at is None,
        "pausedReason": facts.pause_reason,
        "pausedUntil": at_ms(facts.paused_until),
        "health": health_of(schedule, settings, now),
        "nextWindowAt": at_ms(cursor.next_window_at),
        "nextFireAt": at_ms(cursor.fire_at),
        "lastFiredAt": at_ms(cursor.last_fired_at),
        "firedAt": at_ms(cursor.last_fired_at),
        **timing_answer(definition.timing),  # type: ignore[typeddict-item]  # it has no payload, whatever mypy fears
        "jobType": target.name if target.kind is TargetKind.JOB else None,
        "workflow": target.name if target.kind is TargetKind.WORKFLOW else None,
        "topic": target.name if target.kind is TargetKind.TOPIC else target.topic,
        "target": _outside(target),
        "maxAttempts": max_attempts,
        "maxRetries": max_attempts - 1,
        "retryPolicy": None
        if retry is None
        else {
            "backoff": str(retry.backoff),
            "delaySeconds": retry.delay,
            "maxDelaySeconds": retry.max_delay,
            "jitter": retry.jitter,
        },
        "timeoutSeconds": _seconds(definition.timeout_ms),
        "overlapPolicy": definition.overlap.value,
        "maxQueued": definition.max_queued,
        "maxConcurrent": definition.max_concurrent,
        "catchUp": {
            "policy": str(catch_up.policy),
            "maxLatenessSeconds": None if (late := catch_up.max_lateness) is None else _whole(late.total_seconds()),
            "maxRuns": catch_up.max_runs,
        },
        "jitter": None if jitter is None else {"minMs": jitter.min_ms, "maxMs": jitter.max_ms},
        "fireCurrentWindow": definition.fire_current_window,
        "calendars": list(definition.calendars),
        "excludeDates": [day.isoformat() for day in definition.exclude_dates],
        "startAt": at_ms(definition.start_at),
        "endAt": at_ms(definition.end_at),
        "maxRuns": definition.max_runs,
        "pauseAfterFailures": definition.pause_after_failures,
        "queue": definition.queue,
        "priority": definition.priority,
        "fairnessKey": definition.fairness_key,
        "tags": list(facts.tags),
        "metadata": {
            "ownerId": facts.owner,
            "tenantId": facts.tenant or None,
            "correlationId": facts.correlation_id,
            "clientRequestId": facts.client_request_id,
        },
        "revision": facts.revision,
        "createdAt": at_ms(facts.created_at),
        "updatedAt": at_ms(facts.updated_at),
        "createdBy": facts.created_by,
        "replaces": facts.replaces,
        "replacedBy": facts.replaced_by,
    }
    if whole:
        answer["attempts"] = 0 if last is None else last.attempt
        answer["lastError"] = cursor.error or (None if last is None else last.error_message)
        answer["jobPayload"] = msgspec.json.decode(readable(definition.payload))
    return answer


def queue_answer(queue: Queue) -> QueueAnswer:
    state = queue.state
    limited = state.rate is not None and state.per_ms is not None
    return {
        "name": queue.name,
        "maxRunning": queue.max_running,
        "rateLimit": {"limit": state.rate or 0, "periodMs": state.per_ms or 0} if limited else None,
        "fair": queue.fair,
        "newestFirst": queue.newest_first,
        "paused": queue.paused,
        "pausedAt": at_ms(state.paused_at),
        "pausedReason": queue.paused_reason,
        "pausedBy": queue.paused_by,
        "running": queue.running,
        "waiting": queue.waiting,
        "scheduled": queue.scheduled,
    }


def started_answer(run: Run, given_id: str | UnsetType | None) -> StartedRunAnswer:
    """A run as the request that asked for it sees it: with the id that the caller chose."""
    return {**run_answer(run), "givenId": given_id or None}


def run_answer(run: Run, *, whole: bool = True) -> RunAnswer:
    """A run; ``whole`` is False in lists."""
    duration = run.duration
    answer: RunAnswer = {
        "id": run.id,
        "windowKey": run.window_key,
        "kind": run.kind.value,
        "scheduleId": run.schedule_id,
        "scheduleKey": run.schedule_key,
        "jobType": run.job if run.workflow is None else None,
        "workflow": run.workflow,
        "version": run.version,
        "scheduledAt": at(run.scheduled_at),
        "firedAt": at(run.fired_at),
        "startedAt": None if run.started_at is None else at(run.started_at),
        "completedAt": None if run.completed_at is None else at(run.completed_at),
        "createdAt": at(run.created_at),
        "status": run.status.value,
        "reason": run.reason,
        "reasonDetail": run.reason_detail,
        "attemptNumber": run.attempt_number,
        "maxAttempts": run.max_attempts,
        "durationMs": None if duration is None else duration // timedelta(milliseconds=1),
        "errorMessage": run.error_message,
        "result": run.result if whole or not is_sealed(run.result_json or "") else None,
        "instance": run.instance,
        "queue": run.queue,
        "priority": run.priority,
        "cancelRequested": run.cancel_requested,
        "since": None if run.since is None else at(run.since),
        "windowCount": run.window_count,
        "acknowledgedAt": None if run.acknowledged_at is None else at(run.acknowledged_at),
        "redriveOf": run.redrive_of,
        "redrivenAs": run.redriven_as,
    }
    if whole:
        answer["payload"] = run.payload
    return answer


def attempt_answer(attempt: AttemptRecord) -> AttemptAnswer:
    error = attempt.error
    return {
        "attemptNumber": attempt.attempt_number,
        "fence": attempt.fence,
        "outcome": attempt.outcome,  # type: ignore[typeddict-item]  # the words that the store keeps
        "errorMessage": attempt.error_message,
        "error": None
        if error is None
        else {"type": error.type, "message": error.message, "stack": error.stack, "truncated": error.truncated},
        "startedAt": None if attempt.started_at is None else at(attempt.started_at),
        "endedAt": None if attempt.ended_at is None else at(attempt.ended_at),
        "instance": attempt.instance,
    }


def calendar_answer(calendar: Calendar) -> CalendarAnswer:
    return {
        "id": calendar.id,
        "name": calendar.name,
        "tenantId": calendar.tenant or None,
        "description": calendar.description,
        "dates": [day.isoformat() for day in calendar.dates],
        "ranges": [{"from": first.isoformat(), "to": last.isoformat()} for first, last in calendar.ranges],
        "yearly": [str(day) for day in calendar.yearly],
        "revision": calendar.revision,
        "createdAt": at(calendar.created_at),
        "createdBy": calendar.created_by,
        "updatedAt": at(calendar.updated_at),
        "updatedBy": calendar.updated_by,
    }


def upcoming_answer(window: Any) -> UpcomingAnswer:
    local = window.local_time
    answer: UpcomingAnswer = {
        "windowAt": at(window.window_at),
        "fireAt": at(window.fire_at),
        "localTime": local if isinstance(local, str) else local.isoformat(timespec=_precision(local)),
        "note": window.note,
    }
    if window.excluded:
        answer["excluded"] = True
    return answer


def _precision(instant: datetime) -> str:
    return "milliseconds" if instant.microsecond >= 1000 else "seconds"


def preview_answer(timing: Timing, timezone: str, windows: Sequence[Any]) -> PreviewAnswer:
    items = [upcoming_answer(window) for window in windows]
    answer: PreviewAnswer = {
        **timing_answer(timing), "items": items, "nextCursor": None, "explanation": explain(timing)
    }  # fmt: skip
    answer["timezone"] = timezone
    return answer


def at(instant: datetime) -> str:
    """An instant in UTC as people exchange it: milliseconds only where there are some."""
    text = instant.isoformat()
    return text[:23] + "Z" if instant.microsecond >= 1000 else text[:19] + "Z"


def at_ms(ms: int | None) -> Any:
    """The same from epoch milliseconds; None stays None."""
    if ms is None:
        return None
    second, part = divmod(ms, 1000)
    text = _second(second)
    return f"{text}.{part:03}Z" if part else text + "Z"


@lru_cache(maxsize=8192)
def _second(second: int) -> str:
    # Kept, because in a list of schedules the same instants come again and again.
    if second not in _SECONDS:  # one such row must not hide the others
        second = _SECONDS[-1] if second > 0 else _SECONDS[0]
    return (_EPOCH + timedelta(0, second)).isoformat()


def health_of(schedule: Schedule, settings: Settings, now: int) -> Literal["on_time", "late", "overdue"]:
    return health_at(schedule.cursor.fire_at, now, settings.catch_up_grace * 1000)


def _anchor(timing: Every) -> str:
    return at(timing.anchor) if isinstance(timing.anchor, datetime) else timing.anchor


def _outside(target: Target) -> dict[str, Any] | None:
    if target.spec is None:
        return None
    spec: dict[str, Any] = msgspec.json.decode(target.spec)
    spec.pop("secret", None)  # it signs deliveries, and nobody who may read a schedule needs it
    return spec


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else _whole(ms / 1000)


def _whole(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else seconds
