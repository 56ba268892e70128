"""What operators do: change schedules by name, remove them with all they left, and look at what comes next."""

from __future__ import annotations

from typing import Any

import pytest

from duly.core.credential import Whose
from duly.core.ids import bulk_run_id, uuid7
from duly.core.operation import Operation
from duly.core.policy import Overlap
from duly.core.schedule import Schedule
from duly.core.timing import Every
from duly.store.orders import CancelOrder, NewOperation, PauseOrder, PurgeOrder, ResumeOrder, TriggerOrder
from duly.store.seen import Minute, Outcomes
from duly.store.values import Matching, ScheduleFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.bulk import carry_out, step
from tests.contract.suite.trial import Trial

ANY = ScheduleFilter()
DAY_MS = 86_400_000


class TestNamed:
    async def test_each_that_was_named_says_what_became_of_it(self, trial: Trial) -> None:
        one, two, other = [await trial.put(key) for key in ("one", "two", "other")]
        await trial.pause(two)
        gone = await trial.delete(await trial.put("gone"))
        ids = (two.id, one.id, gone.id)
        done = await carry_out(trial, ResumeOrder(where=ANY, ids=ids), limit=2)
        assert (done.status, done.matched, done.changed, done.refused) == ("completed", 3, 1, 0)
        assert [(item.id, item.became) for item in done.items] == [
            (one.id, "unchanged"), (two.id, "changed"), (gone.id, "not_found"),
        ]  # fmt: skip
        done = await carry_out(trial, PauseOrder(where=ANY, ids=ids, reason="incident"), limit=1)
        assert (done.matched, done.changed) == (3, 2)
        assert (await trial.schedule(other)).enabled
        assert await trial.store.get_operation(done.id) == done
        assert (await trial.store.list_operations(limit=1)).items[0].items == (), "a list leaves them out"

    async def test_what_cannot_be_done_to_one_is_told_and_the_others_are_done(self, trial: Trial) -> None:
        one, two = await trial.put("one"), await trial.put("two")
        done = await carry_out(trial, PauseOrder(where=ANY, ids=(one.id, two.id), until=trial.clock.now() - 1))
        assert (done.changed, done.refused) == (0, 2)
        assert [item.became for item in done.items] == ["refused", "refused"]
        assert all("has gone by" in (item.detail or "") for item in done.items), done.items
        done = await carry_out(trial, PauseOrder(where=ScheduleFilter(tenant=""), until=trial.clock.now() - 1))
        assert [item.id for item in done.items] == [one.id, two.id], "of a filter, what was refused"
        done = await carry_out(trial, CancelOrder(where=ANY, ids=(one.id,)))
        assert [item.became for item in done.items] == ["changed"]

    async def test_each_is_triggered_once_as_if_it_were_alone(self, trial: Trial) -> None:
        idle, busy = await trial.put("idle"), await trial.put("busy", overlap=Overlap.SKIP)
        ended = await trial.cancel(await trial.put("ended"))
        running = (await trial.trigger(busy)).run
        done = await carry_out(trial, TriggerOrder(where=ScheduleFilter(tenant="")), limit=2)
        assert (done.matched, done.changed, done.refused) == (3, 1, 2)
        assert {item.id for item in done.items} == {busy.id, ended.id}
        run_id = bulk_run_id(done.id, idle.id, trial.clock.now())
        assert [run.id for run in await trial.runs(idle)] == [run_id]
        assert [run.id for run in await trial.runs(busy)] == [running.id]
        done = await carry_out(trial, TriggerOrder(where=ANY, ids=(busy.id,), force=True))
        assert (done.changed, len(await trial.runs(busy))) == (1, 2)

    async def test_schedules_that_match_are_counted_up_to_a_limit(self, trial: Trial) -> None:
        for n in range(7):
            await trial.put(f"etl{n}", tags=("etl",))
        await trial.put("other")
        count = trial.store.count_schedules
        keys = tuple(f"etl{n}" for n in range(5))
        assert await count(ScheduleFilter(tag="etl"), limit=7) == Matching(7, False, keys)
        assert await count(ScheduleFilter(tag="etl"), limit=6) == Matching(6, True, keys)
        assert await count(ScheduleFilter(tag="no"), limit=6) == Matching(0)


