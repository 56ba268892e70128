"""Keys, and what each owner sees, in the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, replace
from typing import Any, Self

from duly.core.credential import Key, Whose
from duly.core.errors import Conflict
from duly.core.instants import to_datetime
from duly.core.quota import NO_QUOTAS
from duly.runtime.clock import Clock
from duly.store.guarding import NewKey


class KeysModel:
    """The part of the model that knows who may call, and what is whose."""

    _clock: Clock
    keys: dict[str, Key]
    owners: dict[str, str]
    whose: Whose | None
    facts: dict[str, Any]
    runs: dict[str, Any]
    history: dict[str, Any]

    def seen_by(self, whose: Whose) -> Self:
        view = copy(self)
        view.whose = whose
        return view

    def _sees(self, tenant: str | None, owner: str | None) -> bool:
        return self.whose is None or (tenant, owner) == (self.whose.tenant, self.whose.owner)

    def _sees_run(self, id: str) -> bool:
        run = self.runs.get(id) or self.history.get(id)
        if run is None:
            return False
        return self._sees(run.tenant, self._owner_of(id))

    def _owner_of(self, id: str) -> str | None:
        run = self.runs.get(id) or self.history[id]
        facts = self.facts.get(run.schedule_id)
        return self.owners.get(id, facts and facts.owner)

    async def put_key(self, new: NewKey) -> Key:
        made = Key(
            id=new.id,
            digest=new.digest,
            name=new.name,
            scopes=new.scopes,
            owner=new.owner,
            tenant=new.tenant,
            quotas=new.quotas,
            queues=new.queues,
            created_at=to_datetime(self._clock.now()),
            created_by=new.by,
            expires_at=to_datetime(new.expires_at),
            replaces=new.replaces,
        )
        kept = self.keys.setdefault(new.id, made)
        if kept.digest != new.digest:
            raise Conflict(f"key id {new.id} is in use; make another key")
        return kept

    async def rotate_key(self, id: str, new: Callable[[Key], NewKey], *, keep_ms: int) -> Key | None:
        now = self._clock.now()
        old = self.keys.get(id)
        if old is None:
            return None
        if not old.is_good(to_datetime(now)):
            raise Conflict(f"key {id} is revoked or has expired; create a new one")
        until = to_datetime(now + keep_ms)
        self.keys[id] = replace(old, expires_at=min(until, old.expires_at or until))
        return await self.put_key(new(old))

    async def revoke_key(self, id: str) -> Key | None:
        key = self.keys.get(id)
        if key is not None:
            self.keys[id] = replace(key, revoked_at=key.revoked_at or to_datetime(self._clock.now()))
        return self.keys.get(id)

    async def find_key(self, id: str) -> Key | None:
        return self.keys.get(id)

    async def list_keys(self) -> list[Key]:
        return sorted(self.keys.values(), key=lambda key: (key.created_at, key.id))

    async def has_keys(self) -> bool:
        return bool(self.keys)

    async def touch_key(self, id: str) -> None:
        if id in self.keys:
            self.keys[id] = replace(self.keys[id], last_used_at=to_datetime(self._clock.now()))

    def _key_rows(self) -> list[list[Any]]:
        rows = []
        for key in self.keys.values():
            row = asdict(key) | {
                "scopes": json.dumps(sorted(key.scopes), separators=(",", ":")),
                "quotas": None if key.quotas == NO_QUOTAS else json.dumps(asdict(key.quotas), separators=(",", ":")),
            }
            names = (
                "id digest name owner tenant scopes quotas created_at created_by expires_at revoked_at last_used_at"
                " replaces"
            )
            values = [row[name] for name in names.split()]
            rows.append([round(v.timestamp() * 1000) if hasattr(v, "timestamp") else v for v in values])
        return rows
