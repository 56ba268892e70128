"""What can be asked about keys."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from msgspec import UNSET

from duly.api.answers import at
from duly.api.arguments import instant
from duly.api.bodies_keys import KeyBody, QuotasBody, RotateBody
from duly.api.findings import Findings, telling
from duly.api.reading import read
from duly.api.shapes_keys import KeyAnswer, KeyPage, MadeKeyAnswer
from duly.app import Duly
from duly.app.credentials import USUAL, MadeKey, check_key_queues, check_scopes
from duly.core.credential import Key
from duly.core.errors import KeyNotFound
from duly.core.quota import NO_QUOTAS, Quotas


async def create_key(app: Duly, body: object, *, by: str | None = None) -> MadeKeyAnswer:
    """Make a key; the answer is the only one that shows it."""
    given = read(KeyBody, body)
    words: dict[str, Any] = {"scopes": given.scopes} if given.scopes is not UNSET else {}
    with telling(expires="/expiresAt"):
        made = await app.keys.create(
            given.name,
            owner=given.owner or None,
            tenant=given.tenant or "",
            expires=_end(given),
            quotas=_quotas(given.quotas),
            queues=given.queues or None,
            by=by,
            **words,
        )
    return _made(made)


async def check_key(body: object) -> None:
    """Raise what a create would, as far as that can be told without the store."""
    given = read(KeyBody, body)
    _end(given)
    with telling():
        allowed = check_scopes(USUAL if given.scopes is UNSET else given.scopes)
        check_key_queues(given.queues or None, allowed)


async def rotate_key(app: Duly, id: str, body: object = None, *, by: str | None = None) -> MadeKeyAnswer:
    """Make another key with the same rights beside one, which ends in a while."""
    given = read(RotateBody, {} if body is None else body)
    with telling(expires="/expiresAt"):
        return _made(await app.keys.rotate(id, keep=timedelta(seconds=given.keep_seconds), expires=_end(given), by=by))


async def revoke_key(app: Duly, id: str) -> KeyAnswer:
    """End a key now. Twice is fine."""
    return key_answer(await app.keys.revoke(id))


async def get_key(app: Duly, id: str) -> KeyAnswer:
    """One key, without the key itself."""
    key = await app.keys.get(id)
    if key is None:
        raise KeyNotFound(f"there is no key with id {id[:60]!r}", ref=id)
    return key_answer(key)


async def list_keys(app: Duly) -> KeyPage:
    """All that were ever made, oldest first."""
    return {"items": [key_answer(key) for key in await app.keys.list()], "nextCursor": None}


def key_answer(key: Key) -> KeyAnswer:
    quotas = asdict(key.quotas)
    return {
        "id": key.id,
        "name": key.name,
        "owner": key.owner,
        "tenant": key.tenant or None,
        "scopes": [scope.value for scope in sorted(key.scopes)],
        "queues": None if key.queues is None else sorted(key.queues),
        "quotas": {
            "schedules": quotas["schedules"],
            "minIntervalMs": quotas["min_interval_ms"],
            "payloadBytes": quotas["payload_bytes"],
            "requestsPerMinute": quotas["requests_per_minute"],
        },
        "createdAt": None if key.created_at is None else at(key.created_at),
        "createdBy": key.created_by,
        "expiresAt": None if key.expires_at is None else at(key.expires_at),
        "revokedAt": None if key.revoked_at is None else at(key.revoked_at),
        "lastUsedAt": None if key.last_used_at is None else at(key.last_used_at),
        "replaces": key.replaces,
    }


def _made(made: MadeKey) -> MadeKeyAnswer:
    return {**key_answer(made.key), "key": made.text}


def _end(given: KeyBody | RotateBody) -> Any:
    findings = Findings()
    end = None
    with findings.at("/expiresAt"):
        end = instant(given.expires_at, "expires_at")
    findings.check()
    return end


def _quotas(given: QuotasBody | Any) -> Quotas:
    if not isinstance(given, QuotasBody):
        return NO_QUOTAS
    return Quotas(
        **{
            name: value
            for name in ("schedules", "min_interval_ms", "payload_bytes", "requests_per_minute")
            if (value := getattr(given, name)) not in (UNSET, None)
        }
    )
