"""``app.keys``: who may call the REST API. A key is shown once, when it is made; the store keeps a digest of it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from duly.core.credential import (
    ID_LENGTH,
    NOBODYS,
    SECRET_BYTES,
    Caller,
    Key,
    Scope,
    digest_of,
    is_it,
    key_id,
    write_key,
)
from duly.core.errors import KeyNotFound, StoreError, ValidationFailed
from duly.core.instants import to_datetime, to_ms
from duly.core.quota import NO_QUOTAS, Quotas
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.guarding import NewKey
from duly.store.protocol import Keys as Store

from .checking import check_named, check_queue, check_text

USUAL = (Scope.READ, Scope.WRITE, Scope.TRIGGER)
BOTH_FOR = timedelta(days=1)
"""How long a key that was rotated goes on beside its successor."""

USED_EVERY = timedelta(minutes=10)
"""How exactly it is known when a key was last used; a read must not become a write each time."""


MOST_QUEUES = 100


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key, and what is kept of it. ``text`` is shown now or never."""

    text: str
    key: Key


class Keys:
    """Make, rotate and revoke keys. As soon as there is one, the API asks everybody for one, for ever."""

    def __init__(self, store: Store, clock: Clock, chance: Chance) -> None:
        self._store = store
        self._clock = clock
        self._chance = chance
        self.made_one = False
        """Whether one was made through here."""

    async def create(
        self,
        name: str,
        *,
        owner: str | None = None,
        tenant: str = "",
        scopes: Iterable[str] = USUAL,
        expires: datetime | timedelta | None = None,
        quotas: Quotas = NO_QUOTAS,
        queues: Iterable[str] | None = None,
        by: str | None = None,
    ) -> MadeKey:
        """Make a key. What is created with it belongs to ``owner``, which is the name unless said otherwise.

        One with the scope admin sees everything, and what it creates belongs to nobody unless it has an owner.
        A worker's key may be for some ``queues`` only: it claims from no other.
        """
        name = check_text(name, "name", 100) or ""
        if not name.strip():
            raise ValidationFailed("name is empty; expected what the key is for, such as 'ci'", field="name")
        allowed = check_scopes(scopes)
        owner = check_text(owner, "owner", 128) or None
        if owner is None and Scope.ADMIN not in allowed:
            owner = name
        text = self._draw()
        new = NewKey(
            id=key_id(text) or "",
            digest=digest_of(text),
            name=name,
            scopes=allowed,
            owner=owner,
            tenant=check_text(tenant, "tenant", 128) or "",
            quotas=quotas,
            queues=check_key_queues(queues, allowed),
            expires_at=self._end(expires),
            by=check_text(by, "by", 100),
        )
        key = await self._store.put_key(new)
        self.made_one = True
        return MadeKey(text, key)

    async def rotate(
        self, id: str, *, keep: timedelta = BOTH_FOR, expires: datetime | timedelta | None = None, by: str | None = None
    ) -> MadeKey:
        """Make another key with the same rights; the old one goes on for a while, so that nothing stands still."""
        if not isinstance(keep, timedelta) or not timedelta(0) <= keep <= timedelta(days=366):
            raise ValidationFailed(f"keep is {keep!r}; expected a timedelta up to a year", field="keep")
        text = self._draw()
        end, by = self._end(expires), check_text(by, "by", 100)

        def successor(old: Key) -> NewKey:
            return NewKey(
                id=key_id(text) or "",
                digest=digest_of(text),
                name=old.name,
                scopes=old.scopes,
                owner=old.owner,
                tenant=old.tenant,
                quotas=old.quotas,
                queues=old.queues,
                expires_at=end,
                by=by,
                replaces=old.id,
            )

        keep_ms = round(keep.total_seconds() * 1000)
        key = await self._store.rotate_key(id, successor, keep_ms=keep_ms) if _may_be_there(id) else None
        if key is None:
            raise _unknown(id)
        return MadeKey(text, key)

    async def revoke(self, id: str) -> Key:
        """End a key now. Twice is fine."""
        key = await self._store.revoke_key(id) if _may_be_there(id) else None
        if key is None:
            raise _unknown(id)
        return key

    async def get(self, id: str) -> Key | None:
        return await self._store.find_key(id) if _may_be_there(id) else None

    async def list(self) -> list[Key]:
        """All that were ever made, oldest first, also those that are not good any more."""
        return await self._store.list_keys()

    async def any(self) -> bool:
        """Whether a key was ever made: from then on the API asks for one."""
        return await self._store.has_keys()

    async def caller(self, text: str) -> Caller | None:
        """Who calls with this key; None if it is unknown, wrong, revoked or expired, which all take the same path."""
        key = await self._store.find_key(key_id(text) or "-" * ID_LENGTH)
        right = is_it(text, NOBODYS if key is None else key.digest)
        now = to_datetime(self._clock.now())
        if key is None or not right or not key.is_good(now):
            return None
        return await self._used(key, now)

    async def holder(self, id: str) -> Caller | None:
        """Who has the key of this id, which somebody has shown before; None if it is not good any more."""
        key = await self._store.find_key(id)
        now = to_datetime(self._clock.now())
        return None if key is None or not key.is_good(now) else await self._used(key, now)

    async def _used(self, key: Key, now: datetime) -> Caller:
        if key.last_used_at is None or now - key.last_used_at >= USED_EVERY:
            with suppress(StoreError):  # that it was used is worth less than its use
                await self._store.touch_key(key.id)
        return key.caller

    def _draw(self) -> str:
        return write_key(self._chance.entropy(ID_LENGTH), self._chance.entropy(SECRET_BYTES))

    def _end(self, expires: datetime | timedelta | None) -> int | None:
        if expires is None:
            return None
        now = self._clock.now()
        if isinstance(expires, timedelta):
            end = now + round(expires.total_seconds() * 1000)
        else:
            end = to_ms(expires, "expires")
        if end <= now:
            raise ValidationFailed(f"expires is {expires}, which has gone by; expected a later time", field="expires")
        return end


