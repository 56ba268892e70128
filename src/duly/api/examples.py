"""Examples for the document: bodies to send, and what comes back. Tests send them and compare the shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import examples_control, examples_keys, examples_webhooks, examples_worker, examples_workflow
from .problems import CODES, occurred, problem

SCHEDULE_ID = "019363a0-5c00-7d83-91f8-20a939dbcd79"
RUN_ID = "01936a6c-2a80-7b1e-8f0a-3c5d7e9f1a2b"

BODIES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "createSchedule": {
        "smallest": (
            "A name, one timing and one target",
            {"name": "Nightly report", "cronExpression": "0 2 * * *", "jobType": "nightly-report"},
        ),
        "local": (
            "Every Monday at 09:00 in São Paulo, with retries",
            {
                "name": "Weekly digest",
                "key": "u42-digest",
                "weeklyTime": {"dayOfWeek": 1, "hour": 9, "minute": 0},
                "timezone": "America/Sao_Paulo",
                "jobType": "send-digest",
                "jobPayload": {"user": 42},
                "maxAttempts": 5,
                "retryPolicy": {"backoff": "exponential", "delaySeconds": 10},
                "overlapPolicy": "queue",
                "tags": ["mail"],
                "metadata": {"ownerId": "user-42", "clientRequestId": "create-digest-42"},
            },
        ),
        "once": (
            "Once, at an instant",
            {"name": "Tax reminder", "onceAt": "2099-03-15T14:00:00Z", "topic": "notifications.task-reminder"},
        ),
    },
    "putSchedule": {
        "interval": (
            "Every ten minutes, whatever was there before",
            {"intervalMinutes": 10, "jobType": "sync-inventory", "catchUp": {"policy": "skip"}},
        )
    },
    "patchSchedule": {
        "timing": ("Another time; everything else stays", {"dailyTime": {"hour": 3, "minute": 30}}),
        "defaults": ("null puts back a default", {"description": None, "jitter": None}),
    },
    "previewTiming": {
        "gap": (
            "A night on which clocks go forward",
            {
                "cronExpression": "30 2 * * *",
                "timezone": "Europe/Berlin",
                "after": "2027-03-27T00:00:00Z",
                "count": 3,
            },
        )
    },
    "applySchedules": {
        "set": (
            "Two schedules of a set; others that it had before are paused",
            {
                "set": "shop",
                "prune": "pause",
                "schedules": [
                    {"key": "nightly", "cronExpression": "0 2 * * *", "jobType": "nightly-report"},
                    {"key": "sync", "intervalMinutes": 10, "jobType": "sync-inventory", "tags": ["stock"]},
                ],
            },
        )
    },
    "pauseSchedule": {
        "reason": ("With a reason and an end", {"reason": "on leave", "until": "2099-01-07T09:00:00Z"}),
    },
    "resumeSchedule": {"catchUp": ("Windows that passed count as missed", {"catchUp": True})},
    "cancelSchedule": {"nothing": ("Nothing to say", {})},
    "rescheduleSchedule": {"later": ("Another moment", {"onceAt": "2099-03-16T14:00:00Z"})},
    "triggerSchedule": {"payload": ("With another payload", {"payload": {"user": 7}, "force": True})},
    "createRun": {
        "now": ("Now", {"jobType": "send-reminder", "payload": {"user": 42}}),
        "later": ("Later", {"jobType": "send-reminder", "runAt": "2099-03-15T14:00:00Z", "priority": 10}),
        "one at a time": (
            "One at a time, and at most five that wait",
            {"jobType": "import", "singleton": "warehouse-7", "maxQueued": 5},
        ),
        "once a day": (
            "Not twice within a day",
            {"jobType": "send-digest", "unique": "digest-42", "uniqueFor": "24h", "onConflict": "refuse"},
        ),
    },
    "cancelRun": {"nothing": ("Nothing to say", {}), "undo": ("Undo first", {"compensate": True})},
    "redriveRun": {
        "same": ("The same run again", {}),
        "payload": ("Corrected, as a new run", {"payload": {"user": 43}}),
    },
    "redriveDeadLetters": {
        "ids": ("These", {"ids": [RUN_ID]}),
        "filter": ("All of a job that died of one error", {"filter": {"jobType": "send-digest", "error": "refused"}}),
    },
    **examples_worker.BODIES,
    "putCalendar": {
        "holidays": (
            "Holidays of a country",
            {
                "description": "Public holidays in Brazil",
                "dates": ["2026-11-20", "2027-02-09"],
                "ranges": [{"from": "2026-12-24", "to": "2027-01-02"}],
                "yearly": ["09-07", "12-25"],
            },
        )
    },
    "acknowledgeDeadLetters": {"all": ("At most a hundred, whatever they are", {"filter": {}, "limit": 100})},
    "putQueue": {
        "limits": (
            "Five at once, a hundred a minute, and a fair share for every tenant",
            {"maxRunning": 5, "rateLimit": {"limit": 100, "periodMs": 60000}, "fair": True},
        ),
        "nothing": ("No limits", {}),
    },
    "patchQueue": {"rate": ("No rate any more; everything else stays", {"rateLimit": None})},
    "pauseQueue": {"reason": ("With a reason", {"reason": "the mail provider is down"})},
    "resumeQueue": {"nothing": ("Nothing to say", {})},
    **examples_control.BODIES,
    **examples_keys.BODIES,
    **examples_webhooks.BODIES,
    **examples_workflow.BODIES,
}

_TIMING: Mapping[str, Any] = {
    "scheduleType": "cron",
    "cronExpression": "0 9 * * 1",
    "everyMs": None,
    "intervalMinutes": None,
    "dailyTime": None,
    "weeklyTime": None,
    "monthlyTime": None,
    "onceAt": None,
    "timezone": "America/Sao_Paulo",
    "dst": {"gap": "fire_after", "fold": "first"},
    "strictFields": None,
    "onPast": None,
    "anchor": None,
    "afterCompletion": None,
}
SCHEDULE: Mapping[str, Any] = {
    "id": SCHEDULE_ID,
    "key": "u42-digest",
    "name": "Weekly digest",
    "description": None,
    "status": "active",
    "enabled": True,
    "pausedReason": None,
    "pausedUntil": None,
    "health": "on_time",
    "nextWindowAt": "2026-11-23T12:00:00Z",
    "nextFireAt": "2026-11-23T12:00:00Z",
    "lastFiredAt": "2026-11-16T12:00:00.004Z",
    "firedAt": "2026-11-16T12:00:00.011Z",
    "attempts": 1,
    "lastError": None,
    **_TIMING,
    "jobType": "send-digest",
    "workflow": None,
    "topic": None,
    "target": None,
    "jobPayload": {"user": 42},
    "maxAttempts": 5,
    "maxRetries": 4,
    "retryPolicy": {"backoff": "exponential", "delaySeconds": 10, "maxDelaySeconds": 3600, "jitter": 0.2},
    "timeoutSeconds": 3600,
    "overlapPolicy": "queue",
    "maxQueued": 1000,
    "maxConcurrent": None,
    "catchUp": {"policy": "latest", "maxLatenessSeconds": None, "maxRuns": 100},
    "jitter": None,
    "fireCurrentWindow": False,
    "calendars": ["br-holidays"],
    "excludeDates": ["2026-12-31"],
    "startAt": None,
    "endAt": None,
    "maxRuns": None,
    "pauseAfterFailures": None,
    "fairnessKey": None,
    "queue": "default",
    "priority": 0,
    "tags": ["mail"],
    "metadata": {
        "ownerId": "user-42",
        "tenantId": None,
        "correlationId": None,
        "clientRequestId": "create-digest-42",
    },
    "revision": 1,
    "createdAt": "2026-11-12T08:30:00Z",
    "updatedAt": "2026-11-12T08:30:00Z",
    "createdBy": None,
    "replaces": None,
    "replacedBy": None,
}
RUN: Mapping[str, Any] = {
    "id": RUN_ID,
    "windowKey": "sched:u42-digest:1794830400000",
    "kind": "window",
    "scheduleId": SCHEDULE_ID,
    "scheduleKey": "u42-digest",
    "jobType": "send-digest",
    "workflow": None,
    "version": None,
    "scheduledAt": "2026-11-16T12:00:00Z",
    "firedAt": "2026-11-16T12:00:00.004Z",
    "startedAt": "2026-11-16T12:00:00.011Z",
    "completedAt": "2026-11-16T12:00:01.523Z",
    "createdAt": "2026-11-16T12:00:00.004Z",
    "status": "completed",
    "reason": None,
    "reasonDetail": None,
    "attemptNumber": 1,
    "maxAttempts": 5,
    "durationMs": 1512,
    "errorMessage": None,
    "result": {"sent": 1},
    "instance": "web-1",
    "queue": "default",
    "priority": 0,
    "cancelRequested": False,
    "since": None,
    "windowCount": None,
    "acknowledgedAt": None,
    "redriveOf": None,
    "redrivenAs": None,
    "payload": {"user": 42},
}
_ATTEMPTS = [
    {
        "attemptNumber": 1,
        "fence": 1,
        "outcome": "completed",
        "errorMessage": None,
        "error": None,
        "startedAt": "2026-11-16T12:00:00.011Z",
        "endedAt": "2026-11-16T12:00:01.523Z",
        "instance": "web-1",
    }
]
_WHOLE_RUN: Mapping[str, Any] = {
    **RUN, "attempts": _ATTEMPTS, "snoozes": 0, "interruptions": 0, "tags": [], "attributes": {}, "waitsFor": None
}  # fmt: skip
_HANDLED = {"count": 12, "refused": [{"id": RUN_ID, "reason": "not_dead"}], "more": False}
_WINDOWS: list[Mapping[str, Any]] = [
    {
        "windowAt": "2027-03-28T01:00:00Z",
        "fireAt": "2027-03-28T01:00:00Z",
        "localTime": "2027-03-28T03:00:00+02:00",
        "note": "02:30 does not exist that day (clocks go forward); fires at 03:00",
    },
    {
        "windowAt": "2027-03-29T00:30:00Z",
        "fireAt": "2027-03-29T00:30:00Z",
        "localTime": "2027-03-29T02:30:00+02:00",
        "note": "excluded by de-holidays",
        "excluded": True,
    },
]
_NOT_LISTED = {"jobPayload", "attempts", "lastError", "payload"}
_LISTED_SCHEDULE = {name: value for name, value in SCHEDULE.items() if name not in _NOT_LISTED}
_LISTED_RUN = {name: value for name, value in RUN.items() if name not in _NOT_LISTED}
_DEAD_RUN = _LISTED_RUN | {"status": "failed", "reason": "attempts_spent", "errorMessage": "OSError: refused"}
_RUNS = {"items": [_LISTED_RUN], "nextCursor": RUN_ID}

QUEUE: Mapping[str, Any] = {
    "name": "mail",
    "maxRunning": 5,
    "rateLimit": {"limit": 100, "periodMs": 60000},
    "fair": True,
    "newestFirst": False,
    "paused": True,
    "pausedAt": "2026-11-16T12:00:00Z",
    "pausedReason": "the mail provider is down",
    "pausedBy": None,
    "running": 2,
    "waiting": 17,
    "scheduled": 3,
}
CALENDAR: Mapping[str, Any] = {
    "id": "019363a0-5c00-7d83-91f8-20a939dbcd80",
    "name": "br-holidays",
    "tenantId": None,
    "description": "Public holidays in Brazil",
    "dates": ["2026-11-20", "2027-02-09"],
    "ranges": [{"from": "2026-12-24", "to": "2027-01-02"}],
    "yearly": ["09-07", "12-25"],
    "revision": 1,
    "createdAt": "2026-11-12T08:30:00Z",
    "createdBy": None,
    "updatedAt": "2026-11-12T08:30:00Z",
    "updatedBy": None,
}

ANSWERS: Mapping[str, Any] = {
    **examples_worker.ANSWERS,
    **dict.fromkeys(
        (
            "createSchedule",
            "getSchedule",
            "patchSchedule",
            "putSchedule",
            "pauseSchedule",
            "resumeSchedule",
            "cancelSchedule",
            "rescheduleSchedule",
        ),
        SCHEDULE,
    ),
    **dict.fromkeys(("cancelRun", "testWebhook"), RUN),
    **{name: {**RUN, "givenId": None} for name in ("triggerSchedule", "createRun")},
    **dict.fromkeys(("getRun", "redriveRun"), _WHOLE_RUN),
    **dict.fromkeys(("redriveDeadLetters", "acknowledgeDeadLetters"), _HANDLED),
    "listDeadLetters": {"items": [_DEAD_RUN], "nextCursor": None},
    "listSchedules": {"items": [_LISTED_SCHEDULE], "nextCursor": SCHEDULE_ID},
    "listExecutions": _RUNS,
    "listRuns": _RUNS,
    "applySchedules": {
        "set": "shop",
        "dryRun": False,
        "items": [
            {
                "key": "nightly",
                "id": SCHEDULE_ID,
                "outcome": "changed",
                "changes": [{"field": "cronExpression", "old": "0 1 * * *", "new": "0 2 * * *"}],
            }
        ],
    },
    **dict.fromkeys(("getCalendar", "putCalendar"), CALENDAR),
    "listCalendars": {"items": [CALENDAR], "nextCursor": None},
    "streamEvents": {
        "id": "4711",
        "type": "run.failed",
        "at": "2026-11-16T02:00:07.120Z",
        "scheduleId": SCHEDULE_ID,
        "scheduleKey": "nightly-report",
        "runId": RUN_ID,
        "jobType": "nightly-report",
        "attemptNumber": 3,
        "reason": None,
        "errorMessage": "ConnectionError: no route to host",
        "ownerId": "user-42",
        "tenantId": None,
    },
    "audit": {
        "since": "2026-11-15T12:00:00Z",
        "until": "2026-11-16T12:00:00Z",
        "schedules": 1,
        "windows": 24,
        "rows": 23,
        "clean": False,
        "findings": [
            {
                "fault": "missed",
                "scheduleId": "019a8c1e-7c40-7000-8000-000000000001",
                "key": "hourly-report",
                "tenantId": None,
                "since": "2026-11-16T02:00:00Z",
                "windowAt": "2026-11-16T02:00:00Z",
                "windowCount": 1,
                "windowKey": "sched:hourly-report:1794794400000",
                "runId": None,
                "detail": "no row says what became of it",
            }
        ],
        "notJudged": [],
        "nextCursor": None,
    },
    "listQueues": {"items": [QUEUE], "nextCursor": None},
    **dict.fromkeys(("getQueue", "putQueue", "patchQueue", "pauseQueue", "resumeQueue"), QUEUE),
    "listUpcoming": {"items": _WINDOWS, "nextCursor": None},
    "previewTiming": {
        **_TIMING,
        "cronExpression": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "items": _WINDOWS,
        "nextCursor": None,
        "explanation": "At 02:30 every day, Europe/Berlin",
    },
    **examples_control.ANSWERS,
    **examples_keys.ANSWERS,
    **examples_webhooks.ANSWERS,
    **examples_workflow.answers(RUN),
}


def problem_example(code: str) -> dict[str, Any]:
    """What a problem of this code looks like."""
    kind, words = CODES[code]
    extra: dict[str, Any] = {}
    if kind.status == 422:
        extra["errors"] = [{"code": code, "detail": words, "pointer": "/name"}]
    if kind.status == 503:
        extra["retryAfterSeconds"] = 1
    if code in ("SCHEDULE_KEY_IN_USE", "SCHEDULE_CLIENT_REQUEST_ID_IN_USE"):
        extra["existingId"] = SCHEDULE_ID
    return occurred(problem(kind, code, words, **extra), "019363a1-77aa-7c21-a9b3-5d1e0f2a3b4c")
