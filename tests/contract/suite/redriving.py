"""Redriven runs and the others of their schedule: they wait their turn like everybody else."""

from __future__ import annotations

from typing import Any

import pytest

from duly.core.policy import Overlap
from duly.core.run import Run
from duly.store.dead import DeadRef, Done, Redrive
from tests.contract.suite.dead import redrive
from tests.contract.suite.trial import Trial


class TestRedrivingObeysOverlap:
    async def _three_dead(self, trial: Trial, **words: Any) -> list[Run]:
        put = await trial.put(**words)
        worker = await trial.worker()
        for _ in range(3):
            trial.clock.move(minutes=1)
            await worker.beat()
            await trial.fire()
            await worker.fail(await worker.claim_one(), fatal=True)
        return await trial.runs(put)

    @pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE, Overlap.CANCEL_PREVIOUS])
    async def test_redriven_runs_go_one_after_another_oldest_first(self, trial: Trial, overlap: Overlap) -> None:
        dead = await self._three_dead(trial, overlap=overlap)
        answers = await trial.store.redrive([Redrive(dead=DeadRef(run.id)) for run in dead[::-1]])
        assert {answer.outcome for answer in answers} == {Done.DONE}
        worker = await trial.worker()
        went = []
        for n in range(3):
            claim = await worker.claim_one()
            went.append(claim.id)
            await (worker.fail(claim, fatal=True) if n == 1 else worker.complete(claim))
        assert went == [run.id for run in dead]
        assert [(await trial.run(run)).status for run in dead] == ["completed", "failed", "completed"]

    async def test_redriven_runs_go_oldest_first_whatever_their_ids(self, trial: Trial) -> None:
        put = await trial.put()
        worker = await trial.worker()
        ids = [f"{digit}0000000-0000-4000-8000-000000000001" for digit in "5f1"]
        for run_id in ids:
            trial.clock.move(milliseconds=1)
            await trial.trigger(put, run_id=run_id)
            await worker.fail(await worker.claim_one(), fatal=True)
        await trial.store.redrive([Redrive(dead=DeadRef(run_id)) for run_id in sorted(ids)])
        went = []
        for _ in ids:
            claim = await worker.claim_one()
            went.append(claim.id)
            await worker.complete(claim)
        assert went == ids

    async def test_redriven_runs_that_may_overlap_go_at_once(self, trial: Trial) -> None:
        dead = await self._three_dead(trial, overlap=Overlap.ALLOW)
        await trial.store.redrive([Redrive(dead=DeadRef(run.id)) for run in dead])
        assert len(await (await trial.worker()).claim()) == 3

    async def test_redriven_runs_keep_to_max_concurrent(self, trial: Trial) -> None:
        dead = await self._three_dead(trial, overlap=Overlap.ALLOW, max_concurrent=2)
        await trial.store.redrive([Redrive(dead=DeadRef(run.id)) for run in dead])
        worker = await trial.worker()
        first, _ = await worker.claim()
        await worker.complete(first)
        assert (await worker.claim_one()).id == dead[2].id

    async def test_a_redriven_run_keeps_to_max_concurrent_also_where_the_line_is_full(self, trial: Trial) -> None:
        dead, *_ = await self._three_dead(trial, overlap=Overlap.ALLOW, max_concurrent=1, max_queued=1)
        for _ in range(2):
            trial.clock.move(minutes=1)
            await trial.fire()
        worker = await trial.worker()
        running = await worker.claim_one()
        assert (await redrive(trial, dead)).outcome is Done.DONE
        assert await worker.claim() == []
        await worker.complete(running)
        assert (await worker.claim_one()).id == dead.id

    async def test_a_forced_redrive_waits_for_nobody(self, trial: Trial) -> None:
        dead = await self._three_dead(trial)
        await trial.store.redrive([Redrive(dead=DeadRef(run.id), force=True) for run in dead])
        assert len(await (await trial.worker()).claim()) == 3

    async def test_only_so_many_redriven_runs_wait_and_the_rest_stay_dead(
        self, trial: Trial, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("duly.core.rules.overlap.MOST_REDRIVEN", 2)
        dead = await self._three_dead(trial)
        answers = await trial.store.redrive([Redrive(dead=DeadRef(run.id)) for run in dead])
        assert [answer.outcome for answer in answers] == [Done.DONE, Done.DONE, Done.LANE_FULL]
        assert [(await trial.run(run)).dead for run in dead] == [False, False, True]
        assert (await redrive(trial, dead[2], force=True)).outcome is Done.DONE

    async def test_a_redriven_run_waits_for_the_window_that_runs(self, trial: Trial) -> None:
        *_, dead = await self._three_dead(trial)
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        await worker.beat()
        await trial.fire()
        running = await worker.claim_one()
        await redrive(trial, dead)
        assert await worker.claim() == []
        await worker.complete(running)
        await trial.store.release_stuck_lanes(limit=10)
        assert (await worker.claim_one()).id == dead.id

    async def test_the_failures_of_a_schedule_start_from_none_after_a_redriven_success(self, trial: Trial) -> None:
        put = await trial.put(pause_after_failures=3)
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        await worker.beat()
        await trial.fire()
        claim = await worker.claim_one()
        await worker.fail(claim, fatal=True)
        assert (await trial.schedule(put)).cursor.failures == 1
        await redrive(trial, await trial.run(claim))
        await worker.complete(await worker.claim_one())
        assert (await trial.schedule(put)).cursor.failures == 0
