"""The backfill: runs of past windows, in line with the others, and a cursor that stays where it is."""

from __future__ import annotations

import pytest

from duly.core.errors import Conflict, ValidationFailed
from duly.core.instants import to_datetime
from duly.core.operation import Operation
from duly.core.policy import Overlap
from duly.core.run import Hold, Run
from duly.core.schedule import Schedule
from duly.core.timing import Cron, Every
from duly.store.orders import BackfillOrder, NewOperation
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial

MINUTE = 60_000


async def backfill(
    trial: Trial, schedule: Schedule, minutes: int = 3, *, id: str | None = None, payload: str | None = None,
    rate_per_second: float | None = None, force: bool = False,
) -> Operation:  # fmt: skip
    """Backfill the windows of the last minutes, by a schedule that has one a minute."""
    now = trial.clock.now()
    order = BackfillOrder(since=now - (minutes - 1) * MINUTE, until=now, rate_per_second=rate_per_second, force=force)
    new = NewOperation(id=id or trial.id(), order=order, by="ann")
    made = await trial.store.backfill(schedule.id, new, payload=payload, rules=trial.rules)
    assert made is not None
    return made


async def backfilled(trial: Trial, schedule: Schedule) -> list[Run]:
    return [run for run in await trial.runs(schedule) if run.kind == "backfill"]


