"""Settling: how attempts end, and that only the newest one can end a run."""

from __future__ import annotations

import pytest

from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Overlap, Retry
from duly.core.run import Cancelled, Completed, Failed, Lost, Outcome, Released, Snoozed
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Once
from duly.store.values import RunFilter
from duly.testing.contract.access import Access
from duly.testing.contract.trial import PLAIN_RETRY, Trial

OUTCOMES: list[Outcome] = [
    Completed('"done"'),
    Failed("no luck"),
    Failed("hopeless", fatal=True),
    Failed("too slow", timed_out=True),
    Released(),
    Snoozed(60_000),
]
NAMES = ["completed", "failed", "fatal", "timed out", "released", "snoozed"]


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


class TestZombies:
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
