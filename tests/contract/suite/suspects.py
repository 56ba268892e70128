"""Suspects: runs whose process died with them are tried apart, so that one of them cannot take the rest along."""

from __future__ import annotations

import pytest

from duly.core.rules.suspects import Room
from duly.core.run import Completed, Failed, Outcome, Released, Run, Snoozed
from tests.contract.suite.trial import Trial


async def lose(trial: Trial, *runs: Run) -> None:
    """Let a worker die with these runs in its hands."""
    worker = await trial.worker(name="doomed")
    claims = await worker.claim(suspects=Room(100))
    assert {claim.id for claim in claims} == {run.id for run in runs}
    trial.clock.move(seconds=16)
    await trial.take_lost()


class TestSuspects:
    async def test_runs_that_were_lost_together_are_claimed_one_at_a_time(self, trial: Trial) -> None:
        runs = [await trial.enqueue() for _ in range(3)]
        await lose(trial, *runs)
        one, other = await trial.worker(name="one"), await trial.worker(name="other")
        (first,) = await one.claim()
        (second,) = await other.claim()
        assert await one.claim(suspects=Room(0, alone=False)) == []
        assert (first.suspect, first.attempt, first.fence) == (True, 2, 2)
        assert {first.id, second.id} < {run.id for run in runs}

    async def test_others_are_claimed_beside_them(self, trial: Trial) -> None:
        lost = await trial.enqueue(), await trial.enqueue()
        await lose(trial, *lost)
        fresh = await trial.enqueue()
        claims = await (await trial.worker()).claim()
        assert [claim.suspect for claim in claims] == [True, False]
        assert claims[1].id == fresh.id

    async def test_as_many_as_there_is_room_for_are_claimed_the_oldest_first(self, trial: Trial) -> None:
        lost: list[str] = []
        for n in range(5):
            await trial.enqueue()
            await (await trial.worker(name=f"doomed{n}")).claim(suspects=Room(0, alone=False))
            trial.clock.move(seconds=16)
            lost += await trial.take_lost()
        claims = await (await trial.worker()).claim(suspects=Room(3))
        assert [claim.id for claim in claims] == lost[:3]

    async def test_the_last_attempt_of_a_suspect_has_no_other_suspect_beside_it(self, trial: Trial) -> None:
        runs = [await trial.enqueue(max_attempts=2) for _ in range(3)]
        await lose(trial, *runs)
        worker = await trial.worker()
        assert await worker.claim(suspects=Room(8, alone=False)) == []
        assert len(await worker.claim(suspects=Room(8))) == 1

    async def test_nobody_overtakes_one_that_waits_to_be_alone(self, trial: Trial) -> None:
        careful = await trial.enqueue(max_attempts=2)
        await lose(trial, careful)
        other = await trial.enqueue(queue="z")
        doomed = await trial.worker(name="doomed")
        await doomed.claim(suspects=Room(0, alone=False))
        trial.clock.move(seconds=16)
        assert await trial.take_lost() == [other.id]
        worker = await trial.worker()
        assert await worker.claim(suspects=Room(8, alone=False)) == []
        (claim,) = await worker.claim(suspects=Room(8))
        assert claim.id == careful.id

    async def test_a_limit_counts_suspects_too(self, trial: Trial) -> None:
        runs = [await trial.enqueue() for _ in range(5)]
        await lose(trial, *runs)
        assert len(await (await trial.worker()).claim(limit=2, suspects=Room(5))) == 2

    @pytest.mark.parametrize(
        ("outcome", "suspect"),
        [(Released(), True), (Failed("no luck"), False), (Snoozed(5000), False)],
        ids=["released", "failed", "snoozed"],
    )
    async def test_an_end_in_order_acquits_a_suspect_a_release_does_not(
        self, trial: Trial, outcome: Outcome, suspect: bool
    ) -> None:
        runs = [await trial.enqueue(max_attempts=9) for _ in range(2)]
        await lose(trial, *runs)
        worker = await trial.worker()
        for claim in await worker.claim(suspects=Room(2)):
            await worker.settle(claim, outcome)
        trial.clock.move(seconds=5)
        claims = await worker.claim()
        assert [claim.suspect for claim in claims] == ([True] if suspect else [False, False])

    async def test_a_closed_session_s_suspects_stay_what_they_are(self, trial: Trial) -> None:
        runs = [await trial.enqueue() for _ in range(2)]
        await lose(trial, *runs)
        worker = await trial.worker()
        await worker.claim(suspects=Room(2))
        await worker.close()
        assert len(await (await trial.worker()).claim()) == 1

    async def test_a_suspect_of_a_job_that_nobody_knows_is_reported_and_stays_one(self, trial: Trial) -> None:
        runs = [await trial.enqueue() for _ in range(2)]
        await lose(trial, *runs)
        await trial.worker("other")
        assert list(await trial.store.hold_unknown_jobs()) == [("work", 2)]
        worker = await trial.worker()
        assert list(await trial.store.hold_unknown_jobs()) == []
        assert len(await worker.claim()) == 1

    async def test_a_suspect_that_is_cancelled_or_done_is_gone(self, trial: Trial) -> None:
        cancelled, done = await trial.enqueue(), await trial.enqueue()
        await lose(trial, cancelled, done)
        await trial.store.request_cancel(cancelled.id)
        worker = await trial.worker()
        (claim,) = await worker.claim(suspects=Room(2))
        await worker.settle(claim, Completed())
        assert [(await trial.run(run)).status for run in (cancelled, done)] == ["cancelled", "completed"]