class TestPurgingSchedules:
    async def begin(
        self, trial: Trial, ref: str | Schedule, *, id: str | None = None, cancel_running: bool = False
    ) -> Operation:
        new = NewOperation(id=id or trial.id(), order=PurgeOrder(cancel_running=cancel_running), by="ann")
        ref = ref if isinstance(ref, str) else ref.id
        begun = await trial.store.begin_purge(ref, new, rules=trial.rules)
        assert begun is not None
        return begun

    async def test_nothing_is_left_of_it_and_all_of_the_others(self, trial: Trial, access: Access) -> None:
        other = await trial.put("other")
        put = await trial.put("gone", overlap=Overlap.ALLOW)
        worker = await trial.worker()
        for _ in range(3):
            trial.clock.move(minutes=1)
            await worker.beat()
            await trial.fire()
            for claim in await worker.claim():
                await worker.fail(claim, fatal=True)
        await trial.pause(put)
        operation = await self.begin(trial, put)
        assert (operation.kind, operation.status, operation.by) == ("purge", "running", "ann")
        assert await trial.store.get_schedule("gone") is None
        operation = await step(trial.store, operation, 2)
        assert (operation.changed, operation.finished) == (2, False)
        while not operation.finished:
            operation = await step(trial.store, operation, 2)
        dump = await access.dump()
        for table in ("schedules", "cursors", "revisions", "changes", "history"):
            assert put.id not in str(dump[table]), table
        assert len(await trial.runs(other)) == len(dump["attempts"]) == 3

    async def test_runs_that_are_open_are_waited_for(self, trial: Trial) -> None:
        put = await trial.put("gone", overlap=Overlap.ALLOW)
        waiting, running = await trial.trigger(put), await trial.trigger(put)
        worker = await trial.worker()
        (claim,) = await worker.claim(limit=1)
        operation = await self.begin(trial, "gone")
        assert [run.status for run in await trial.runs(put) if run.id != claim.id] == ["cancelled"]
        for _ in range(3):
            operation = await step(trial.store, operation)
        assert not operation.finished
        await worker.complete(claim)
        operation = await step(trial.store, await step(trial.store, operation))
        assert (operation.finished, operation.changed) == (True, 2)
        for run in (waiting.run, running.run):
            assert await trial.store.get_run(run.id) is None

    async def test_running_ones_can_be_told_to_stop(self, trial: Trial) -> None:
        put = await trial.put("gone")
        await trial.trigger(put)
        worker = await trial.worker()
        await worker.claim_one()
        await self.begin(trial, put, cancel_running=True)
        assert (await worker.beat()).held[0].cancel_requested

    async def test_one_that_was_deleted_before_is_found_and_twice_is_once(self, trial: Trial) -> None:
        put = await trial.put("gone", Every("1h"))
        await trial.delete(put)
        operation = await self.begin(trial, "gone")
        assert await self.begin(trial, "gone", id=operation.id) == operation
        assert (await step(trial.store, operation)).finished
        new = NewOperation(id=trial.id(), order=PurgeOrder(), by="ann")
        assert await trial.store.begin_purge(put.id, new, rules=trial.rules) is None
        await trial.put("gone")


