"""Singleton keys with a line that waits in order, and unique keys that one run has at a time."""

from __future__ import annotations

from typing import Any

import pytest

from duly.core.errors import SingletonQueueFull, UniqueKeyInUse
from duly.core.lane import Singleton, Unique
from duly.core.run import Released, Run, RunStatus, Snoozed
from duly.store.dead import DeadRef, Redrive
from duly.store.values import RunFilter
from tests.contract.suite.access import Access
from tests.contract.suite.trial import LEASE_MS, Trial, Worker


async def _enter(trial: Trial, most: int | None = None, *, at_once: int = 1, key: str = "import", **words: Any) -> Run:
    return await trial.enqueue(singleton=Singleton(key=key, max_running=at_once, max_queued=most), **words)


async def _claimed(worker: Worker) -> list[str]:
    return [claim.id for claim in await worker.claim()]


async def _stored(trial: Trial) -> int:
    return len((await trial.store.list_runs(RunFilter(), limit=200)).items)


class TestSingletons:
    async def test_one_goes_and_the_others_wait_in_the_order_they_came(self, trial: Trial) -> None:
        runs = [await _enter(trial) for _ in range(4)]
        worker = await trial.worker()
        for run in runs:
            claim = await worker.claim_one()
            assert claim.id == run.id
            await worker.complete(claim)
        assert await worker.claim() == []

    async def test_the_order_is_not_that_of_ids(self, trial: Trial) -> None:
        late, early = trial.id(), trial.id()
        runs = [await _enter(trial), await _enter(trial, id=early), await _enter(trial, id=late)]
        worker = await trial.worker()
        order = []
        for _ in runs:
            claim = await worker.claim_one()
            order.append(claim.id)
            await worker.complete(claim)
        assert order == [run.id for run in runs]

    async def test_as_many_go_as_may_and_each_end_lets_one_go(self, trial: Trial) -> None:
        runs = [await _enter(trial, at_once=2) for _ in range(5)]
        worker = await trial.worker()
        first, second = await worker.claim()
        assert [first.id, second.id] == [runs[0].id, runs[1].id]
        assert (await worker.complete(second)).released == 1
        assert await _claimed(worker) == [runs[2].id]

    async def test_a_full_line_refuses_and_stores_nothing(self, trial: Trial) -> None:
        await _enter(trial, 1)
        await _enter(trial, 1)
        with pytest.raises(SingletonQueueFull, match="import"):
            await _enter(trial, 1)
        assert await _stored(trial) == 2
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        await _enter(trial, 1)

    async def test_without_a_line_a_second_one_is_refused_until_the_first_has_ended(self, trial: Trial) -> None:
        await _enter(trial, 0)
        worker = await trial.worker()
        with pytest.raises(SingletonQueueFull):
            await _enter(trial, 0)
        claim = await worker.claim_one()
        with pytest.raises(SingletonQueueFull):
            await _enter(trial, 0)
        await worker.complete(claim)
        assert (await _enter(trial, 0)).status is RunStatus.PENDING

    async def test_one_too_many_of_a_batch_refuses_the_batch(self, trial: Trial) -> None:
        terms = Singleton(key="import", max_queued=1)
        with pytest.raises(SingletonQueueFull):
            await trial.store.enqueue([trial.request(), *[trial.request(singleton=terms) for _ in range(3)]])
        assert await _stored(trial) == 0

    async def test_a_run_that_waits_for_its_retry_keeps_its_place(self, trial: Trial) -> None:
        first, second = await _enter(trial), await _enter(trial)
        worker = await trial.worker()
        await worker.fail(await worker.claim_one())
        assert await worker.claim() == []
        trial.clock.move(seconds=5)
        claim = await worker.claim_one()
        assert (claim.id, claim.attempt) == (first.id, 2)
        await worker.settle(claim, Snoozed(60_000))
        assert await worker.claim() == []
        trial.clock.move(minutes=1)
        claim = await worker.claim_one()
        await worker.settle(claim, Released())
        assert await _claimed(worker) == [first.id]
        assert (await trial.run(second)).status is RunStatus.PENDING

    async def test_death_cancel_and_loss_let_the_next_one_go(self, trial: Trial) -> None:
        runs = [await _enter(trial, max_attempts=1) for _ in range(5)]
        worker = await trial.worker()
        claim = await worker.claim_one()
        assert (await worker.fail(claim)).released == 1
        running = await worker.claim_one()
        assert running.id == runs[1].id
        await trial.store.request_cancel(runs[2].id)
        await trial.store.request_cancel(running.id)
        assert await worker.claim() == []
        await worker.complete(running)
        assert (await trial.run(running)).status is RunStatus.CANCELLED
        assert (await worker.claim_one()).id == runs[3].id
        trial.clock.move(milliseconds=LEASE_MS + 1)
        assert await trial.take_lost() == [runs[3].id]
        assert await _claimed(await trial.worker()) == [runs[4].id]

    async def test_the_cancel_of_one_that_may_go_lets_the_next_one_go(self, trial: Trial) -> None:
        first, second = await _enter(trial), await _enter(trial)
        await trial.store.request_cancel(first.id)
        assert await _claimed(await trial.worker()) == [second.id]

    async def test_a_wider_lane_lets_those_go_first_that_waited_first(self, trial: Trial) -> None:
        runs = [await _enter(trial) for _ in range(3)]
        runs.append(await _enter(trial, at_once=3))
        worker = await trial.worker()
        assert await _claimed(worker) == [run.id for run in runs[:3]]

    async def test_keys_tenants_and_owners_have_lanes_of_their_own(self, trial: Trial) -> None:
        words: list[dict[str, Any]] = [{}, {"key": "export"}, {"tenant": "acme"}, {"owner": "ann"}]
        runs = [await _enter(trial, 0, **some) for some in words]
        assert sorted(await _claimed(await trial.worker())) == sorted(run.id for run in runs)

    async def test_asked_again_it_takes_no_second_place(self, trial: Trial) -> None:
        run = await _enter(trial, 0)
        assert (await _enter(trial, 0, id=run.id)).id == run.id
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        assert (await _enter(trial, 0, id=run.id)).status is RunStatus.COMPLETED
        assert await worker.claim() == []
        await _enter(trial, 0)

    async def test_a_redriven_run_waits_in_its_lane_again(self, trial: Trial) -> None:
        first, second = await _enter(trial, max_attempts=1), await _enter(trial)
        worker = await trial.worker()
        await worker.fail(await worker.claim_one())
        third = await _enter(trial)
        await trial.store.redrive([Redrive(dead=DeadRef(first.id))])
        order = []
        for _ in range(3):
            claim = await worker.claim_one()
            order.append(claim.id)
            await worker.complete(claim)
        assert order == [second.id, third.id, first.id]

    async def test_a_lane_that_nobody_uses_is_forgotten_and_one_with_a_dead_letter_is_not(
        self, trial: Trial, access: Access
    ) -> None:
        worker = await trial.worker()
        for key in ("done", "open", "dead"):
            await _enter(trial, key=key, max_attempts=1)
        for claim, key in zip(await worker.claim(), ("done", "open", "dead"), strict=True):
            if key == "done":
                await worker.complete(claim)
            if key == "dead":
                await worker.fail(claim)
        assert await trial.store.purge_keys(limit=10) == 0
        trial.clock.move(minutes=1)
        assert await trial.store.purge_keys(limit=10) == 1
        assert {row[2] for row in (await access.dump())["lanes"]} == {"open", "dead"}


