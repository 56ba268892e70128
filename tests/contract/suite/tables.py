"""The rows behind a store, in one shape for all: what a dump holds and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rows = list[tuple[Any, ...]]
Dump = dict[str, Rows]

_FACTS = (
    "id key name tenant description owner correlation_id client_request_id tags app revision paused_at paused_until "
    "paused_by pause_reason created_at created_by updated_at ended_at deleted_at replaces replaced_by kind job topic "
    "calendars"
)
_OPERATION = (
    "id kind body made_at made_by status position matched changed refused error updated_at finished_at items"
    " tenant owner"
)
_CURSOR = "schedule_id revision status window_at next_window_at fire_at slot fired failures last_fired_at error tenant"
_RUN = (
    "id schedule_id revision kind window_at tenant job queue priority due_at slot hold lane attempt max_attempts fence "
    "claimed_by deadline_at cancel_at fired_at started_at timeout_ms payload fair_key undo_at"
)
_HISTORY = (
    "id schedule_id revision kind window_at since windows tenant job queue priority status reason attempt max_attempts "
    "fence session due_at fired_at started_at finished_at error payload result acked_at "
    "timeout_ms lane"
)
_WEBHOOK = (
    "id tenant owner url kind events schedule_id tag job description secrets enabled disabled_reason failing_since "
    "revision created_at created_by updated_at"
)
_QUEUE = (
    "name max_running rate per_ms window_at used fair newest_first served paused_at paused_by pause_reason updated_at "
    "governed"
)

TABLES: Mapping[str, tuple[str, ...]] = {
    "tenants": ("id", "slots"),
    "schedules": tuple(_FACTS.split()),
    "revisions": ("schedule_id", "revision", "body", "payload", "made_at", "made_by"),
    "changes": ("schedule_id", "number", "made_at", "made_by", "action", "revision", "fields"),
    "operations": tuple(_OPERATION.split()),
    "cursors": tuple(_CURSOR.split()),
    "runs": tuple(_RUN.split()),
    "history": tuple(_HISTORY.split()),
    "attempts": (
        "run_id", "fence", "attempt", "outcome", "error", "started_at", "ended_at", "session", "error_type",
        "error_location", "stack", "stack_truncated", "snoozes",
    ),
    "instances": (
        "session", "name", "host", "pid", "roles", "version", "tz_version", "jobs", "started_at", "expires_at",
        "skew_ms",
    ),
    "ended_instances": (
        "session", "name", "host", "pid", "roles", "version", "jobs", "started_at", "ended_at", "lost",
    ),
    "leases": ("role", "session", "term", "expires_at"),
    "redrives": ("run_id", "fence", "redriven_at", "redriven_by", "made_run"),
    "dead_handlers": ("job", "handler", "queue", "max_attempts", "timeout_ms"),
    "calendars": (
        "tenant", "name", "id", "description", "body", "revision", "created_at", "created_by", "updated_at",
        "updated_by",
    ),
    "queues": tuple(_QUEUE.split()),
    "requests": ("tenant", "key", "hash", "status", "answer", "expires_at"),
    "lanes": ("id", "tenant", "key", "max_running", "tickets", "used_at", "owner"),
    "uniques": ("tenant", "owner", "key", "run_id", "expires_at"),
    "keys": (
        "id", "digest", "name", "owner", "tenant", "scopes", "quotas", "created_at", "created_by", "expires_at",
        "revoked_at", "last_used_at", "replaces",
    ),
    "owners": ("run_id", "owner"),
    "webhooks": tuple(_WEBHOOK.split()),
    "interests": ("event", "subject", "webhook_id"),
    "overdue": ("schedule_id", "since"),
    "traces": ("id", "trace"),
    "steps": (
        "run_id", "position", "seq", "kind", "name", "status", "attempt", "due_at", "result", "error", "log",
        "asked_at", "done_at",
    ),
    "inbox": ("run_id", "n", "kind", "name", "body", "error", "at", "taken"),
    "children": ("run_id", "parent_id", "position"),
    "published": ("run_id", "name", "value", "at"),
    "marks": ("run_id", "name", "value"),
    "event_handlers": (
        "event", "job", "queue", "max_attempts", "timeout_ms", "quiet_ms", "most", "within_ms",
    ),
    "gatherings": ("event", "job", "tenant", "owner", "run_id", "n", "at"),
    "event_ids": ("tenant", "owner", "id", "expires_at"),
}  # fmt: skip
"""Table by table, without the prefix ``duly_``: the columns of a dump, in their order; the first ones are the key."""


_PLAIN = (int, str, type(None))  # a union would be made anew for every value


def sorted_rows(rows: Iterable[Sequence[Any]]) -> Rows:
    """Rows in the order of their keys, with every id as text."""
    plain = [tuple([value if isinstance(value, _PLAIN) else str(value) for value in row]) for row in rows]
    return sorted(plain, key=lambda row: tuple(map(str, row)))


def differences(one: Dump, other: Dump) -> list[str]:
    """Say row by row in what two dumps differ; nothing when they are equal."""
    found: list[str] = []
    for table, columns in TABLES.items():
        ours, theirs = _by_key(one[table], table), _by_key(other[table], table)
        for key in sorted(ours.keys() | theirs.keys(), key=str):
            if key not in theirs:
                found.append(f"{table} {key}: only in the first")
            elif key not in ours:
                found.append(f"{table} {key}: only in the second")
            else:
                pairs = zip(columns, ours[key], theirs[key], strict=True)
                found += [f"{table} {key}: {name} {a!r} != {b!r}" for name, a, b in pairs if a != b]
    return found


_KEYS = {
    "revisions": 2, "changes": 2, "attempts": 2, "redrives": 2, "calendars": 2, "requests": 2, "uniques": 3,
    "interests": 3,
    "steps": 2, "inbox": 2, "published": 2, "event_handlers": 2, "gatherings": 4, "event_ids": 3,
}  # fmt: skip


def _by_key(rows: Rows, table: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    width = _KEYS.get(table, 1)
    return {row[:width]: row for row in rows}