class TestLookingBack:
    async def test_the_newest_outcomes_of_some_schedules_are_told_at_once(self, trial: Trial) -> None:
        busy, idle, other = [await trial.put(key, overlap=Overlap.ALLOW) for key in ("busy", "idle", "other")]
        worker = await trial.worker()
        for _ in range(3):
            await trial.trigger(busy)
            await worker.complete(await worker.claim_one())
            trial.clock.move(seconds=1)
        await trial.trigger(busy)
        await worker.fail(await worker.claim_one(), fatal=True)
        trial.clock.move(seconds=1)
        await trial.trigger(busy)
        await trial.trigger(other)
        told = await trial.store.recent_outcomes([busy.id, idle.id, trial.id()], each=3)
        assert told == {busy.id: Outcomes(("failed", "completed", "completed"), 1), idle.id: Outcomes()}
        mine = trial.store.seen_by(Whose("", "ann"))
        assert await mine.recent_outcomes([busy.id], each=3) == {}

    async def test_each_minute_is_counted_up_to_a_limit(self, trial: Trial) -> None:
        worker = await trial.worker()
        begun = trial.clock.now() // 60_000 * 60_000
        await trial.enqueue(max_attempts=1)
        await worker.fail(await worker.claim_one())
        trial.clock.move(minutes=2)
        for _ in range(3):
            await trial.enqueue()
        await worker.complete((await worker.claim())[0])
        told = await trial.store.count_minutes(since=begun, until=begun + 180_000, limit=9)
        assert told == [Minute(begun, 1, 0, 1), Minute(begun + 60_000, 0, 0, 0), Minute(begun + 120_000, 1, 2, 0)]
        few = await trial.store.count_minutes(since=begun + 120_000, until=begun + 180_000, limit=1)
        assert few == [Minute(begun + 120_000, 1, 1, 0)]

    async def test_how_late_windows_fired_is_told_of_the_newest(self, trial: Trial) -> None:
        await trial.put("often", Every("1m"))
        worker = await trial.worker()
        begun = trial.clock.now() // 60_000 * 60_000
        for late in (1500, 0):
            begun += 60_000
            trial.clock.move(milliseconds=begun + late - trial.clock.now())
            await trial.fire()
            await worker.complete(await worker.claim_one())
        await trial.enqueue()
        await worker.complete(await worker.claim_one())
        assert sorted(await trial.store.recent_lags(limit=10)) == [0, 1500]

    @pytest.mark.parametrize("limit", [1, 3])
    async def test_a_chosen_id_far_in_the_future_does_not_crowd_out_recent_lags(self, trial: Trial, limit: int) -> None:
        await trial.put("often", Every("1m"))
        worker = await trial.worker()
        due_at = trial.clock.now() // 60_000 * 60_000 + 60_000
        trial.clock.move(milliseconds=due_at + 1500 - trial.clock.now())
        await trial.fire()
        await worker.complete(await worker.claim_one())
        for ahead in (2 * DAY_MS, 3 * DAY_MS, 40_000 * DAY_MS):
            await trial.enqueue(id=uuid7(due_at + ahead, bytes(10)))
            await worker.complete(await worker.claim_one())
        assert await trial.store.recent_lags(limit=limit) == [1500]

    async def test_a_chosen_id_less_than_a_day_ahead_counts_towards_the_limit_of_recent_lags(
        self, trial: Trial
    ) -> None:
        await trial.put("often", Every("1m"))
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        await trial.fire()
        await worker.complete(await worker.claim_one())
        await trial.enqueue(id=uuid7(trial.clock.now() + DAY_MS // 2, bytes(10)))
        await worker.complete(await worker.claim_one())
        assert await trial.store.recent_lags(limit=1) == []
        assert len(await trial.store.recent_lags(limit=2)) == 1


class TestComing:
    @rule("S4.43")
    async def test_what_fires_next_comes_first_page_by_page(self, trial: Trial) -> None:
        await trial.put("hourly", Every("1h"), owner="ann")
        await trial.put("quarterly", Every("15m"), tenant="acme", owner="ann", payload="[1]")
        await trial.put("daily", Every("24h"), tenant="acme")
        await trial.pause(await trial.put("asleep", Every("1m")))
        first = await trial.store.list_upcoming(limit=2)
        rest = await trial.store.list_upcoming(limit=2, after=first.next_cursor)
        assert [s.key for s in [*first.items, *rest.items]] == ["quarterly", "hourly", "daily"]
        assert rest.next_cursor is None
        assert first.items[0].payload is None, "without payloads"

        async def keys(**words: str) -> list[str]:
            return [s.key for s in (await trial.store.list_upcoming(limit=9, **words)).items]

        assert await keys(tenant="acme") == ["quarterly", "daily"]
        assert await keys(owner="ann") == ["quarterly", "hourly"]
        assert await keys(owner="ann", tenant="") == ["hourly"]

    async def test_next_fires_are_counted_by_time_and_some_are_looked_at(self, trial: Trial) -> None:
        for number in range(3):
            await trial.put(f"quarterly{number}", Every("15m"), owner="ann")
        await trial.put("hourly", Every("1h"), tenant="acme")
        await trial.put("yearly", Every("365d"))
        await trial.pause(await trial.put("asleep", Every("1m")))
        minutes: dict[str, Any] = {"steps": 90, "step_ms": 60_000}
        ahead = await trial.store.look_ahead(**minutes, limit=1000, most=10)
        assert sum(ahead.counted) == 4
        assert sorted(count for count in ahead.counted if count) == [1, 3]
        assert ahead.whole
        assert [stratum.count for stratum in ahead.strata] == [4]
        looked_at = {schedule.key for stratum in ahead.strata for schedule in stratum.sample}
        assert looked_at == {"quarterly0", "quarterly1", "quarterly2", "hourly"}

        few = await trial.store.look_ahead(**minutes, limit=2, most=10)
        assert (sum(few.counted), few.whole) == (2, False)
        assert sum((await trial.store.look_ahead(**minutes, limit=9, most=9, owner="ann")).counted) == 3
        assert sum((await trial.store.look_ahead(**minutes, limit=9, most=9, tenant="acme")).counted) == 1

    async def test_what_is_overdue_counts_as_firing_now(self, trial: Trial) -> None:
        await trial.put("late", Every("1m"))
        trial.clock.move(minutes=10)
        ahead = await trial.store.look_ahead(steps=5, step_ms=60_000, limit=10, most=10)
        assert ahead.counted == (1, 0, 0, 0, 0)
        assert [schedule.key for schedule in ahead.strata[0].sample] == ["late"]
