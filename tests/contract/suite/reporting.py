"""Ends that workers report who have no store: the same rules, from an id, a fence and a session."""

from __future__ import annotations

import pytest

from duly.core.policy import Backoff, Overlap, Retry
from duly.core.run import Claim, Completed, Failed, Outcome, Released, RunStatus, Snoozed
from duly.store.values import Report, Settled
from tests.contract.suite.trial import LEASE_MS, Trial, Worker


async def _report(
    trial: Trial,
    worker: Worker,
    claim: Claim,
    outcome: Outcome,
    *,
    fence: int | None = None,
    retry: Retry | None = None,
) -> Settled:
    report = Report(claim.id, claim.fence if fence is None else fence, outcome, retry)
    return await trial.store.settle_reported(worker.session, [report], rules=trial.rules)


class TestReporting:
    async def test_an_end_is_kept_and_told_twice_it_is_kept_once(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        settled = await _report(trial, worker, claim, Completed('"done"'))
        assert (settled.ended, list(settled.lost)) == ({run.id: RunStatus.COMPLETED}, [])
        again = await _report(trial, worker, claim, Completed('"done"'))
        assert (again.ended, list(again.lost)) == ({}, [])
        assert (await trial.run(run)).result_json == '"done"'

    @pytest.mark.parametrize("outcome", [Completed(), Failed("no"), Failed("no", fatal=True), Released()], ids=str)
    async def test_another_fence_or_session_changes_nothing(self, trial: Trial, outcome: Outcome) -> None:
        await trial.enqueue()
        worker, other = await trial.worker(), await trial.worker()
        claim = await worker.claim_one()
        assert list((await _report(trial, worker, claim, outcome, fence=claim.fence + 1)).lost) == [claim.id]
        assert list((await _report(trial, other, claim, outcome)).lost) == [claim.id]
        assert (await trial.run(claim)).status is RunStatus.RUNNING

    async def test_a_zombie_is_refused_after_the_run_was_given_to_another(self, trial: Trial) -> None:
        await trial.enqueue()
        zombie = await trial.worker()
        old = await zombie.claim_one()
        trial.clock.move(milliseconds=LEASE_MS + 1)
        assert await trial.take_lost() == [old.id]
        worker = await trial.worker()
        new = await worker.claim_one()
        assert list((await _report(trial, zombie, old, Completed())).lost) == [old.id]
        settled = await _report(trial, worker, new, Completed())
        assert settled.ended == {new.id: RunStatus.COMPLETED}

    async def test_the_policy_is_the_schedules_else_the_reported_one(self, trial: Trial) -> None:
        fixed = Retry(backoff=Backoff.FIXED, delay=60, jitter=0)
        reported = Retry(backoff=Backoff.FIXED, delay=7, jitter=0)
        await trial.put(retry=fixed)
        trial.clock.move(minutes=1)
        await trial.fire()
        await trial.enqueue()
        worker = await trial.worker()
        for claim in await worker.claim():
            await _report(trial, worker, claim, Failed("no"), retry=reported)
            due_at = (await trial.run(claim)).due_at
            assert due_at is not None
            waits = round(due_at.timestamp() * 1000) - trial.clock.now()
            assert waits == (7000 if claim.schedule_id is None else 60_000)

    async def test_its_end_lets_the_next_run_of_the_schedule_go(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        worker = await trial.worker()
        for _ in range(2):
            trial.clock.move(minutes=1)
            await worker.beat()
            await trial.fire()
        first = await worker.claim_one()
        assert (await _report(trial, worker, first, Completed())).released == 1
        await worker.complete(await worker.claim_one())
        assert await trial.statuses(put) == ["completed", "completed"]

    async def test_a_cancelled_run_takes_no_late_success_and_a_snooze_spends_no_attempt(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await _report(trial, worker, claim, Snoozed(1000))
        trial.clock.move(seconds=1)
        claim = await worker.claim_one()
        assert (claim.attempt, claim.fence) == (1, 2)
        await trial.store.request_cancel(claim.id)
        settled = await _report(trial, worker, claim, Completed("1"))
        assert settled.ended == {claim.id: RunStatus.CANCELLED}

    async def test_a_claim_may_be_narrowed_to_queues(self, trial: Trial) -> None:
        one, other = await trial.enqueue(queue="mail"), await trial.enqueue(queue="bulk")
        worker = await trial.worker()
        claimed = await trial.store.claim_runs(worker.session, jobs=worker.jobs, limit=10, queues=["mail", "none"])
        assert [claim.id for claim in claimed.claims] == [one.id]
        assert [claim.id for claim in await worker.claim()] == [other.id]

    async def test_a_remote_session_lives_by_its_lease(self, trial: Trial) -> None:
        worker = await trial.worker()
        await worker.close()
        await trial.store.open_session(worker.instance, lease_ms=LEASE_MS, remote=True)
        await trial.enqueue()
        claim = await worker.claim_one()
        assert await trial.take_lost() == []
        trial.clock.move(milliseconds=LEASE_MS + 1)
        assert await trial.take_lost() == [claim.id]
