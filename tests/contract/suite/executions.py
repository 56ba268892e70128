"""Every attempt that started a handler and did not complete is a row that says why it ended."""

from __future__ import annotations

import pytest

from duly.core.run import (
    Cancelled,
    Claim,
    Completed,
    Dispatched,
    Failed,
    Interrupted,
    Outcome,
    Released,
    RunStatus,
    Snoozed,
    Suspended,
)
from duly.store.dead import DeadRef, Redrive
from duly.store.values import Settlement
from tests.contract.suite.access import Access
from tests.contract.suite.trial import LEASE_MS, PLAIN_RETRY, Trial, Worker


async def outcomes(trial: Trial, run: Claim) -> list[tuple[int, int, str]]:
    """The attempts at a run: number, fence, and how each ended."""
    return [(a.attempt_number, a.fence, a.outcome) for a in await trial.store.read_attempts(run.id)]


async def settle(worker: Worker, claim: Claim, outcome: Outcome, max_interruptions: int | None = None) -> Settlement:
    settlement = Settlement(claim, worker.session, outcome, PLAIN_RETRY, max_interruptions)
    await worker.store.settle([settlement])
    return settlement


class TestExecutions:
    async def test_each_end_of_an_attempt_is_recorded_with_its_fence_and_instance(self, trial: Trial) -> None:
        await trial.enqueue(max_attempts=5)
        worker = await trial.worker(name="worker-1")
        ends: list[Outcome] = [
            Released(started=True), Interrupted(), Snoozed(1), Failed("no luck"), Failed("too slow", timed_out=True)
        ]  # fmt: skip
        for end in ends:
            trial.clock.move(minutes=1)
            claim = await worker.claim_one()
            await settle(worker, claim, end)
        trial.clock.move(minutes=1)
        last = await worker.claim_one()
        await worker.complete(last)
        assert await outcomes(trial, last) == [
            (1, 1, "released"),
            (1, 2, "interrupted"),
            (1, 3, "snoozed"),
            (1, 4, "failed"),
            (2, 5, "timed_out"),
            (3, 6, "completed"),
        ]
        rows = await trial.store.read_attempts(last.id)
        assert {row.instance for row in rows} == {"worker-1"}
        assert all(row.started_at and row.ended_at and row.started_at <= row.ended_at for row in rows)
        assert [row.error_message for row in rows] == [None, None, None, "no luck", "too slow", None]

    @pytest.mark.parametrize("outcome", [Released(), Suspended(1, 0), Dispatched()], ids=lambda one: type(one).__name__)
    async def test_an_attempt_that_started_no_handler_leaves_no_record(self, trial: Trial, outcome: Outcome) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await settle(worker, claim, outcome)
        assert await outcomes(trial, claim) == []

    async def test_a_released_attempt_does_not_hide_the_error_of_the_one_before(self, trial: Trial) -> None:
        await trial.enqueue(max_attempts=5)
        worker = await trial.worker()
        await worker.fail(await worker.claim_one(), "no luck")
        trial.clock.move(minutes=1)
        claim = await worker.claim_one()
        await settle(worker, claim, Released(started=True))
        assert (await trial.run(claim)).error_message == "no luck"

    @pytest.mark.parametrize(
        "outcome", [Released(started=True), Interrupted(), Snoozed(1)], ids=lambda one: type(one).__name__
    )
    async def test_a_repeated_settle_that_finds_its_own_record_is_kept(self, trial: Trial, outcome: Outcome) -> None:
        await trial.enqueue()
        worker, other = await trial.worker(), await trial.worker()
        first = await settle(worker, await worker.claim_one(), outcome)
        trial.clock.move(minutes=1)
        second = await other.claim_one()
        assert (await trial.store.settle([first])).lost == [], "although another session has the run now"
        await other.complete(second)
        assert (await trial.store.settle([first])).lost == []
        assert len(await outcomes(trial, second)) == 2
        other_end = Settlement(first.claim, first.session, Failed("late"), PLAIN_RETRY)
        assert (await trial.store.settle([other_end])).lost == [first.claim.id], "that is not what was recorded"

    async def test_only_the_newest_20_snoozed_attempts_are_kept_and_all_are_counted(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        for _ in range(23):
            trial.clock.move(seconds=1)
            claim = await worker.claim_one()
            await settle(worker, claim, Snoozed(1))
        rows = await trial.store.read_attempts(claim.id)
        assert [row.fence for row in rows] == list(range(4, 24))
        assert [row.snoozes for row in rows] == list(range(4, 24))

    async def test_interruptions_are_counted_and_end_the_run_beyond_the_limit(self, trial: Trial) -> None:
        await trial.enqueue(max_attempts=1)
        worker = await trial.worker()
        interruptions: list[Outcome] = [Released(started=True), Interrupted()]
        for count, outcome in enumerate(interruptions, start=1):
            claim = await worker.claim_one()
            settled = await trial.store.settle([Settlement(claim, worker.session, outcome, PLAIN_RETRY, 2)])
            assert settled.interruptions == {claim.id: count}
        claim = await worker.claim_one()
        last = Settlement(claim, worker.session, Released(started=True), PLAIN_RETRY, 2)
        settled = await trial.store.settle([last])
        assert settled.ended == {claim.id: RunStatus.FAILED}
        run = await trial.run(claim)
        assert (run.status, run.reason) == ("failed", "interrupted")
        assert run.error_message == "interrupted 3 time(s); max_interruptions is 2"
        assert [row[2] for row in await outcomes(trial, claim)] == ["released", "interrupted", "released"]
        assert (await trial.store.settle([last])).lost == [], "a repeated settle finds the end that it wrote"

    async def test_a_redrive_starts_a_new_count_of_interruptions(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await settle(worker, claim, Released(started=True), 0)
        await trial.store.redrive([Redrive(dead=DeadRef(claim.id))])
        again = await worker.claim_one()
        settled = await trial.store.settle([Settlement(again, worker.session, Interrupted(), PLAIN_RETRY, 1)])
        assert settled.interruptions == {claim.id: 1}
        assert (await trial.run(claim)).status == RunStatus.PENDING

    async def test_a_closed_session_records_the_attempts_that_had_started(self, trial: Trial) -> None:
        first, second = await trial.enqueue(), await trial.enqueue()
        worker = await trial.worker()
        claims = {claim.id: claim for claim in await worker.claim()}
        assert await trial.store.close_session(worker.session, started=[first.id]) == 2
        assert await outcomes(trial, claims[first.id]) == [(1, 1, "released")]
        assert await outcomes(trial, claims[second.id]) == []

    async def test_an_interrupted_attempt_replaces_the_record_that_it_was_lost(self, trial: Trial) -> None:
        await trial.enqueue(max_attempts=3)
        worker, other = await trial.worker(name="cut-off"), await trial.worker(name="other")
        claim = await worker.claim_one()
        trial.clock.move(milliseconds=LEASE_MS // 2)
        await other.beat()
        trial.clock.move(milliseconds=LEASE_MS // 2 + 1)
        assert await trial.take_lost() == [claim.id]
        assert await outcomes(trial, claim) == [(1, 1, "lost")]
        report = Settlement(claim, worker.session, Interrupted(), PLAIN_RETRY)
        assert (await trial.store.settle([report])).lost == []
        assert await outcomes(trial, claim) == [(1, 1, "interrupted")]
        assert (await trial.store.settle([report])).lost == [], "repeated"
        stale = Settlement(claim, other.session, Interrupted(), PLAIN_RETRY)
        assert (await trial.store.settle([stale])).lost == [claim.id], "of another session"
        again = await other.claim_one()
        await other.complete(again)
        assert await outcomes(trial, again) == [(1, 1, "interrupted"), (2, 2, "completed")]

    async def test_an_attempt_that_was_cancelled_with_an_error_is_listed_once(self, trial: Trial) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await trial.store.request_cancel(claim.id)
        await settle(worker, claim, Cancelled(error="the undo failed"))
        assert await outcomes(trial, claim) == [(1, 1, "cancelled")]

    async def test_an_ordinary_run_writes_no_attempt(self, trial: Trial, access: Access) -> None:
        await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await settle(worker, claim, Completed("1"))
        assert (await access.dump())["attempts"] == []
