"""Bodies of schedules of all kinds."""

from typing import Any

BODIES: dict[str, dict[str, Any]] = {
    "smallest": {"name": "nightly", "cronExpression": "0 2 * * *", "jobType": "report"},
    "friendly": {"key": "f", "weeklyTime": {"dayOfWeek": 5, "hour": 9, "minute": 0}, "topic": "billing.invoice"},
    "interval": {"key": "i", "everyMs": 90_000, "anchor": "start", "afterCompletion": True, "workflow": "daily"},
    "once": {"key": "o", "onceAt": "2099-03-15T14:00:00", "timezone": "Europe/Berlin", "jobType": "send"},
    "whole": {
        "key": "all:of.it", "name": "It's \"all\" of it", "description": "two\nlines", "cronExpression": "30 2 * * MON",
        "timezone": "Europe/Berlin", "dst": {"gap": "skip", "fold": "both"}, "jobType": "report",
        "jobPayload": {"user": 42, "text": "it's $HOME `x` \\ \"q\""}, "maxAttempts": 5,
        "retryPolicy": {"backoff": "fixed", "delaySeconds": 1.5}, "timeoutSeconds": None, "overlapPolicy": "queue",
        "maxQueued": 3, "catchUp": {"policy": "all", "maxLatenessSeconds": 60}, "jitter": {"minMs": 0, "maxMs": 5000},
        "startAt": "2026-01-01T00:00:00Z", "endAt": "2099-01-01T00:00:00Z", "maxRuns": 10, "pauseAfterFailures": 3,
        "queue": "slow", "priority": -5, "tags": ["a", "b"], "excludeDates": ["2026-12-25"], "enabled": False,
        "metadata": {"ownerId": "u1", "tenantId": "t1"},
    },
    "beyond flags": {
        "key": "b", "intervalMinutes": 5, "jobType": "x", "retryPolicy": {"jitter": 0.1},
        "metadata": {"correlationId": "c"},
    },
    "elsewhere": {"key": "t", "cronExpression": "0 0 * * *", "target": {"kind": "queue", "name": "mail"}},
}  # fmt: skip
