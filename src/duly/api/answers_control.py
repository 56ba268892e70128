"""What operators are answered: operations, the audit trail, what comes next, and how it all fares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duly.app.overview import Coming, Late
from duly.config import Settings
from duly.core.change import ScheduleChange
from duly.core.dead import DeadGroup
from duly.core.ids import bulk_run_id
from duly.core.instants import to_ms
from duly.core.operation import Became, Item, Operation, OperationKind
from duly.core.switch import FiringState
from duly.store.values import Recent, Stats

from .answers import at, at_ms, health_of, upcoming_answer
from .findings import camel
from .shapes_control import (
    ComingAnswer,
    DeadGroupAnswer,
    FieldChangeAnswer,
    FiringAnswer,
    ItemAnswer,
    LateAnswer,
    OperationAnswer,
    RecentAnswer,
    ScheduleChangeAnswer,
    StatsAnswer,
)

_NAMES = {"since": "from", "until": "to"}
_FILTER = {"job": "jobType"}
_TRAIL = {
    "job": "jobType",
    "payload": "jobPayload",
    "overlap": "overlapPolicy",
    "timeout": "timeoutSeconds",
    "retry": "retryPolicy",
    "owner_id": "metadata.ownerId",
    "correlation_id": "metadata.correlationId",
}
"""Fields of the trail whose name over REST is more than their camelCase."""


def operation_answer(operation: Operation, *, whole: bool = True) -> OperationAnswer:
    """An operation; ``whole`` is False in lists."""
    answer: OperationAnswer = {
        "id": operation.id,
        "kind": operation.kind.value,
        "status": operation.status.value,
        "arguments": _arguments(operation),
        "matched": operation.matched,
        "changed": operation.changed,
        "refused": operation.refused,
        "error": operation.error,
        "createdAt": at(operation.made_at),
        "createdBy": operation.by,
        "updatedAt": at(operation.updated_at),
        "finishedAt": None if operation.finished_at is None else at(operation.finished_at),
    }
    if whole:
        answer["items"] = [_item(operation, item) for item in operation.items]
    return answer


def change_answer(change: ScheduleChange) -> ScheduleChangeAnswer:
    fields: list[FieldChangeAnswer] = [
        {"field": name, "old": field.old, "new": field.new} if field.shown else {"field": name}
        for field in change.fields
        for name in (_TRAIL.get(field.field, camel(field.field)),)
    ]
    return {
        "number": change.number,
        "at": at(change.at),
        "by": change.by,
        "action": change.action.value,
        "revision": change.revision,
        "fields": fields,
    }


def coming_answer(coming: Coming, settings: Settings, now: int) -> ComingAnswer:
    schedule, window = coming.schedule, upcoming_answer(coming.window)
    return {
        "scheduleId": schedule.id,
        "key": schedule.key,
        "name": schedule.facts.name,
        "jobType": schedule.definition.target.handler,
        "timezone": schedule.definition.timing.timezone,
        "windowAt": window["windowAt"],
        "fireAt": window["fireAt"],
        "localTime": window["localTime"],
        "note": window["note"],
        "excluded": coming.window.excluded,
        "health": health_of(schedule, settings, now),
    }


def late_answer(late: Late, settings: Settings, now: int) -> LateAnswer:
    schedule, window = late.schedule, upcoming_answer(late.window)
    return {
        "scheduleId": schedule.id,
        "key": schedule.key,
        "name": schedule.facts.name,
        "jobType": schedule.definition.target.handler,
        "timezone": schedule.definition.timing.timezone,
        "health": health_of(schedule, settings, now),
        "windowAt": window["windowAt"],
        "fireAt": window["fireAt"],
        "lateMs": late.late_ms,
        "windowsOwed": late.owed,
        "lastFiredAt": at_ms(schedule.cursor.last_fired_at),
    }


def stats_answer(stats: Stats) -> StatsAnswer:
    return {
        "at": at_ms(stats.now),
        "due": stats.load.due,
        "late": stats.late,
        "ready": stats.load.ready,
        "queued": stats.load.in_lanes,
        "running": stats.load.running,
        "unknownJob": stats.load.of_unknown_jobs,
        "dead": stats.dead,
        "firingPaused": stats.load.firing_paused,
        "lastHour": _recent(stats.hour),
        "lastDay": _recent(stats.day),
    }


def group_answer(group: DeadGroup) -> DeadGroupAnswer:
    return {
        "jobType": group.job,
        "error": group.error,
        "errorType": group.error_type,
        "errorLocation": group.error_location,
        "count": group.count,
        "firstAt": at(group.first_died_at),
        "lastAt": at(group.last_died_at),
        "lastRunId": group.newest_run_id,
    }


def firing_answer(state: FiringState) -> FiringAnswer:
    return {
        "paused": state.paused,
        "pausedAt": None if state.paused_at is None else at(state.paused_at),
        "by": state.by,
        "reason": state.reason,
        "restoredAt": None if state.restored_at is None else at(state.restored_at),
        "epoch": state.epoch,
    }


def _item(operation: Operation, item: Item) -> ItemAnswer:
    run_id = None
    if operation.kind is OperationKind.TRIGGER and item.became is Became.CHANGED:
        run_id = bulk_run_id(operation.id, item.id, to_ms(operation.made_at, "made_at"))
    return {"id": item.id, "outcome": item.became.value, "detail": item.detail, "runId": run_id}


def _arguments(operation: Operation) -> dict[str, Any]:
    """What was asked for, in the words of a body; what was not said is left out."""
    given = {name: value for name, value in operation.arguments.items() if value is not None}
    told: dict[str, Any] = {}
    if operation.kind is OperationKind.BACKFILL:
        given.pop("windows", None)  # up to a thousand; the operation says how many
        told |= {_NAMES[name]: at_ms(given.pop(name)) for name in ("since", "until")}
    if "until" in given:
        told["until"] = at_ms(given.pop("until"))
    where: Mapping[str, Any] = given.pop("where", None) or {}
    found = {_FILTER.get(name, camel(name)): value for name, value in where.items() if value is not None}
    told |= {"filter": found} if found else {}
    return told | {camel(name): value for name, value in given.items()}


def _recent(recent: Recent) -> RecentAnswer:
    return {
        "since": at_ms(recent.since),
        "fired": recent.fired,
        "completed": recent.completed,
        "failed": recent.failed,
        "cancelled": recent.cancelled,
        "skipped": recent.skipped,
        "missed": recent.missed,
    }
