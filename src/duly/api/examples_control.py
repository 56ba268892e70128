"""Examples of what operators send and get."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPERATION_ID = "01936a70-8f00-7a3c-9d21-5e6f708192a3"
_SCHEDULE_ID = "019363a0-5c00-7d83-91f8-20a939dbcd79"

BODIES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "changeSchedules": {
        "pause": (
            "Pause all schedules with a tag",
            {
                "action": "pause",
                "filter": {"tag": "mail"},
                "reason": "the mail provider is down",
                "until": "2099-01-07T09:00:00Z",
            },
        ),
        "resume": ("Resume those that were paused for that", {"action": "resume", "filter": {"enabled": False}}),
        "ids": ("Trigger two, and see what became of each", {"action": "trigger", "ids": ["k", "nobody"]}),
        "dryRun": ("Count what would go", {"action": "delete", "filter": {"q": "old-"}, "dryRun": True}),
    },
    "backfillSchedule": {
        "days": (
            "One run every two seconds, with another payload",
            {
                "from": "2026-11-01T00:00:00Z",
                "to": "2026-11-01T00:10:00Z",
                "payload": {"again": True},
                "ratePerSecond": 0.5,
            },
        ),
        "dryRun": (
            "Only show the windows",
            {"from": "2026-11-01T00:00:00Z", "to": "2026-11-01T00:10:00Z", "dryRun": True},
        ),
    },
    "pauseFiring": {"reason": ("With a reason", {"reason": "the database is being moved"})},
    "resumeFiring": {"skip": ("What fell due meanwhile does not fire", {"backlog": "skip"})},
    "markRestored": {"reason": ("With a reason", {"reason": "backup of 04:00"})},
}

_ITEMS = [
    {"id": _SCHEDULE_ID, "outcome": "refused", "detail": "schedule 'k' has a run that has not ended", "runId": None}
]
_OPERATION: dict[str, Any] = {
    "id": OPERATION_ID,
    "kind": "pause",
    "status": "running",
    "arguments": {"filter": {"tag": "mail"}, "reason": "the mail provider is down", "until": "2099-01-07T09:00:00Z"},
    "matched": 1200,
    "changed": 1180,
    "refused": 0,
    "error": None,
    "createdAt": "2026-11-16T12:04:10Z",
    "createdBy": "ops",
    "updatedAt": "2026-11-16T12:04:11Z",
    "finishedAt": None,
    "items": [],
}
_BACKFILL = _OPERATION | {
    "kind": "backfill",
    "arguments": {
        "from": "2026-11-01T00:00:00Z",
        "to": "2026-11-05T00:00:00Z",
        "ratePerSecond": 0.5,
        "force": False,
        "scheduleId": _SCHEDULE_ID,
    },
    "matched": 4,
    "changed": 1,
}
_RESUMED = _OPERATION | {"kind": "resume_all", "arguments": {"backlog": "skip"}}
_PURGE = _OPERATION | {
    "kind": "purge",
    "arguments": {"cancelRunning": False, "scheduleId": _SCHEDULE_ID},
    "matched": 5000,
    "changed": 5000,
}
_FIRING: dict[str, Any] = {
    "paused": True,
    "pausedAt": "2026-11-16T12:00:00Z",
    "by": "ops",
    "reason": "the database is being moved",
    "restoredAt": None,
    "epoch": 1,
}
_RECENT = {
    "since": "2026-11-16T11:00:00Z", "fired": 412, "completed": 405, "failed": 2, "cancelled": 0, "skipped": 3,
    "missed": 1,
}  # fmt: skip

ANSWERS: Mapping[str, Any] = {
    "changeSchedules": _OPERATION | {"items": _ITEMS},
    "changeSchedules 200": {"dryRun": True, "matched": 37, "more": False, "keys": ["old-report", "old-sync"]},
    "backfillSchedule": _BACKFILL,
    "backfillSchedule 200": {
        "items": [
            {
                "windowAt": "2026-11-01T00:00:00Z",
                "fireAt": "2026-11-01T00:00:00Z",
                "localTime": "2026-10-31T21:00:00-03:00",
                "note": None,
            }
        ],
        "nextCursor": None,
    },
    "deleteSchedule 202": _PURGE,
    "getOperation": _OPERATION,
    "listOperations": {
        "items": [{name: value for name, value in _OPERATION.items() if name != "items"}],
        "nextCursor": None,
    },
    "listChanges": {
        "items": [
            {
                "number": 1,
                "at": "2026-11-16T09:12:44Z",
                "by": "ann",
                "action": "edit",
                "revision": 2,
                "fields": [{"field": "cronExpression", "old": "0 9 * * 1", "new": "30 9 * * 1"}],
            },
            {"number": 0, "at": "2026-11-12T08:30:00Z", "by": None, "action": "create", "revision": 1, "fields": []},
        ],
        "nextCursor": None,
    },
    "listComing": {
        "items": [
            {
                "scheduleId": _SCHEDULE_ID,
                "key": "u42-digest",
                "name": "Weekly digest",
                "jobType": "send-digest",
                "timezone": "America/Sao_Paulo",
                "windowAt": "2026-11-23T12:00:00Z",
                "fireAt": "2026-11-23T12:00:00Z",
                "localTime": "2026-11-23T09:00:00-03:00",
                "note": None,
                "excluded": False,
                "health": "on_time",
            }
        ],
        "nextCursor": f"1795435200000.1.{_SCHEDULE_ID}",
    },
    "listLate": {
        "items": [
            {
                "scheduleId": _SCHEDULE_ID,
                "key": "u42-digest",
                "name": "Weekly digest",
                "jobType": "send-digest",
                "timezone": "America/Sao_Paulo",
                "health": "overdue",
                "windowAt": "2026-11-09T12:00:00Z",
                "fireAt": "2026-11-09T12:00:00Z",
                "lateMs": 605_100_000,
                "windowsOwed": 2,
                "lastFiredAt": "2026-11-02T12:00:00Z",
            }
        ],
        "nextCursor": None,
    },
    "getStats": {
        "at": "2026-11-16T12:00:00Z",
        "due": 3,
        "late": 0,
        "ready": 5,
        "queued": 1,
        "running": 12,
        "unknownJob": 0,
        "dead": 7,
        "firingPaused": False,
        "lastHour": _RECENT,
        "lastDay": _RECENT | {"since": "2026-11-15T12:00:00Z", "fired": 9120, "completed": 9070, "failed": 31},
    },
    "listDeadGroups": {
        "items": [
            {
                "jobType": "send-digest",
                "error": "OSError: refused",
                "errorType": "OSError",
                "errorLocation": "shop/digest.py:41 in send",
                "count": 12,
                "firstAt": "2026-11-16T09:00:00Z",
                "lastAt": "2026-11-16T11:58:02Z",
                "lastRunId": "01936a6c-2a80-7b1e-8f0a-3c5d7e9f1a2b",
            }
        ],
        "nextCursor": None,
    },
    "getFiring": _FIRING,
    "pauseFiring": _FIRING,
    "resumeFiring": _RESUMED,
    "markRestored": _FIRING | {"reason": "backup of 04:00", "restoredAt": "2026-11-16T12:00:00Z", "epoch": 2},
}
