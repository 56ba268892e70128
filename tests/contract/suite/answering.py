"""Runs that were delivered to a receiver outside, which tells how they ended."""

from __future__ import annotations

from typing import Any

import pytest

from duly.core.policy import Overlap, Retry
from duly.core.run import Claim, Completed, Dispatched, Failed, Outcome, RunStatus
from duly.core.schedule import Target, TargetKind
from duly.store.values import Settled
from duly.testing.clock import ManualClock
from tests.contract.suite.trial import Trial, Worker

OUT = Target(TargetKind.QUEUE, "out", '{"kind":"queue","name":"out","expect":"ack"}')
SILENT = Target(TargetKind.QUEUE, "silent", '{"kind":"queue","name":"silent"}')
TIMEOUT_MS = 9_000


async def _claimed(trial: Trial, target: Target = OUT, **options: Any) -> tuple[Worker, Claim]:
    """A run in the hands of a worker, that is to be sent."""
    given = {"timeout_ms": TIMEOUT_MS, "retry": Retry(2, backoff="fixed", delay=1, jitter=0), **options}
    await trial.put("out", target=target, **given)
    trial.clock.move(minutes=1)
    await trial.fire()
    worker = await trial.worker(target.handler)
    return worker, await worker.claim_one()


async def _sent(trial: Trial, **options: Any) -> tuple[Worker, Claim]:
    worker, claim = await _claimed(trial, **options)
    settled = await worker.settle(claim, Dispatched())
    assert (settled.ended, settled.lost) == ({}, [])
    return worker, claim


async def _answer(trial: Trial, claim: Claim, outcome: Outcome, fence: int | None = None) -> Settled:
    return await trial.store.settle_answer(claim.id, fence or claim.fence, outcome, rules=trial.rules)


class TestAnswers:
    async def test_a_dispatched_run_is_open_and_nobody_s_until_it_is_answered(self, trial: Trial) -> None:
        worker, claim = await _sent(trial)
        run = await trial.run(claim)
        assert (run.status, run.attempt, run.fence) == (RunStatus.DISPATCHED, 1, 1)
        assert await worker.claim() == []
        settled = await _answer(trial, claim, Completed('{"ok":true}'))
        assert settled.ended == {claim.id: RunStatus.COMPLETED}
        assert (await trial.run(claim)).result == {"ok": True}

    async def test_the_same_answer_twice_is_kept_and_another_one_is_lost(self, trial: Trial) -> None:
        _, claim = await _sent(trial)
        await _answer(trial, claim, Completed())
        assert (await _answer(trial, claim, Completed())).lost == []
        assert (await _answer(trial, claim, Failed("no"))).lost == [claim.id]

    async def test_a_failure_is_tried_again_under_a_new_fence(self, trial: Trial, clock: ManualClock) -> None:
        worker, claim = await _sent(trial)
        assert (await _answer(trial, claim, Failed("no luck"))).ended == {}
        assert (await _answer(trial, claim, Failed("no luck"))).lost == [], "twice is fine"
        assert (await _answer(trial, claim, Completed())).lost == [claim.id], "too late"
        clock.move(seconds=1)
        again = await worker.claim_one()
        assert (again.id, again.attempt, again.fence) == (claim.id, 2, 2)
        await worker.settle(again, Dispatched())
        assert (await _answer(trial, claim, Completed())).lost == [claim.id], "of the first delivery"
        ended = await _answer(trial, again, Failed("no luck"))
        assert ended.ended == {claim.id: RunStatus.FAILED}
        assert (await trial.run(claim)).dead

    async def test_an_answer_may_come_before_the_dispatch_is_written(self, trial: Trial) -> None:
        worker, claim = await _claimed(trial)
        assert (await _answer(trial, claim, Completed())).ended == {claim.id: RunStatus.COMPLETED}
        assert (await worker.settle(claim, Dispatched())).lost == [], "it was sent, and that is all it says"
        assert (await _answer(trial, claim, Completed())).lost == []

    async def test_a_dispatch_that_is_written_twice_is_not_lost(self, trial: Trial) -> None:
        worker, claim = await _sent(trial)
        assert (await worker.settle(claim, Dispatched())).lost == []
        assert (await trial.run(claim)).status is RunStatus.DISPATCHED

    @pytest.mark.parametrize("fence", [2, 99])
    async def test_a_foreign_fence_changes_nothing(self, trial: Trial, fence: int) -> None:
        _, claim = await _sent(trial)
        assert (await _answer(trial, claim, Completed(), fence)).lost == [claim.id]
        assert not await trial.store.begin_answer(claim.id, fence)
        assert (await trial.run(claim)).status is RunStatus.DISPATCHED

    async def test_a_run_that_awaits_no_answer_takes_none(self, trial: Trial) -> None:
        _, claim = await _claimed(trial, SILENT)
        assert (await _answer(trial, claim, Completed())).lost == [claim.id]
        assert not await trial.store.begin_answer(claim.id, claim.fence)
        assert (await trial.run(claim)).status is RunStatus.RUNNING

    async def test_no_answer_in_time_is_a_failure(self, trial: Trial, clock: ManualClock) -> None:
        _, claim = await _sent(trial)
        clock.move(milliseconds=TIMEOUT_MS - 1)
        assert await trial.take_lost() == []
        clock.move(milliseconds=1)
        assert await trial.take_lost() == [claim.id]
        (record,) = await trial.store.read_attempts(claim.id)
        assert record.outcome == "timed_out"
        assert (await _answer(trial, claim, Completed())).lost == [claim.id]

    async def test_whoever_has_begun_has_all_the_time_from_then(self, trial: Trial, clock: ManualClock) -> None:
        worker, claim = await _sent(trial)
        clock.move(milliseconds=TIMEOUT_MS - 1)
        assert await trial.store.begin_answer(claim.id, claim.fence)
        await worker.beat()
        clock.move(milliseconds=TIMEOUT_MS - 1)
        assert await trial.take_lost() == []
        assert (await _answer(trial, claim, Completed())).ended == {claim.id: RunStatus.COMPLETED}

    async def test_without_a_timeout_it_waits_for_ever(self, trial: Trial, clock: ManualClock) -> None:
        _, claim = await _sent(trial, timeout_ms=None)
        clock.move(days=3000)
        await trial.take_lost()
        assert (await trial.run(claim)).status is RunStatus.DISPATCHED

    async def test_it_overlaps_like_one_that_runs(self, trial: Trial, clock: ManualClock) -> None:
        _, claim = await _sent(trial, overlap=Overlap.QUEUE)
        clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker(OUT.handler)
        assert await worker.claim() == [], "it waits for the answer"
        assert (await _answer(trial, claim, Completed())).released == 1
        assert len(await worker.claim()) == 1

    async def test_a_cancelled_one_ends_at_once(self, trial: Trial) -> None:
        _, claim = await _sent(trial)
        await trial.store.request_cancel(claim.id)
        assert (await trial.run(claim)).status is RunStatus.CANCELLED
