"""Zombies: only the newest attempt can end a run, and what an older one writes changes nothing."""

from __future__ import annotations

import pytest

from duly.core.run import Completed, Failed, Lost, Outcome, Released, Snoozed
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import PLAIN_RETRY, Trial

OUTCOMES: list[Outcome] = [
    Completed('"done"'),
    Failed("no luck"),
    Failed("hopeless", fatal=True),
    Failed("too slow", timed_out=True),
    Released(),
    Snoozed(60_000),
]
NAMES = ["completed", "failed", "fatal", "timed out", "released", "snoozed"]


class TestZombies:
    @rule("E1")
    @pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
    async def test_a_late_settle_after_a_takeover_is_lost_and_changes_nothing(
        self, trial: Trial, access: Access, outcome: Outcome
    ) -> None:
        run = await trial.enqueue()
        stalled = await trial.worker(name="a")
        old = await stalled.claim_one()
        trial.clock.move(seconds=16)
        assert await trial.take_lost() == [run.id]
        other = await trial.worker(name="b")
        new = await other.claim_one()
        assert (new.attempt, new.fence) == (2, 2)
        before = await access.dump()
        settled = await stalled.settle(old, outcome)
        assert (settled.ended, list(settled.lost)) == ({}, [run.id])
        assert await access.dump() == before
        assert not (await stalled.beat()).alive
        assert (await other.complete(new, '"theirs"')).ended == {run.id: "completed"}
        assert list((await stalled.settle(old, outcome)).lost) == [run.id]
        assert (await trial.run(run)).result == "theirs"

    @pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
    async def test_a_late_settle_before_the_takeover_is_lost_too(
        self, trial: Trial, access: Access, outcome: Outcome
    ) -> None:
        run = await trial.enqueue()
        stalled = await trial.worker()
        old = await stalled.claim_one()
        trial.clock.move(seconds=16)
        await trial.take_lost()
        before = await access.dump()
        settled = await stalled.settle(old, outcome)
        assert list(settled.lost) == [run.id]
        assert await access.dump() == before

    async def test_a_late_success_of_a_run_that_was_lost_for_good_is_lost(self, trial: Trial) -> None:
        run = await trial.enqueue(max_attempts=1)
        worker = await trial.worker()
        claim = await worker.claim_one()
        trial.clock.move(seconds=16)
        await trial.take_lost()
        settled = await worker.complete(claim, '"late"')
        assert list(settled.lost) == [run.id]
        assert (await trial.run(run)).reason == "lost"

    async def test_a_late_success_past_its_deadline_is_lost(self, trial: Trial) -> None:
        run = await trial.enqueue(max_attempts=1, timeout_ms=1000)
        worker = await trial.worker()
        claim = await worker.claim_one()
        for _ in range(4):
            trial.clock.move(seconds=10)
            await worker.beat()
        assert await trial.take_lost() == [run.id]
        assert list((await worker.complete(claim, '"late"')).lost) == [run.id]
        assert (await trial.run(run)).status == "failed"

    async def test_a_worker_that_reclaims_its_own_run_cannot_settle_its_old_attempt(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        old = await worker.claim_one()
        await worker.settle(old, Released())
        new = await worker.claim_one()
        assert list((await worker.complete(old, '"old"')).lost) == [run.id]
        assert (await worker.complete(new, '"new"')).ended == {run.id: "completed"}
        assert (await trial.run(run)).result == "new"
        assert list((await worker.complete(old, '"old"')).lost) == [run.id], "the success in the history is not its own"

    @pytest.mark.parametrize("newer_first", [False, True])
    async def test_of_two_attempts_in_one_batch_the_newer_one_ends_the_run(
        self, trial: Trial, newer_first: bool
    ) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        old = await worker.claim_one()
        await worker.settle(old, Released())
        new = await worker.claim_one()
        ends = [worker.ending(old, Completed('"old"')), worker.ending(new, Completed('"new"'))]
        settled = await trial.store.settle(ends[::-1] if newer_first else ends)
        assert (settled.ended, list(settled.lost)) == ({run.id: "completed"}, [run.id])
        assert (await trial.run(run)).result == "new"

    @rule("E2")
    async def test_workers_of_one_name_are_not_taken_for_one_another(self, trial: Trial) -> None:
        run = await trial.enqueue()
        one, two = await trial.worker(name="same"), await trial.worker(name="same")
        claim = await one.claim_one()
        assert list((await two.complete(claim)).lost) == [run.id]
        assert (await trial.run(run)).status == "running"

    @pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
    async def test_a_repeated_settle_is_kept_and_not_lost(self, trial: Trial, access: Access, outcome: Outcome) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await worker.settle(claim, outcome)
        before = await access.dump()
        trial.clock.move(seconds=1)
        again = await worker.settle(claim, outcome)
        assert list(again.lost) == []
        assert await access.dump() == before

    async def test_a_repeated_settle_is_kept_also_when_a_cancel_was_asked_for(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await trial.store.request_cancel(run.id)
        await worker.complete(claim)
        assert list((await worker.complete(claim)).lost) == []

    async def test_a_zombie_among_others_does_not_hinder_them(self, trial: Trial) -> None:
        for _ in range(3):
            await trial.enqueue()
        worker = await trial.worker()
        claims = await worker.claim()
        await worker.settle(claims[1], Lost("gone"))
        await (await trial.worker()).claim()
        settled = await trial.store.settle([worker.ending(claim, Completed(), PLAIN_RETRY) for claim in claims])
        assert list(settled.lost) == [claims[1].id]
        assert settled.ended == {claims[0].id: "completed", claims[2].id: "completed"}

    async def test_an_unknown_run_is_lost(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        claim.id = trial.id()
        assert list((await worker.complete(claim)).lost) == [claim.id]
