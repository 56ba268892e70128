"""Keys of callers: kept by digest, rotated side by side, revoked at once, never removed."""

from __future__ import annotations

import pytest

from duly.core.credential import Key, Scope
from duly.core.errors import Conflict
from duly.core.instants import to_datetime
from duly.core.quota import Quotas
from duly.store.guarding import NewKey
from tests.contract.suite.trial import Trial

SCOPES = frozenset({Scope.READ, Scope.WRITE})
DAY_MS = 86_400_000


def _new(id: str = "aaaaaaaa", digest: str = "d1", **words: object) -> NewKey:
    return NewKey(id=id, digest=digest, name="ci", scopes=SCOPES, **words)  # type: ignore[arg-type]


def _next(old: Key) -> NewKey:
    return NewKey(
        id="bbbbbbbb",
        digest="d2",
        name=old.name,
        scopes=old.scopes,
        owner=old.owner,
        tenant=old.tenant,
        quotas=old.quotas,
        replaces=old.id,
    )


class TestKeys:
    async def test_a_key_is_found_as_it_was_put(self, trial: Trial) -> None:
        assert not await trial.store.has_keys()
        at = trial.clock.now()
        new = _new(
            owner="ann",
            tenant="acme",
            quotas=Quotas(schedules=3),
            queues=frozenset({"b", "a"}),
            expires_at=at + DAY_MS,
            by="root",
        )
        put = await trial.store.put_key(new)
        assert put == Key(
            id="aaaaaaaa",
            digest="d1",
            name="ci",
            scopes=SCOPES,
            owner="ann",
            tenant="acme",
            quotas=Quotas(schedules=3),
            queues=frozenset({"a", "b"}),
            created_at=to_datetime(at),
            created_by="root",
            expires_at=to_datetime(at + DAY_MS),
        )
        assert await trial.store.find_key("aaaaaaaa") == put
        assert await trial.store.find_key("cccccccc") is None
        assert await trial.store.has_keys()
        assert await trial.store.list_keys() == [put]

    async def test_put_twice_is_one_and_another_of_the_same_id_is_refused(self, trial: Trial) -> None:
        put = await trial.store.put_key(_new())
        trial.clock.move(seconds=5)
        assert await trial.store.put_key(_new()) == put
        with pytest.raises(Conflict):
            await trial.store.put_key(_new(digest="other"))

    async def test_a_revoked_key_stays_and_stays_revoked_from_the_first_time(self, trial: Trial) -> None:
        await trial.store.put_key(_new())
        at = to_datetime(trial.clock.now())
        revoked = await trial.store.revoke_key("aaaaaaaa")
        assert revoked is not None
        assert revoked.revoked_at == at
        trial.clock.move(seconds=5)
        assert await trial.store.revoke_key("aaaaaaaa") == revoked
        assert await trial.store.has_keys()
        assert await trial.store.revoke_key("cccccccc") is None
        with pytest.raises(Conflict):
            await trial.store.rotate_key("aaaaaaaa", _next, keep_ms=DAY_MS)

    async def test_after_a_rotation_both_are_good_for_a_while(self, trial: Trial) -> None:
        await trial.store.put_key(_new(owner="ann"))
        fresh = await trial.store.rotate_key("aaaaaaaa", _next, keep_ms=DAY_MS)
        assert fresh is not None
        assert (fresh.id, fresh.owner, fresh.replaces, fresh.expires_at) == ("bbbbbbbb", "ann", "aaaaaaaa", None)
        assert await trial.store.rotate_key("aaaaaaaa", _next, keep_ms=DAY_MS) == fresh
        old = await trial.store.find_key("aaaaaaaa")
        assert old is not None
        now = trial.clock.now()
        assert old.is_good(to_datetime(now))
        assert not old.is_good(to_datetime(now + DAY_MS))
        assert await trial.store.rotate_key("cccccccc", _next, keep_ms=DAY_MS) is None

    async def test_a_rotation_never_prolongs_a_key(self, trial: Trial) -> None:
        soon = trial.clock.now() + 1000
        await trial.store.put_key(_new(expires_at=soon))
        await trial.store.rotate_key("aaaaaaaa", _next, keep_ms=DAY_MS)
        old = await trial.store.find_key("aaaaaaaa")
        assert old is not None
        assert old.expires_at == to_datetime(soon)

    async def test_use_is_written_down(self, trial: Trial) -> None:
        await trial.store.put_key(_new())
        trial.clock.move(seconds=9)
        await trial.store.touch_key("aaaaaaaa")
        found = await trial.store.find_key("aaaaaaaa")
        assert found is not None
        assert found.last_used_at == to_datetime(trial.clock.now())
