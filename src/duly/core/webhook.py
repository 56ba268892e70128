"""A webhook: somebody who wants to be told of some events, at a URL of theirs.

What is told is a run of its own, born in the transaction that did what it tells of: it is retried, and in the end
parked where people see it, like every run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b

from .errors import ValidationFailed
from .event import NAMES
from .ids import uuid7
from .instants import to_datetime
from .outside import WEBHOOK_QUEUE
from .run import NewRun, RunKind

JOB = "webhook:event"
"""The name under which a worker claims what is to be told."""

QUEUE = WEBHOOK_QUEUE
MISSED = "schedule.missed"
TEST = "webhook.test"
EVENTS = tuple(sorted({*NAMES, MISSED} - {"run.started"}))
"""What a webhook can be told of. A start is not among them: it is followed by an end."""

HEARTBEAT_EVENTS = ("run.completed", "run.failed")
FAIL = "/fail"
"""What is added to the path of a heartbeat's URL when the run has failed."""

MAX_ATTEMPTS = {"events": 16, "heartbeat": 5, "test": 1}
TIMEOUT_MS = 60_000
GIVEN_UP_AFTER_MS = 3 * 86_400_000
"""A webhook that has taken nothing for so long is told nothing more."""

_ERROR_LENGTH = 1000


class WebhookKind(StrEnum):
    """``events`` are told with all that is known; a ``heartbeat`` is pinged for as long as all is well."""

    EVENTS = "events"
    HEARTBEAT = "heartbeat"


@dataclass(frozen=True, slots=True)
class Secret:
    """What messages are signed with, and until when (epoch ms); None is until it is rotated."""

    text: str = field(repr=False)
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Who is to be told of what. Nobody is told of what is not theirs: ``tenant`` and ``owner`` None are everybody's.

    ``schedule_id``, ``tag`` and ``job`` narrow it further. A webhook that is not ``enabled`` is told nothing;
    ``disabled_reason`` says why, if it was not a person.
    """

    id: str
    url: str
    kind: WebhookKind = WebhookKind.EVENTS
    events: tuple[str, ...]
    tenant: str | None = None
    owner: str | None = None
    schedule_id: str | None = None
    tag: str | None = None
    job: str | None = None
    description: str | None = None
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    enabled: bool = True
    disabled_reason: str | None = None
    failing_since: datetime | None = None
    revision: int = 1
    created_at: datetime | None = None
    created_by: str | None = None
    updated_at: datetime | None = None

    @property
    def subject(self) -> str:
        """Under which it is looked up when something happens."""
        return subject_of(self.tenant, self.owner, self.schedule_id)

    def good_secrets(self, now: int) -> list[str]:
        """What to sign with, the newest first."""
        return [secret.text for secret in self.secrets if secret.until is None or secret.until > now]

    def url_for(self, event: str) -> str:
        """Where an event is told; a heartbeat has another place for bad news."""
        if self.kind is not WebhookKind.HEARTBEAT or event != "run.failed":
            return self.url
        address, mark, query = self.url.partition("?")
        return address.removesuffix("/") + FAIL + mark + query


def subject_of(tenant: str | None, owner: str | None, schedule_id: str | None) -> str:
    """One schedule, all of an owner, all of a tenant, or all; the statements that look for it write the same."""
    if schedule_id is not None:
        return f"s:{schedule_id}"
    if tenant is None:
        return "*"
    return f"t:{tenant}" if owner is None else f"o:{tenant}\n{owner}"


def check_events(events: object) -> tuple[str, ...]:
    """The names of events, each once and in order, or a refusal of what is none."""
    known = f"some of {', '.join(EVENTS)}"
    words: list[object] = list(events) if isinstance(events, list | tuple | set | frozenset) else [events]
    unknown = [word for word in words if word not in EVENTS]
    if unknown or not words:
        shown = f"has {str(unknown[0])[:60]!r}" if unknown else "is empty"
        raise ValidationFailed(f"events {shown}; expected {known}", field="events", expected=known)
    return tuple(event for event in EVENTS if event in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened, and a webhook that is to be told of it."""

    event: str
    tenant: str | None
    owner: str | None
    schedule_id: str | None
    key: str | None
    run_id: str | None
    job: str | None
    attempt: int | None
    reason: str | None
    error: str | None
    webhook_id: str
    webhook_kind: str
    webhook_tenant: str | None
    webhook_owner: str | None


def notification(now: int, told: Happening) -> NewRun:
    """The run that tells a webhook; its id is a function of what it tells, so it is made once."""
    what = f"{told.webhook_id}/{told.event}/{told.run_id or told.schedule_id}/{told.attempt}/{now}"
    return new_notification(
        now,
        id=uuid7(now, blake2b(what.encode(), digest_size=10).digest()),
        kind=told.webhook_kind,
        tenant=told.webhook_tenant,
        payload=payload_of(now, told),
    )


def new_notification(now: int, *, id: str, kind: str, tenant: str | None, payload: str) -> NewRun:
    """A run that tells a webhook something."""
    return NewRun(
        id=id,
        job=JOB,
        kind=RunKind.DIRECT,
        due_at=now,
        window_at=now,
        fired_at=now,
        tenant=tenant or "",
        queue=QUEUE,
        max_attempts=MAX_ATTEMPTS[kind],
        timeout_ms=TIMEOUT_MS,
        payload=payload,
    )


def payload_of(now: int, told: Happening) -> str:
    """What a notification keeps: to whom it goes, and what it says, which stays the same on every try."""
    said = {
        "runId": told.run_id,
        "scheduleId": told.schedule_id,
        "scheduleKey": told.key,
        "jobType": told.job,
        "attempt": told.attempt,
        "reason": told.reason,
        "errorMessage": None if told.error is None else told.error[:_ERROR_LENGTH],
        "ownerId": told.owner,
        "tenantId": told.tenant or None,
    }
    return json.dumps(
        {
            "webhookId": told.webhook_id,
            "type": told.event,
            "source": f"/duly/schedules/{told.key}" if told.key else "/duly/runs",
            "time": _instant(now),
            "data": said,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _instant(now: int) -> str:
    return to_datetime(now).isoformat(timespec="milliseconds").replace("+00:00", "Z")
