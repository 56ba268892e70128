"""Requests with a key of the client's own: begun once, answered once, forgotten in time."""

from __future__ import annotations

from dataclasses import replace

from duly.store.values import Request
from tests.contract.suite.trial import Trial

KEEP_MS = 60_000


async def _begin(trial: Trial, key: str = "k", hash: str = "h", tenant: str = "") -> Request:
    return await trial.store.begin_request(tenant, key, hash, keep_ms=KEEP_MS)


class TestRequests:
    async def test_one_that_was_begun_is_found_as_it_began(self, trial: Trial) -> None:
        begun = await _begin(trial)
        assert begun == Request("", "k", "h", trial.clock.now() + KEEP_MS)
        trial.clock.move(seconds=5)
        assert await _begin(trial) == begun
        assert await _begin(trial, hash="other") == begun

    async def test_the_first_answer_stays(self, trial: Trial) -> None:
        begun = await _begin(trial)
        await trial.store.end_request(begun, 201, "first")
        await trial.store.end_request(begun, 409, "second")
        assert await _begin(trial) == replace(begun, status=201, answer="first")

    async def test_keys_of_two_tenants_are_two_requests(self, trial: Trial) -> None:
        await trial.store.end_request(await _begin(trial), 201, "ours")
        assert (await _begin(trial, tenant="acme")).status is None

    async def test_one_that_did_nothing_is_forgotten_and_one_that_was_answered_is_not(self, trial: Trial) -> None:
        begun = await _begin(trial)
        await trial.store.drop_request(begun)
        assert (await _begin(trial, hash="other")).hash == "other"
        await trial.store.drop_request(begun)
        assert (await _begin(trial)).hash == "other"
        await trial.store.end_request(replace(begun, hash="other"), 202, "done")
        await trial.store.drop_request(replace(begun, hash="other"))
        assert (await _begin(trial)).answer == "done"

    async def test_an_answer_is_kept_also_where_another_instance_dropped_the_request(self, trial: Trial) -> None:
        begun = await _begin(trial)
        await trial.store.drop_request(begun)
        await trial.store.end_request(begun, 202, "done")
        assert (await _begin(trial)).answer == "done"

    async def test_what_has_expired_makes_room_and_is_purged_in_batches(self, trial: Trial) -> None:
        for key in ("a", "b", "c"):
            await trial.store.end_request(await _begin(trial, key), 201, "old")
        trial.clock.move(seconds=KEEP_MS / 1000 - 1)
        assert await trial.store.purge_requests(limit=2) == 0
        assert (await _begin(trial, "a")).answer == "old"
        trial.clock.move(seconds=1)
        assert (await _begin(trial, "a")).answer is None
        assert [await trial.store.purge_requests(limit=1) for _ in range(3)] == [1, 1, 0]
        assert (await _begin(trial, "b", hash="new")).hash == "new"