async def _unique(trial: Trial, key: str = "digest", *, for_ms: int = 0, refuse: bool = False, **words: Any) -> Run:
    return await trial.enqueue(unique=Unique(key=key, for_ms=for_ms, refuse=refuse), **words)


class TestUniques:
    async def test_a_second_one_is_answered_with_the_first_until_that_has_ended(self, trial: Trial) -> None:
        first = await _unique(trial, payload='"first"')
        again = await _unique(trial, payload='"second"')
        assert (again.id, again.payload_json) == (first.id, '"first"')
        worker = await trial.worker()
        claim = await worker.claim_one()
        assert (await _unique(trial)).status is RunStatus.RUNNING
        await worker.fail(claim)
        assert (await _unique(trial)).id == first.id
        trial.clock.move(seconds=5)
        await worker.complete(await worker.claim_one())
        assert (await _unique(trial)).id != first.id
        assert await _stored(trial) == 2

    async def test_or_is_refused_and_nothing_is_stored(self, trial: Trial) -> None:
        first = await _unique(trial)
        with pytest.raises(UniqueKeyInUse) as refusal:
            await _unique(trial, refuse=True)
        assert refusal.value.existing_id == first.id
        assert await _stored(trial) == 1

    async def test_it_is_kept_for_a_while_after_its_enqueue_also_when_it_has_ended(self, trial: Trial) -> None:
        first = await _unique(trial, for_ms=60_000)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        trial.clock.move(seconds=59.999)
        assert (await _unique(trial)).status is RunStatus.COMPLETED
        trial.clock.move(seconds=0.001)
        assert (await _unique(trial)).id != first.id

    async def test_a_cancel_and_a_death_free_the_key(self, trial: Trial) -> None:
        first = await _unique(trial, max_attempts=1)
        await trial.store.request_cancel(first.id)
        second = await _unique(trial, max_attempts=1)
        worker = await trial.worker()
        await worker.fail(await worker.claim_one())
        assert len({first.id, second.id, (await _unique(trial)).id}) == 3

    async def test_keys_tenants_and_owners_are_apart(self, trial: Trial) -> None:
        words: list[dict[str, Any]] = [{}, {"key": "other"}, {"tenant": "acme"}, {"owner": "ann"}, {"owner": "bob"}]
        assert len({(await _unique(trial, refuse=True, **some)).id for some in words}) == 5

    async def test_the_same_key_twice_in_one_batch_is_one_run(self, trial: Trial) -> None:
        terms = Unique(key="digest")
        runs = await trial.store.enqueue([trial.request(unique=terms) for _ in range(3)])
        assert {run.id for run in runs} == {runs[0].id}
        assert await _stored(trial) == 1

    async def test_one_that_a_full_line_refuses_leaves_its_key_free(self, trial: Trial) -> None:
        await _enter(trial, 0)
        with pytest.raises(SingletonQueueFull):
            await _enter(trial, 0, unique=Unique(key="digest", for_ms=60_000))
        assert (await _unique(trial, refuse=True)).status is RunStatus.PENDING

    async def test_asked_again_it_is_itself(self, trial: Trial) -> None:
        first = await _unique(trial, for_ms=60_000, refuse=True)
        assert (await _unique(trial, for_ms=60_000, refuse=True, id=first.id)).id == first.id

    async def test_a_key_whose_run_is_purged_stays_in_use_for_its_time(self, trial: Trial) -> None:
        first = await _unique(trial, for_ms=60_000)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        await trial.store.purge_history(finished_before=trial.clock.now() + 1, limit=10)
        with pytest.raises(UniqueKeyInUse) as refusal:
            await _unique(trial)
        assert refusal.value.existing_id == first.id

    async def test_keys_that_hold_nobody_up_are_forgotten(self, trial: Trial, access: Access) -> None:
        for key in ("kept", "open", "done", "old"):
            await _unique(trial, key, for_ms=60_000 if key == "kept" else 0)
        worker = await trial.worker()
        claims = await worker.claim()
        for claim in (claims[0], *claims[2:]):
            await worker.complete(claim)
        assert [await trial.store.purge_keys(limit=1) for _ in range(3)] == [1, 1, 0]
        assert {row[2] for row in (await access.dump())["uniques"]} == {"kept", "open"}