def check_scopes(scopes: Iterable[str]) -> frozenset[Scope]:
    """The scopes that were named; a worker's stands alone, because a worker is no person."""
    words = [scopes] if isinstance(scopes, str) else list(scopes)
    unknown = [word for word in words if word not in tuple(Scope)]
    if unknown or not words:
        shown = repr(unknown[0]) if unknown else "empty"
        raise ValidationFailed(f"scopes is {shown}; expected some of {', '.join(Scope)}", field="scopes")
    allowed = frozenset(Scope(word) for word in words)
    if Scope.WORKER in allowed and len(allowed) > 1:
        raise ValidationFailed(
            "scopes has worker beside others; expected it alone: make one key for the worker and one for people",
            field="scopes",
        )
    return allowed


def check_key_queues(queues: Iterable[str] | None, allowed: frozenset[Scope]) -> frozenset[str] | None:
    """The queues that a worker's key is for; None is all. Who only looks and asks claims from none."""
    if queues is None:
        return None
    names = [queues] if isinstance(queues, str) else list(queues)
    if Scope.WORKER not in allowed:
        raise ValidationFailed(
            "queues is given without the scope worker; expected it for a worker's key, since no other claims runs",
            field="queues",
        )
    if not 1 <= len(names) <= MOST_QUEUES:
        raise ValidationFailed(
            f"queues has {len(names)} names; expected 1 to {MOST_QUEUES}, or none at all for every queue",
            field="queues",
        )
    return frozenset(check_queue(name) for name in names)


def _may_be_there(id: object) -> bool:
    """Whether a key may have this id; what can be none because it is no text is refused."""
    text = check_named(id, "id", "a key")
    return text.isascii() and text.isalnum()


def _unknown(id: str) -> KeyNotFound:
    return KeyNotFound(f"there is no key with id {id[:60]!r}; `duly key list` shows them", ref=id)
