"""Examples of what is sent and answered about keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ID = "4fJ2kQ9x"

BODIES: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "createKey": {
        "user": (
            "A key of a user, for a year",
            {"name": "u42-app", "owner": "user-42", "scopes": ["read", "write"], "expiresAt": "2099-01-01T00:00:00Z"},
        ),
        "worker": ("A key of a worker, for one queue", {"name": "gpu-box", "scopes": ["worker"], "queues": ["gpu"]}),
        "admin": ("A key of an operator", {"name": "ops", "scopes": ["admin"]}),
        "quotas": (
            "A key with bounds of its own",
            {
                "name": "trial",
                "quotas": {
                    "schedules": 10,
                    "minIntervalMs": 60_000,
                    "payloadBytes": 4096,
                    "requestsPerMinute": 120,
                },
            },
        ),
    },
    "rotateKey": {"hour": ("The old one goes on for an hour", {"keepSeconds": 3600})},
}

_KEY: Mapping[str, Any] = {
    "id": _ID,
    "name": "u42-app",
    "owner": "user-42",
    "tenant": None,
    "scopes": ["read", "write"],
    "queues": None,
    "quotas": {"schedules": None, "minIntervalMs": None, "payloadBytes": None, "requestsPerMinute": None},
    "createdAt": "2026-11-16T09:00:00Z",
    "createdBy": "key:ops",
    "expiresAt": "2099-01-01T00:00:00Z",
    "revokedAt": None,
    "lastUsedAt": "2026-11-16T09:30:00Z",
    "replaces": None,
}
_MADE = {**_KEY, "lastUsedAt": None, "key": f"duly_live_{_ID}" + "5" * 43}

ANSWERS: Mapping[str, Any] = {
    "createKey": _MADE,
    "rotateKey": {**_MADE, "replaces": "9sW1mB3c"},
    "listKeys": {"items": [_KEY], "nextCursor": None},
    "getKey": _KEY,
}
