"""Many schedules at once: in batches, never one twice, by whoever goes on with it."""

from __future__ import annotations

import pytest

from duly.core.instants import to_datetime
from duly.core.operation import Became, Operation
from duly.core.policy import Overlap
from duly.core.timing import Every
from duly.store.orders import CancelOrder, DeleteOrder, NewOperation, Order, PauseOrder, ResumeOrder
from duly.store.protocol import Store
from duly.store.values import ScheduleFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial

TAGGED = ScheduleFilter(tag="etl")


async def begin(trial: Trial, order: Order, id: str | None = None) -> Operation:
    return await trial.store.put_operation(NewOperation(id=id or trial.id(), order=order, by="ann"))


async def step(store: Store, operation: Operation, limit: int = 100) -> Operation:
    moved = await store.step_operation(operation.id, limit=limit)
    assert moved is not None
    return moved


async def carry_out(trial: Trial, order: Order, limit: int = 100) -> Operation:
    operation = await begin(trial, order)
    while not operation.finished:
        operation = await step(trial.store, operation, limit)
    return operation


class TestBulk:
    async def test_a_pause_by_filter_touches_only_what_matches(self, trial: Trial) -> None:
        tagged = [await trial.put(f"etl{n}", tags=("etl",)) for n in range(5)]
        other = await trial.put("other")
        done = await carry_out(trial, PauseOrder(where=TAGGED, reason="incident"), limit=2)
        assert (done.status, done.matched, done.changed, done.refused) == ("completed", 5, 5, 0)
        for schedule in tagged:
            found = await trial.schedule(schedule)
            assert (found.enabled, found.paused_reason, found.cursor.fire_at) == (False, "incident", None)
        assert (await trial.schedule(other)).enabled
        trial.clock.move(minutes=1)
        assert (await trial.fire()).runs == 1

    async def test_what_was_named_and_is_nobodys_is_told_of_whoever_asks_when(self, trial: Trial) -> None:
        put = await trial.put()
        order = PauseOrder(where=ScheduleFilter(), ids=(put.id,))
        new = NewOperation(id=trial.id(), order=order, missing=("nobody",))
        await trial.store.put_operation(new)
        done = await trial.store.step_operation(new.id, limit=10, rules=trial.rules)
        assert done is not None
        told = {item.id: item.became for item in done.items}
        assert told == {"nobody": Became.NOT_FOUND, put.id: Became.CHANGED}
        assert await trial.store.get_operation(new.id) == done

    async def test_each_schedule_says_in_its_trail_who_paused_it(self, trial: Trial) -> None:
        put = await trial.put(tags=("etl",))
        await carry_out(trial, PauseOrder(where=TAGGED, reason="incident"))
        page = await trial.store.list_changes(put.id, limit=10)
        assert page is not None
        assert (page.items[0].action, page.items[0].by) == ("pause", "ann")

    async def test_what_is_paused_already_keeps_its_reason(self, trial: Trial) -> None:
        asleep, awake = await trial.put("asleep", tags=("etl",)), await trial.put("awake", tags=("etl",))
        await trial.pause(asleep)
        done = await carry_out(trial, PauseOrder(where=TAGGED, reason="incident"))
        assert (done.matched, done.changed) == (2, 1)
        assert (await trial.schedule(asleep)).paused_reason == "on leave"
        done = await carry_out(trial, ResumeOrder(where=TAGGED, reason="incident"))
        assert (done.matched, done.changed) == (2, 1)
        assert (await trial.schedule(awake)).enabled
        assert not (await trial.schedule(asleep)).enabled

    async def test_a_pause_with_an_end_ends_by_itself(self, trial: Trial) -> None:
        put = await trial.put(tags=("etl",))
        await carry_out(trial, PauseOrder(where=TAGGED, until=trial.clock.now() + 1000))
        trial.clock.move(seconds=1)
        assert await trial.store.resume_expired_pauses(limit=10) == 1
        assert (await trial.schedule(put)).enabled

    @pytest.mark.parametrize(
        "order",
        [ResumeOrder(where=TAGGED), CancelOrder(where=TAGGED), DeleteOrder(where=TAGGED)],
        ids=["resume", "cancel", "delete"],
    )
    async def test_what_came_since_the_end_of_a_pause_that_nobody_noticed_is_not_lost(
        self, trial: Trial, order: ResumeOrder | CancelOrder | DeleteOrder
    ) -> None:
        put = await trial.put(tags=("etl",))
        await trial.pause(put, until=trial.clock.now() + 150_000)
        trial.clock.move(minutes=4)
        await carry_out(trial, order)
        await trial.fire()
        told = sorted(at for run in await trial.runs(put) for at in (run.since, run.window_at) if at is not None)
        assert (told[0], told[-1]) == (
            to_datetime(put.facts.created_at + 180_000),
            to_datetime(put.facts.created_at + 240_000),
        )

    @pytest.mark.parametrize("named", [False, True])
    async def test_a_pause_holds_also_where_nobody_noticed_that_an_older_one_is_over(
        self, trial: Trial, named: bool
    ) -> None:
        over, holds, awake = [await trial.put(key, tags=("etl",)) for key in ("over", "holds", "awake")]
        await trial.pause(over, until=trial.clock.now() + 150_000)
        await trial.pause(holds, until=trial.clock.now() + 600_000)
        trial.clock.move(minutes=4)
        ids = (over.id, holds.id, awake.id) if named else None
        done = await carry_out(trial, PauseOrder(where=TAGGED, ids=ids, reason="incident"))
        assert (done.matched, done.changed, done.refused) == (3, 2, 0)
        assert await trial.store.resume_expired_pauses(limit=10) == 0
        assert [(await trial.schedule(one)).paused_reason for one in (over, holds, awake)] == [
            "incident",
            "on leave",
            "incident",
        ]
        await trial.resume(over)
        (skipped,) = await trial.runs(over)
        assert (skipped.reason, skipped.since, skipped.window_at) == (
            "paused",
            to_datetime(over.facts.created_at + 180_000),
            to_datetime(over.facts.created_at + 240_000),
        )

    async def test_a_resume_with_catch_up_makes_paused_windows_missed_ones(self, trial: Trial) -> None:
        await trial.put(tags=("etl",))
        await carry_out(trial, PauseOrder(where=TAGGED))
        trial.clock.move(minutes=5)
        await carry_out(trial, ResumeOrder(where=TAGGED, catch_up=True))
        assert (await trial.fire()).runs == 1

    @rule("I9")
    async def test_a_cancel_ends_what_waits_and_gives_what_runs_no_further_attempt(self, trial: Trial) -> None:
        puts = [await trial.put(f"etl{n}", tags=("etl",), overlap=Overlap.QUEUE) for n in range(3)]
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        (claim,) = await worker.claim(1)
        done = await carry_out(trial, CancelOrder(where=TAGGED), limit=2)
        assert (done.matched, done.changed) == (3, 3)
        assert sorted([*(await trial.statuses(puts[0])), *(await trial.statuses(puts[1])),
                       *(await trial.statuses(puts[2]))]) == ["cancelled", "cancelled", "running"]  # fmt: skip
        assert (await worker.fail(claim)).ended == {claim.id: "failed"}
        assert (await carry_out(trial, CancelOrder(where=TAGGED))).changed == 0

    async def test_a_delete_frees_the_keys_and_may_stop_what_runs(self, trial: Trial) -> None:
        put = await trial.put("etl", tags=("etl",))
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await carry_out(trial, DeleteOrder(where=TAGGED, cancel_running=True))
        assert await trial.store.get_schedule(put.id) is None
        assert (await trial.put("etl")).id != put.id
        assert (await worker.complete(claim)).ended == {claim.id: "cancelled"}

    async def test_what_cannot_be_changed_is_refused_and_does_not_stop_the_others(
        self, trial: Trial, access: Access
    ) -> None:
        broken, sound = await trial.put("broken", tags=("etl",)), await trial.put("sound", tags=("etl",))
        await access.damage(broken.id)
        done = await carry_out(trial, CancelOrder(where=TAGGED))
        assert (done.matched, done.changed, done.refused) == (2, 1, 1)
        assert (await trial.schedule(sound)).status == "cancelled"

    async def test_what_is_created_after_it_began_is_left_alone(self, trial: Trial) -> None:
        await trial.put("old", tags=("etl",))
        operation = await begin(trial, PauseOrder(where=TAGGED))
        trial.clock.move(seconds=1)
        new = await trial.put("new", tags=("etl",))
        done = await step(trial.store, operation)
        assert (done.matched, done.changed) == (1, 1)
        assert (await trial.schedule(new)).enabled


