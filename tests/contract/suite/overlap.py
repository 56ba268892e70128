"""One more run of a schedule while another has not ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duly.core.errors import RunActive
from duly.core.policy import CatchUp, Missed, Overlap, Retry
from duly.core.run import Completed, Failed, Hold, Outcome
from duly.core.schedule import Schedule
from duly.core.timing import Every, Once
from tests.acceptance.rules import rule
from tests.contract.suite.trial import Trial


async def tick(trial: Trial, minutes: int = 1) -> None:
    """Fire the windows of the next minutes, each at its time."""
    for _ in range(minutes):
        trial.clock.move(minutes=1)
        await trial.fire()


async def holds(trial: Trial, put: Schedule) -> list[int]:
    return [run.hold for run in await trial.runs(put) if not run.status.terminal]


class TestOverlap:
    @rule("S3.30", "S3.43", "S3.58", "D1")
    async def test_skip_writes_down_every_window_inside_a_run(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        await tick(trial)
        worker = await trial.worker()
        claim = await worker.claim_one()
        await tick(trial, 2)
        await worker.beat()
        await worker.complete(claim)
        await tick(trial)
        runs = await trial.runs(put)
        assert [run.status.value for run in runs] == ["completed", "skipped", "skipped", "pending"]
        assert [run.reason for run in runs] == [None, "overlap", "overlap", None]

    @rule("D2")
    async def test_a_run_that_waits_for_a_worker_counts_as_running(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        await tick(trial, 2)
        assert await trial.statuses(put) == ["pending", "skipped"]

    @rule("S4.34", "D2")
    async def test_a_run_that_waits_for_its_retry_counts_as_running(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        await tick(trial)
        worker = await trial.worker()
        await worker.settle(await worker.claim_one(), Failed("no"), Retry(delay=600, jitter=0))
        await tick(trial)
        assert await trial.statuses(put) == ["pending", "skipped"]

    @rule("S3.59", "D3")
    async def test_queue_holds_as_many_as_it_may_and_lets_them_go_in_order(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE, max_queued=2)
        await tick(trial, 4)
        assert await trial.statuses(put) == ["pending", "pending", "pending", "skipped"]
        assert (await trial.runs(put))[-1].reason == "queue_full"
        assert await holds(trial, put) == [Hold.NONE, Hold.LANE, Hold.LANE]
        worker = await trial.worker()
        order: list[str] = []
        for _ in range(3):
            claim = await worker.claim_one()
            assert await worker.claim() == []
            order.append(claim.id)
            await worker.complete(claim)
        assert order == [run.id for run in (await trial.runs(put))[:3]]

    @pytest.mark.parametrize("end", ["complete", "fail"])
    async def test_the_end_of_a_run_releases_the_next_one(self, trial: Trial, end: str) -> None:
        put = await trial.put(overlap=Overlap.QUEUE, retry=Retry(max_attempts=1))
        await tick(trial, 2)
        worker = await trial.worker()
        settled = await getattr(worker, end)(await worker.claim_one())
        assert settled.released == 1
        assert await holds(trial, put) == [Hold.NONE]

    async def test_a_retry_keeps_its_place_in_the_lane(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        await tick(trial, 2)
        worker = await trial.worker()
        settled = await worker.fail(await worker.claim_one())
        assert settled.released == 0
        assert await holds(trial, put) == [Hold.NONE, Hold.LANE]

    async def test_cancelling_the_run_in_front_releases_the_next_one(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        await tick(trial, 2)
        first, second = await trial.runs(put)
        cancelled = await trial.store.request_cancel(first.id)
        assert cancelled is not None
        assert cancelled.status == "cancelled"
        assert (await (await trial.worker()).claim_one()).id == second.id

    async def test_cancelling_a_run_in_the_queue_releases_nobody_early(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE, max_queued=2)
        await tick(trial, 3)
        _, second, _ = await trial.runs(put)
        await trial.store.request_cancel(second.id)
        assert await holds(trial, put) == [Hold.NONE, Hold.LANE]

    async def test_a_lost_run_releases_the_next_one_when_it_ends(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE, retry=Retry(max_attempts=1))
        await tick(trial, 2)
        worker = await trial.worker()
        lost = await worker.claim_one()
        trial.clock.move(seconds=16)
        assert await trial.take_lost() == [lost.id]
        assert await trial.statuses(put) == ["failed", "pending"]
        assert await holds(trial, put) == [Hold.NONE]

    async def test_a_queue_made_while_a_run_is_on_is_let_go_by_the_janitor(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        await tick(trial)
        worker = await trial.worker()
        first = await worker.claim_one()
        await trial.edit(put, definition=replace(put.definition, overlap=Overlap.QUEUE))
        await tick(trial)
        await worker.beat()
        await worker.complete(first)
        assert await trial.statuses(put) == ["completed", "pending"]
        # The first run was fired without a lane and its end looks at none: the janitor finds who waits for nobody.
        await trial.store.release_stuck_lanes(limit=10)
        assert await holds(trial, put) == [Hold.NONE]
        assert await trial.store.release_stuck_lanes(limit=10) == 0

    async def test_a_run_that_waits_for_another_is_not_stuck(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        await tick(trial, 2)
        assert await trial.store.release_stuck_lanes(limit=10) == 0
        await (await trial.worker()).claim_one()
        assert await trial.store.release_stuck_lanes(limit=10) == 0
        assert await holds(trial, put) == [Hold.NONE, Hold.LANE]

    async def test_a_queue_given_up_lets_its_runs_go(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE, max_queued=3)
        await tick(trial, 3)
        await trial.edit(put, definition=replace(put.definition, overlap=Overlap.SKIP))
        worker = await trial.worker()
        for _ in range(3):
            await worker.complete(await worker.claim_one())
        assert await trial.statuses(put) == ["completed"] * 3

    async def test_cancel_previous_ends_a_waiting_run_at_once(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.CANCEL_PREVIOUS)
        await tick(trial, 2)
        runs = await trial.runs(put)
        assert [(run.status.value, run.reason, run.hold) for run in runs] == [
            ("cancelled", "superseded", Hold.NONE),
            ("pending", None, Hold.NONE),
        ]

    @rule("S3.60", "D4")
    async def test_cancel_previous_stops_a_running_run_and_refuses_its_late_success(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.CANCEL_PREVIOUS)
        await tick(trial)
        worker = await trial.worker()
        first = await worker.claim_one()
        await tick(trial)
        assert await holds(trial, put) == [Hold.NONE, Hold.LANE]
        (held,) = (await worker.beat()).held
        assert held.cancel_requested
        settled = await worker.complete(first, '"late"')
        assert settled.ended == {first.id: "cancelled"}
        assert settled.released == 1
        ended = await trial.run(first)
        assert (ended.status, ended.reason, ended.result) == ("cancelled", "cancel_requested", None)
        assert (await worker.claim_one()).id == (await trial.runs(put))[1].id

    async def test_a_newer_window_replaces_the_one_that_waits_for_the_cancelled(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.CANCEL_PREVIOUS)
        await tick(trial)
        worker = await trial.worker()
        await worker.claim_one()
        await tick(trial, 2)
        assert await trial.statuses(put) == ["running", "cancelled", "pending"]

    async def test_a_run_that_ignores_its_cancel_is_taken_after_the_grace(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.CANCEL_PREVIOUS)
        await tick(trial)
        worker = await trial.worker()
        first = await worker.claim_one()
        await tick(trial)
        await worker.beat()
        trial.clock.move(seconds=10)
        assert await trial.take_lost() == []
        trial.clock.move(milliseconds=1)
        assert await trial.take_lost() == [first.id]
        assert await trial.statuses(put) == ["cancelled", "pending"]
        assert await holds(trial, put) == [Hold.NONE]

    async def test_allow_lets_runs_overlap(self, trial: Trial) -> None:
        await trial.put(overlap=Overlap.ALLOW)
        await tick(trial, 3)
        assert len(await (await trial.worker()).claim()) == 3

    @rule("D5")
    async def test_allow_up_to_a_number_holds_the_others(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW, max_concurrent=2, max_queued=2)
        await tick(trial, 4)
        worker = await trial.worker()
        first, second = await worker.claim()
        await worker.complete(second)
        assert await trial.statuses(put) == ["running", "completed", "pending", "pending"]
        (third,) = await worker.claim()
        assert third.id == (await trial.runs(put))[2].id
        await worker.complete(first)
        assert len(await worker.claim()) == 1

    async def test_allow_up_to_a_number_lets_no_more_wait_than_may_queue(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW, max_concurrent=2, max_queued=1)
        await tick(trial, 5)
        runs = await trial.runs(put)
        assert [run.status for run in runs] == ["pending"] * 3 + ["skipped"] * 2
        assert [run.reason for run in runs[3:]] == ["queue_full"] * 2
        with pytest.raises(RunActive):
            await trial.trigger(put)

    async def test_missed_windows_in_line_do_not_wait_for_newer_runs_that_wait_for_nobody(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW, catch_up=CatchUp(Missed.ALL))
        trial.clock.move(minutes=4)
        await trial.fire()
        assert await holds(trial, put) == [Hold.NONE, Hold.LANE, Hold.LANE, Hold.NONE], "three missed, one due"
        worker = await trial.worker()
        oldest, newest = await worker.claim()
        assert oldest.window_at is not None
        assert newest.window_at is not None
        assert newest.window_at - oldest.window_at == 180_000
        await worker.complete(oldest)
        (next_in_line,) = await worker.claim()
        assert next_in_line.window_at == oldest.window_at + 60_000, "although the newest is still running"

    async def test_an_interval_after_completion_waits_for_its_run(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(minutes=1, after_completion=True))
        await tick(trial)
        worker = await trial.worker()
        claim = await worker.claim_one()
        trial.clock.move(minutes=5)
        await worker.beat()
        assert (await trial.fire()).windows == 0
        await worker.complete(claim)
        assert (await trial.schedule(put)).cursor.fire_at == trial.clock.now() + 60_000

    async def test_the_end_of_a_run_does_not_set_off_a_paused_schedule(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(minutes=1, after_completion=True))
        await tick(trial)
        worker = await trial.worker()
        claim = await worker.claim_one()
        await trial.pause(put)
        await worker.complete(claim)
        assert (await trial.schedule(put)).cursor.fire_at is None
        trial.clock.move(minutes=5)
        assert (await trial.fire()).windows == 0
        await trial.resume(put)
        trial.clock.move(minutes=1)
        assert (await trial.fire()).runs == 1

    async def test_a_cancelled_run_does_not_stop_an_interval_after_completion(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(minutes=1, after_completion=True))
        await tick(trial)
        (run,) = await trial.runs(put)
        await trial.store.request_cancel(run.id)
        assert (await trial.schedule(put)).cursor.fire_at == trial.clock.now() + 60_000


class TestTriggering:
    async def test_a_one_shot_whose_run_gave_way_to_a_trigger_ends_with_that(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"), overlap=Overlap.CANCEL_PREVIOUS)
        trial.clock.move(seconds=10)
        await trial.fire()
        await trial.trigger(put)
        assert sorted(await trial.statuses(put)) == ["cancelled", "pending"]
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        ended = await trial.schedule(put)
        assert (ended.status, ended.facts.ended_at) == ("completed", trial.clock.now())

    async def test_a_one_shot_ends_as_its_own_run_does_also_when_another_ends_beside_it(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"))
        trial.clock.move(seconds=10)
        await trial.fire()
        await trial.trigger(put, force=True)
        worker = await trial.worker()
        claims = sorted(await worker.claim(), key=lambda claim: claim.kind)
        assert [claim.kind for claim in claims] == ["manual", "window"]
        outcomes: list[Outcome] = [Completed(), Failed("no", fatal=True)]
        await trial.store.settle([worker.ending(c, o) for c, o in zip(claims, outcomes, strict=True)])
        assert (await trial.schedule(put)).status == "failed"

    @rule("D6")
    async def test_a_trigger_makes_a_run_and_does_not_move_the_schedule(self, trial: Trial) -> None:
        put = await trial.put(payload='{"n":1}')
        triggered = await trial.trigger(put)
        assert triggered.created
        assert (triggered.run.kind, triggered.run.status, triggered.run.window_key) == ("manual", "pending", None)
        assert triggered.run == await trial.run(triggered.run)
        assert triggered.run.payload == {"n": 1}
        assert (await trial.schedule(put)).cursor == put.cursor

    async def test_a_trigger_may_have_its_own_payload(self, trial: Trial) -> None:
        put = await trial.put(payload='{"n":1}')
        triggered = await trial.trigger(put, payload="null")
        assert triggered.run.payload_json == "null"
        assert (await (await trial.worker()).claim_one()).payload == "null"

    async def test_a_paused_schedule_can_be_triggered(self, trial: Trial) -> None:
        put = await trial.put(paused_at=1)
        assert (await trial.trigger(put)).created

    @rule("D6")
    async def test_a_trigger_beside_an_open_run_is_refused_unless_forced(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        await tick(trial)
        with pytest.raises(RunActive):
            await trial.trigger(put)
        assert len(await trial.runs(put)) == 1
        assert (await trial.trigger(put, force=True)).run.hold == Hold.NONE

    async def test_the_same_trigger_again_finds_its_run(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.SKIP)
        run_id = trial.id()
        first = await trial.trigger(put, run_id=run_id)
        again = await trial.trigger(put, run_id=run_id)
        assert again == replace(first, created=False)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        afterwards = await trial.trigger(put, run_id=run_id)
        assert (afterwards.created, afterwards.run.status) == (False, "completed")

    async def test_a_trigger_waits_its_turn_in_a_queue(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        await tick(trial)
        assert (await trial.trigger(put)).run.hold == Hold.LANE

    async def test_triggers_wait_in_the_order_in_which_they_came_whatever_their_ids(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE, max_queued=9)
        ids = [f"{digit}0000000-0000-4000-8000-000000000001" for digit in "5f3a1"]
        for run_id in ids:
            trial.clock.move(milliseconds=1)
            await trial.trigger(put, run_id=run_id)
        await tick(trial)
        worker = await trial.worker()
        went: list[str] = []
        while claims := await worker.claim():
            (claim,) = claims
            went.append(claim.id)
            await worker.complete(claim)
        (window,) = [run.id for run in await trial.runs(put) if run.kind == "window"]
        assert went == [*ids, window]

    async def test_an_unknown_schedule_cannot_be_triggered(self, trial: Trial) -> None:
        for ref in ("unknown", trial.id()):
            triggered = await trial.store.trigger(ref, run_id=trial.id(), payload=None, force=False, rules=trial.rules)
            assert triggered is None
