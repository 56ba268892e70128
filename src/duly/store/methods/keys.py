"""Keys of callers: kept by their digest, never removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from duly.core.credential import Key, Scope
from duly.core.errors import Conflict
from duly.core.instants import to_datetime
from duly.core.quota import NO_QUOTAS, Quotas
from duly.store.codec import encode_words
from duly.store.guarding import NewKey
from duly.store.statements import Program, Query, Row, query

_encode = msgspec.json.Encoder().encode


def put_key(now: int, new: NewKey) -> Program[Key]:
    """Keep a key, or find that it is kept already; see ``Keys.put_key``."""
    yield _insert(now, new)
    key = yield from find_key(now, new.id)
    if key is None or key.digest != new.digest:
        raise Conflict(f"key id {new.id} is in use; make another key", id=new.id)
    return key


def rotate_key(now: int, id: str, new: Callable[[Key], NewKey], keep_ms: int) -> Program[Key | None]:
    """Keep another key in the place of one, which goes on for a while; see ``Keys.rotate_key``."""
    rows = yield query("lock_key", id=id)
    if not rows:
        return None
    old = read_key(rows[0])
    if not old.is_good(to_datetime(now)):
        raise Conflict(f"key {id} is revoked or has expired; create a new one", id=id)
    wanted = new(old)
    expires_at = rows[0][9]
    until = now + keep_ms if expires_at is None else min(expires_at, now + keep_ms)
    yield query("move_key", id=id, expires_at=until, revoked_at=None)
    return (yield from put_key(now, wanted))


def revoke_key(now: int, id: str) -> Program[Key | None]:
    """End a key now; one that was revoked before stays so from then."""
    rows = yield query("lock_key", id=id)
    if not rows:
        return None
    if rows[0][10] is None:
        yield query("move_key", id=id, expires_at=rows[0][9], revoked_at=now)
    return (yield from find_key(now, id))


def find_key(now: int, id: str) -> Program[Key | None]:
    rows = yield query("read_key", id=id)
    return read_key(rows[0]) if rows else None


def list_keys(now: int) -> Program[list[Key]]:
    return [read_key(row) for row in (yield query("list_keys"))]


def has_keys(now: int) -> Program[bool]:
    return bool((yield query("any_key")))


def touch_key(now: int, id: str) -> Program[None]:
    yield query("touch_key", id=id, now=now)


def read_key(row: Row) -> Key:
    """Build a key from its columns."""
    (
        id,
        digest,
        name,
        owner,
        tenant,
        scopes,
        quotas,
        created_at,
        created_by,
        expires_at,
        revoked_at,
        used_at,
        old,
        queues,
    ) = row
    bounds: dict[str, Any] | None = None if quotas is None else msgspec.json.decode(quotas)
    return Key(
        id=id,
        name=name,
        scopes=frozenset(Scope(word) for word in msgspec.json.decode(scopes)),
        owner=owner,
        tenant=tenant,
        quotas=NO_QUOTAS if bounds is None else Quotas(**bounds),
        queues=None if queues is None else frozenset(msgspec.json.decode(queues)),
        created_at=to_datetime(created_at),
        created_by=created_by,
        expires_at=to_datetime(expires_at),
        revoked_at=to_datetime(revoked_at),
        last_used_at=to_datetime(used_at),
        replaces=old,
        digest=digest,
    )


def _insert(now: int, new: NewKey) -> Query:
    return query(
        "insert_key",
        id=new.id,
        digest=new.digest,
        name=new.name,
        owner=new.owner,
        tenant=new.tenant,
        scopes=encode_words(tuple(sorted(new.scopes))),
        quotas=None if new.quotas == NO_QUOTAS else _encode(new.quotas).decode(),
        queues=None if new.queues is None else encode_words(tuple(sorted(new.queues))),
        created_by=new.by,
        expires_at=new.expires_at,
        replaces=new.replaces,
        now=now,
    )
