"""Settling: how attempts end, and what that does to their schedules."""

from __future__ import annotations

import pytest

from duly.core.instants import to_datetime
from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Overlap, Retry
from duly.core.run import Cancelled, Completed, Failed, Outcome, Released, Snoozed
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Once
from duly.store.values import RunFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestSettling:
    async def test_a_completed_run_keeps_its_result_and_runs_no_more(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        trial.clock.move(seconds=2)
        settled = await worker.complete(await worker.claim_one(), '{"rows":3}')
        assert (settled.ended, settled.lost, settled.now) == ({run.id: "completed"}, [], trial.clock.now())
        ended = await trial.run(run)
        assert (ended.status, ended.result, ended.attempt) == ("completed", {"rows": 3}, 1)
        assert await worker.claim() == []

    async def test_a_failed_attempt_is_due_again_after_its_backoff(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        settled = await worker.fail(await worker.claim_one(), "no luck")
        assert (settled.ended, settled.lost) == ({}, [])
        waiting = await trial.run(run)
        assert (waiting.status, waiting.attempt, waiting.attempt_number) == ("pending", 1, 2)
        trial.clock.move(milliseconds=4999)
        assert await worker.claim() == []
        trial.clock.move(milliseconds=1)
        assert (await worker.claim_one()).attempt == 2

    @rule("F4")
    async def test_a_retry_s_due_time_survives_its_worker_and_its_store(self, trial: Trial, access: Access) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), Failed("no"), Retry(delay=60, jitter=0))
        due_at = (await trial.run(run)).due_at
        other = await trial.worker(store=await access.another())
        trial.clock.move(seconds=59)
        await trial.take_lost()
        assert await other.claim() == []
        trial.clock.move(seconds=1)
        claim = await (await trial.worker(store=other.store)).claim_one()
        assert due_at is not None
        assert claim.due_at == due_at.timestamp() * 1000

    async def test_the_last_attempt_s_failure_ends_the_run(self, trial: Trial, access: Access) -> None:
        run = await trial.enqueue(max_attempts=3)
        worker = await trial.worker()
        for n in range(3):
            claim = await worker.claim_one()
            assert claim.attempt == n + 1
            settled = await worker.fail(claim, f"error {n}")
            told = (await trial.store.list_runs(RunFilter(), limit=1)).items[0]
            assert (await trial.run(run)).error_message == told.error_message == f"error {n}", "also while it waits"
            trial.clock.move(seconds=5)
            await worker.beat()
        assert settled.ended == {run.id: "failed"}
        ended = await trial.run(run)
        assert (ended.status, ended.reason, ended.error_message) == ("failed", "attempts_spent", "error 2")
        assert ended.dead
        errors = [(row[2], row[3], row[4]) for row in (await access.dump())["attempts"]]
        assert errors == [(1, "failed", "error 0"), (2, "failed", "error 1"), (3, "failed", "error 2")]

    async def test_a_fatal_failure_ends_the_run_at_once(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.fail(await worker.claim_one(), "hopeless", fatal=True)
        ended = await trial.run(run)
        assert (ended.status, ended.reason, ended.attempt) == ("failed", "fatal", 1)

    @pytest.mark.parametrize("allowed, tries", [(1, 1), (4, 4)])
    async def test_a_run_whose_attempts_nobody_chose_has_those_that_its_job_allows(
        self, trial: Trial, allowed: int, tries: int
    ) -> None:
        run = await trial.enqueue(left_to_job=LEFT_RETRY | LEFT_TIMEOUT)
        assert (run.max_attempts, run.revision) == (3, None)
        worker = await trial.worker()
        for number in range(1, tries + 1):
            claim = await worker.claim_one()
            assert (claim.attempt, claim.left_to_job) == (number, LEFT_RETRY | LEFT_TIMEOUT)
            claim.allow(allowed)
            await worker.fail(claim)
            trial.clock.move(hours=1)
        dead = await trial.run(run)
        assert (dead.status, dead.reason, dead.revision) == ("failed", "attempts_spent", None)
        assert (dead.attempt, dead.max_attempts) == (tries, allowed)

    async def test_a_number_of_attempts_that_was_chosen_is_not_the_job_s_to_change(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        claim.allow(1)
        await worker.fail(claim)
        assert ((await trial.run(run)).status, (await trial.run(run)).max_attempts) == ("pending", 3)

    async def test_a_run_of_a_cancelled_schedule_gets_no_attempt_more_whatever_its_job_allows(
        self, trial: Trial
    ) -> None:
        schedule = await trial.put(left_to_job=LEFT_RETRY)
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        claim.allow(5)
        await trial.cancel(schedule)
        await worker.fail(claim)
        assert (await trial.run(claim)).status == "failed"

    async def test_recovery_knows_how_often_a_job_may_be_tried_where_nobody_chose(self, trial: Trial) -> None:
        chosen, left = await trial.enqueue(), await trial.enqueue(left_to_job=LEFT_RETRY)
        worker = await trial.worker()
        assert len(await worker.claim()) == 2
        trial.clock.move(hours=1)
        await trial.store.take_lost(limit=10, rules=trial.rules, retries={"work": Retry(max_attempts=1)})
        assert (await trial.run(chosen)).status == "pending"
        lost = await trial.run(left)
        assert (lost.status, lost.reason, lost.max_attempts) == ("failed", "lost", 1)

    async def test_release_and_snooze_spend_no_attempt(self, trial: Trial) -> None:
        await trial.enqueue(max_attempts=1)
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), Released())
        await worker.settle(await worker.claim_one(), Snoozed(1000))
        assert await worker.claim() == []
        trial.clock.move(seconds=1)
        claim = await worker.claim_one()
        assert (claim.attempt, claim.fence) == (1, 3)

    async def test_a_snoozed_run_comes_back_when_it_asked_to(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), Snoozed(90_000))
        due_at = (await trial.run(run)).due_at
        assert due_at is not None
        assert due_at.timestamp() * 1000 == trial.clock.now() + 90_000

    async def test_a_waiting_run_is_cancelled_at_once(self, trial: Trial) -> None:
        run = await trial.enqueue()
        cancelled = await trial.store.request_cancel(run.id)
        assert cancelled is not None
        assert (cancelled.status, cancelled.reason) == ("cancelled", "cancel_requested")
        assert await (await trial.worker()).claim() == []
        assert await trial.store.request_cancel(run.id) == cancelled
        assert await trial.store.request_cancel(trial.id()) is None

    async def test_a_run_that_waits_for_its_retry_is_cancelled_at_once(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.fail(await worker.claim_one())
        cancelled = await trial.store.request_cancel(run.id)
        assert cancelled is not None
        assert (cancelled.status, cancelled.attempt) == ("cancelled", 1)

    @pytest.mark.parametrize("outcome", [Completed("1"), Cancelled(), Released(), Snoozed(5), Failed("late")])
    async def test_a_run_asked_to_stop_ends_cancelled_however_it_ends(self, trial: Trial, outcome: Outcome) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        claim = await worker.claim_one()
        asked = await trial.store.request_cancel(run.id)
        assert asked is not None
        assert (asked.status, asked.cancel_requested) == ("running", True)
        assert (await worker.settle(claim, outcome)).ended == {run.id: "cancelled"}
        ended = await trial.run(run)
        assert (ended.reason, ended.result) == ("cancel_requested", None)

    async def test_many_ends_are_written_at_once(self, trial: Trial) -> None:
        outcomes: list[Outcome] = [Completed("1"), Failed("no"), Released(), Failed("no", fatal=True), Completed("2")]
        for _ in outcomes:
            await trial.enqueue()
        worker = await trial.worker()
        claims = await worker.claim()
        endings = [worker.ending(claim, outcome) for claim, outcome in zip(claims, outcomes, strict=True)]
        settled = await trial.store.settle(endings)
        statuses = [(await trial.run(claim)).status.value for claim in claims]
        assert statuses == ["completed", "pending", "pending", "failed", "completed"]
        assert settled.ended == {claims[0].id: "completed", claims[3].id: "failed", claims[4].id: "completed"}

    async def test_however_many_go_again_at_once_each_is_given_back(self, trial: Trial) -> None:
        await trial.store.enqueue([trial.request() for _ in range(230)])
        worker = await trial.worker()
        claims = await worker.claim(limit=230)
        settled = await trial.store.settle([worker.ending(claim, Failed("no luck")) for claim in claims])
        assert (settled.ended, list(settled.lost)) == ({}, [])
        assert (await worker.beat()).held == []
        trial.clock.move(seconds=5)
        assert [claim.attempt for claim in await worker.claim(limit=500)] == [2] * 230

    async def test_a_cancel_that_is_asked_for_again_does_not_put_off_its_end(self, trial: Trial) -> None:
        run = await trial.enqueue()
        worker = await trial.worker()
        await worker.claim_one()
        await trial.store.request_cancel(run.id)
        trial.clock.move(seconds=9)
        await worker.beat()
        await trial.store.request_cancel(run.id)
        trial.clock.move(seconds=1, milliseconds=1)
        assert await trial.take_lost() == [run.id], "its worker has ignored the first one for longer than the grace"
        assert (await trial.run(run)).status == "cancelled"

    async def test_nothing_to_settle_is_fine(self, trial: Trial) -> None:
        settled = await trial.store.settle([])
        assert (settled.ended, list(settled.lost)) == ({}, [])


class TestSettlingMovesSchedules:
    @pytest.mark.parametrize(
        ("outcome", "status"),
        [
            (Completed(), ScheduleStatus.COMPLETED),
            (Failed("no", fatal=True), ScheduleStatus.FAILED),
            (Failed("no"), ScheduleStatus.ACTIVE),
        ],
    )
    async def test_the_end_of_its_run_ends_a_one_shot(
        self, trial: Trial, outcome: Outcome, status: ScheduleStatus
    ) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"))
        trial.clock.move(seconds=10)
        await trial.fire()
        assert (await trial.schedule(put)).status is ScheduleStatus.ACTIVE
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), outcome)
        assert (await trial.schedule(put)).status is status

    async def test_cancelling_its_waiting_run_ends_a_one_shot(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"))
        trial.clock.move(seconds=10)
        await trial.fire()
        (run,) = await trial.runs(put)
        await trial.store.request_cancel(run.id)
        assert (await trial.schedule(put)).status is ScheduleStatus.CANCELLED

    async def test_a_one_shot_that_ended_can_be_purged_later(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"))
        trial.clock.move(seconds=10)
        await trial.fire()
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        trial.clock.move(days=1)
        assert await trial.store.purge_schedules(ended_before=trial.clock.now(), limit=10) == 1
        assert await trial.store.get_schedule(put.id) is None

    @rule("S4.30", "S4.35")
    async def test_too_many_failures_in_a_row_pause_a_schedule(self, trial: Trial) -> None:
        put = await trial.put(pause_after_failures=2, overlap=Overlap.ALLOW)
        worker = await trial.worker()
        for end in ("fail", "complete", "fail", "fail"):
            trial.clock.move(minutes=1)
            await worker.beat()
            assert (await trial.fire()).runs == 1
            claim = await worker.claim_one()
            await (worker.complete(claim) if end == "complete" else worker.fail(claim, fatal=True))
        paused = await trial.schedule(put)
        assert not paused.enabled
        assert paused.facts.paused_by == "duly"
        assert "2" in (paused.paused_reason or "")
        trial.clock.move(minutes=5)
        assert (await trial.fire()).windows == 0
        resumed = await trial.resume(put)
        assert resumed.cursor.failures == 0

    async def test_a_failure_that_pauses_loses_nothing_that_came_since_the_end_of_a_pause_that_nobody_noticed(
        self, trial: Trial
    ) -> None:
        put = await trial.put(pause_after_failures=1)
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await trial.pause(put, until=trial.clock.now() + 90_000)
        trial.clock.move(minutes=3)
        await worker.beat()
        await worker.fail(claim, fatal=True)
        paused = await trial.schedule(put)
        assert (paused.enabled, paused.facts.paused_by, paused.cursor.failures) == (False, "duly", 1)
        await trial.resume(put)
        _, skipped = await trial.runs(put)
        assert (skipped.reason, skipped.since, skipped.window_at) == (
            "paused",
            to_datetime(put.facts.created_at + 180_000),
            to_datetime(put.facts.created_at + 240_000),
        )

    async def test_a_failure_is_written_also_where_a_newer_version_wrote_the_schedule(
        self, trial: Trial, access: Access
    ) -> None:
        put = await trial.put(pause_after_failures=1)
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await access.damage(put.id)
        await worker.fail(claim, fatal=True)
        assert (await trial.run(claim)).status == "failed"
