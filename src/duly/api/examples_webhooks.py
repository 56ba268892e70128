"""Examples of what is sent and answered about webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ID = "019cc9a0-1c2d-7e3f-8a4b-5c6d7e8f9a0b"

BODIES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "createWebhook": {
        "failures": (
            "Be told of what failed, and of what did not fire",
            {"url": "https://example.com/duly", "events": ["run.failed", "schedule.missed", "schedule.overdue"]},
        ),
        "heartbeat": (
            "A dead man's switch for one schedule",
            {"url": "https://hc-ping.com/5f1c7a3e", "kind": "heartbeat", "tag": "nightly"},
        ),
    },
    "updateWebhook": {"enable": ("Let it be told again", {"enabled": True})},
    "rotateWebhookSecret": {"hour": ("Sign with the old one too for an hour", {"keepSeconds": 3600})},
}

_WEBHOOK: Mapping[str, Any] = {
    "id": _ID,
    "url": "https://example.com/duly",
    "kind": "events",
    "events": ["run.failed", "schedule.missed", "schedule.overdue"],
    "scheduleId": None,
    "tag": None,
    "jobType": None,
    "description": None,
    "owner": "user-42",
    "tenant": None,
    "enabled": True,
    "disabledReason": None,
    "failingSince": None,
    "secrets": 1,
    "createdAt": "2026-11-16T09:00:00Z",
    "createdBy": "key:u42-app",
    "updatedAt": "2026-11-16T09:00:00Z",
}
_MADE = {**_WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}

ANSWERS: Mapping[str, Any] = {
    "createWebhook": _MADE,
    "rotateWebhookSecret": {**_MADE, "secrets": 2},
    "listWebhooks": {"items": [_WEBHOOK], "nextCursor": None},
    "getWebhook": _WEBHOOK,
    "updateWebhook": _WEBHOOK,
}