class TestBackfilling:
    async def test_every_window_of_the_range_becomes_a_run_and_the_schedule_stays_put(self, trial: Trial) -> None:
        put = await trial.put(timing=Cron("* * * * *"), overlap=Overlap.ALLOW)
        before = await trial.schedule(put)
        operation = await backfill(trial, put, payload='{"again":true}')
        assert (operation.kind, operation.status, operation.matched, operation.by) == ("backfill", "running", 3, "ann")
        runs = await backfilled(trial, put)
        now = trial.clock.now()
        assert [run.scheduled_at.timestamp() * 1000 for run in runs] == [now - 2 * MINUTE, now - MINUTE, now]
        assert [run.payload_json for run in runs] == [None] * 3
        assert (await trial.run(runs[0])).payload == {"again": True}
        assert {run.window_key for run in runs} == {None}
        assert await trial.schedule(put) == before

    async def test_asked_for_again_it_makes_nothing_new(self, trial: Trial, access: Access) -> None:
        put = await trial.put()
        operation = await backfill(trial, put)
        dump = await access.dump()
        again = await backfill(trial, put, 5, id=operation.id)
        assert again == operation
        assert await access.dump() == dump

    async def test_runs_that_must_not_overlap_go_one_after_another(self, trial: Trial) -> None:
        put = await trial.put()
        await backfill(trial, put)
        assert [run.hold for run in await backfilled(trial, put)] == [Hold.NONE, Hold.LANE, Hold.LANE]
        worker = await trial.worker()
        now = trial.clock.now()
        for window in (now - 2 * MINUTE, now - MINUTE, now):
            claim = await worker.claim_one()
            assert claim.window_at == window
            await worker.complete(claim)
        assert await worker.claim() == []

    async def test_a_forced_one_goes_at_once(self, trial: Trial) -> None:
        put = await trial.put()
        await backfill(trial, put, force=True)
        worker = await trial.worker()
        assert len(await worker.claim()) == 3

    async def test_a_lane_of_two_lets_two_go(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW, max_concurrent=2)
        await backfill(trial, put)
        worker = await trial.worker()
        first, _ = await worker.claim()
        await worker.complete(first)
        assert len(await worker.claim()) == 1

    async def test_a_rate_spaces_them(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW)
        await backfill(trial, put, rate_per_second=0.5)
        worker = await trial.worker()
        assert len(await worker.claim()) == 1
        trial.clock.move(milliseconds=1999)
        assert len(await worker.claim()) == 0
        trial.clock.move(milliseconds=1)
        assert len(await worker.claim()) == 1

    @pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE, Overlap.CANCEL_PREVIOUS])
    async def test_a_window_that_falls_due_meanwhile_waits_for_one_run_and_goes_before_the_rest(
        self, trial: Trial, overlap: Overlap
    ) -> None:
        put = await trial.put(overlap=overlap)
        await backfill(trial, put)
        worker = await trial.worker()
        first = await worker.claim_one()
        trial.clock.move(minutes=1)
        fired = await trial.fire()
        assert (fired.runs, fired.skipped) == (1, 0)
        assert await worker.claim() == []
        await worker.complete(first)
        regular = await worker.claim_one()
        assert regular.kind == "window"
        await worker.complete(regular)
        for _ in range(2):
            claim = await worker.claim_one()
            assert claim.kind == "backfill"
            await worker.complete(claim)
        assert set(await trial.statuses(put)) == {"completed"}

    async def test_a_second_window_is_still_skipped_behind_the_first(self, trial: Trial) -> None:
        put = await trial.put()
        await backfill(trial, put)
        for runs in (1, 0):
            trial.clock.move(minutes=1)
            assert (await trial.fire()).runs == runs

    async def test_it_waits_for_a_run_that_is_on(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        regular = await worker.claim_one()
        await backfill(trial, put)
        assert await worker.claim() == []
        await worker.complete(regular)
        assert (await worker.claim_one()).kind == "backfill"

    async def test_its_operation_counts_what_has_ended_and_what_failed(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW)
        operation = await backfill(trial, put)
        worker = await trial.worker()
        first, second, third = await worker.claim()
        await worker.complete(first)
        await worker.fail(second, fatal=True)
        seen = await trial.store.get_operation(operation.id)
        assert seen is not None
        assert (seen.status, seen.matched, seen.changed, seen.refused) == ("running", 3, 2, 1)
        trial.clock.move(seconds=7)
        await worker.complete(third)
        ended = to_datetime(trial.clock.now())
        for _ in range(2):
            trial.clock.move(seconds=7)
            seen = await trial.store.get_operation(operation.id)
            assert seen is not None
            assert (seen.status, seen.changed, seen.finished_at, seen.updated_at) == ("completed", 3, ended, ended)
            assert (await trial.store.list_operations(limit=10)).items == [seen]
        done = await trial.store.step_operation(operation.id, limit=100)
        assert done is not None
        assert (done.status, done.changed, done.refused) == ("completed", 3, 1)
        assert await trial.store.get_operation(operation.id) == done == seen

    async def test_it_works_on_a_paused_schedule_and_moves_no_count(self, trial: Trial) -> None:
        put = await trial.put(max_runs=2)
        await trial.pause(put)
        await backfill(trial, put)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        found = await trial.schedule(put)
        assert (found.cursor.fired, found.status, found.enabled) == (0, "pending", False)

    async def test_a_cancel_of_the_schedule_ends_what_waits(self, trial: Trial) -> None:
        put = await trial.put()
        await backfill(trial, put)
        await trial.cancel(put)
        assert await trial.statuses(put) == ["cancelled"] * 3

    async def test_a_cancelled_schedule_is_not_backfilled(self, trial: Trial, access: Access) -> None:
        """Another cancel would not end such runs."""
        put = await trial.put()
        first = await backfill(trial, put)
        await trial.cancel(put)
        dump = await access.dump()
        with pytest.raises(Conflict, match="is cancelled and cannot be backfilled"):
            await backfill(trial, put)
        assert await access.dump() == dump
        assert (await backfill(trial, put, id=first.id)).matched == 3, "asked for again it is what was made before"

    async def test_an_empty_range_is_over_at_once(self, trial: Trial) -> None:
        put = await trial.put(timing=Cron("0 2 * * *"))
        operation = await backfill(trial, put)
        assert (operation.status, operation.matched) == ("completed", 0)

    async def test_what_cannot_be_backfilled_is_refused_and_changes_nothing(self, trial: Trial, access: Access) -> None:
        put = await trial.put(timing=Every(seconds=1))
        waits = await trial.put("waits", timing=Every(minutes=1, after_completion=True))
        dump = await access.dump()
        now = trial.clock.now()
        for schedule, since, until, words in (
            (put, now - 1000 * 1000, now, "1001 windows"),
            (put, now, now - 1, "not before"),
            (put, now, now + 1000, "has passed"),
            (waits, now - 1000, now, "end of each run"),
        ):
            new = NewOperation(id=trial.id(), order=BackfillOrder(since=since, until=until))
            with pytest.raises(ValidationFailed, match=words):
                await trial.store.backfill(schedule.id, new, payload=None, rules=trial.rules)
        large = NewOperation(id=trial.id(), order=BackfillOrder(since=now - 999 * 1000, until=now))
        with pytest.raises(ValidationFailed, match="payload"):
            await trial.store.backfill(put.id, large, payload="1" * 20_000, rules=trial.rules)
        assert await access.dump() == dump
        assert await trial.store.backfill("unknown", large, payload=None, rules=trial.rules) is None
