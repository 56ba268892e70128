"""Examples of instances, and of what workers send and are answered; see ``examples``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SESSION = "3511228834152893046"
RUN_ID = "01936a6c-2a80-7b1e-8f0a-3c5d7e9f1a2b"

BODIES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "claimRuns": {
        "first": ("The first claim begins a session", {"jobs": ["send-digest"], "name": "gpu-1", "waitSeconds": 20}),
        "next": ("Every other one carries it", {"session": SESSION, "jobs": ["send-digest"], "limit": 5}),
    },
    "beatSession": {
        "busy": ("With what is in hand", {"session": SESSION, "runs": [{"runId": RUN_ID, "fence": 1}]}),
    },
    "completeRun": {
        "result": ("With a result", {"session": SESSION, "runId": RUN_ID, "fence": 1, "result": {"sent": 3}}),
    },
    "failRun": {
        "again": ("To be tried again", {"session": SESSION, "runId": RUN_ID, "fence": 1, "error": "no route to host"}),
        "fatal": (
            "For good",
            {"session": SESSION, "runId": RUN_ID, "fence": 1, "error": "no such user", "fatal": True},
        ),
    },
    "answerStarted": {"begun": ("With the fence of the message", {"fence": 1})},
    "answerCompleted": {"result": ("With a result", {"fence": 1, "result": {"sent": 3}})},
    "answerFailed": {
        "again": ("To be delivered again", {"fence": 1, "error": "no route to host"}),
        "fatal": ("For good", {"fence": 1, "error": "no such user", "fatal": True}),
    },
    "releaseRuns": {
        "stop": ("The worker stops", {"session": SESSION}),
        "snooze": (
            "Call me again in a minute",
            {"session": SESSION, "runId": RUN_ID, "fence": 1, "snoozeSeconds": 60},
        ),
    },
}

ANSWERS: Mapping[str, Any] = {
    "listInstances": {
        "items": [
            {
                "name": "web-1",
                "host": "web-1.example",
                "pid": 4711,
                "roles": ["scheduler", "worker"],
                "version": "0.1.0",
                "tzVersion": "2025.2",
                "jobs": ["nightly-report"],
                "startedAt": "2026-11-16T08:00:00Z",
                "leaseUntil": "2026-11-16T12:00:15Z",
                "clockOffsetMs": 3,
                "leader": True,
                "term": 3,
            }
        ],
        "nextCursor": None,
    },
    "claimRuns": {
        "session": SESSION,
        "leaseSeconds": 15.0,
        "heartbeatSeconds": 5.0,
        "runs": [
            {
                "runId": RUN_ID,
                "fence": 1,
                "jobType": "send-digest",
                "payload": {"user": 42},
                "attemptNumber": 1,
                "maxAttempts": 3,
                "timeoutSeconds": 3600.0,
                "leftToJob": ["retry", "timeout"],
                "kind": "direct",
                "queue": "default",
                "scheduleId": None,
                "scheduleKey": None,
                "windowKey": None,
                "scheduledAt": "2026-11-30T02:00:00Z",
                "firedAt": "2026-11-30T02:00:00.004Z",
                "lostBefore": False,
            }
        ],
        "nextDueSeconds": None,
        "heldBack": [],
        "changed": [],
    },
    "beatSession": {
        "session": SESSION,
        "leaseSeconds": 15.0,
        "runs": [{"runId": RUN_ID, "fence": 1, "cancelRequested": False}],
        "cancelled": [],
        "lost": [],
    },
    "completeRun": {"runId": RUN_ID, "status": "completed"},
    "failRun": {"runId": RUN_ID, "status": "pending"},
    "releaseRuns": {"released": 1},
    "answerStarted": {"runId": RUN_ID, "status": "dispatched"},
    "answerCompleted": {"runId": RUN_ID, "status": "completed"},
    "answerFailed": {"runId": RUN_ID, "status": "pending"},
}