class TestOperations:
    async def test_asking_twice_with_one_id_makes_one_operation(self, trial: Trial) -> None:
        await trial.put(tags=("etl",))
        first = await carry_out(trial, PauseOrder(where=TAGGED, reason="incident"))
        again = await begin(trial, PauseOrder(where=TAGGED, reason="another"), id=first.id)
        assert again == first
        assert again.arguments["reason"] == "incident"

    async def test_another_instance_goes_on_where_the_first_one_stopped(self, trial: Trial, access: Access) -> None:
        for n in range(5):
            await trial.put(f"etl{n}", timing=Every(minutes=1), tags=("etl",))
        operation = await begin(trial, PauseOrder(where=TAGGED))
        await step(trial.store, operation, limit=2)
        trial.clock.move(seconds=16)
        other = await access.another()
        assert list(await other.waiting_operations(untouched_ms=15_000, limit=10)) == [operation.id]
        done = await step(other, operation)
        assert (done.finished, done.matched, done.changed) == (True, 5, 5)
        assert list(await other.waiting_operations(untouched_ms=0, limit=10)) == []

    async def test_a_step_that_is_cut_off_changes_nothing_and_can_be_made_again(
        self, trial: Trial, access: Access
    ) -> None:
        for n in range(2):
            await trial.put(f"etl{n}", tags=("etl",))
        operation = await begin(trial, PauseOrder(where=TAGGED))
        before = await access.dump()
        for statements in range(2, 30):
            if not await access.crash_after(statements, lambda store: step(store, operation)):
                break
            assert await access.dump() == before
        done = await step(trial.store, operation)
        assert (done.finished, done.matched, done.changed) == (True, 2, 2)

    async def test_operations_are_listed_newest_first_and_forgotten_in_time(self, trial: Trial) -> None:
        old = await carry_out(trial, CancelOrder(where=TAGGED))
        trial.clock.move(seconds=1)
        new = await begin(trial, CancelOrder(where=TAGGED))
        page = await trial.store.list_operations(limit=1)
        assert ([item.id for item in page.items], page.next_cursor) == ([new.id], new.id)
        page = await trial.store.list_operations(limit=1, after=page.next_cursor)
        assert ([item.id for item in page.items], page.next_cursor) == ([old.id], None)
        assert await trial.store.purge_operations(finished_before=trial.clock.now(), limit=10) == 1
        assert await trial.store.get_operation(old.id) is None
        assert (await trial.store.get_operation(new.id)) == new
        assert await trial.store.step_operation(old.id, limit=10) is None
