"""The fleet's switch: nothing fires, nothing is lost, and an operator says how it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duly.core.operation import Operation
from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.switch import Backlog, FiringState
from duly.core.timing import Cron, Every, Once
from duly.store.orders import NewOperation, PauseAllOrder, ResumeAllOrder
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


async def pause(trial: Trial, reason: str = "incident", id: str | None = None) -> FiringState:
    new = NewOperation(id=id or trial.id(), order=PauseAllOrder(reason=reason), by="ann")
    return await trial.store.pause_firing(new)


async def begin(trial: Trial, backlog: Backlog, id: str | None = None) -> Operation:
    new = NewOperation(id=id or trial.id(), order=ResumeAllOrder(backlog=backlog), by="bob")
    return await trial.store.resume_firing(new)


async def resume(trial: Trial, backlog: Backlog, limit: int = 100) -> Operation:
    operation = await begin(trial, backlog)
    while not operation.finished:
        moved = await trial.store.step_operation(operation.id, limit=limit)
        assert moved is not None
        operation = moved
    return operation


class TestSwitch:
    async def test_it_says_who_stopped_it_why_and_since_when(self, trial: Trial) -> None:
        state = await trial.store.firing_state()
        assert (state.paused, state.epoch) == (False, 1)
        paused = await pause(trial)
        assert (paused.paused, paused.by, paused.reason) == (True, "ann", "incident")
        since = paused.paused_at
        trial.clock.move(seconds=1)
        again = await pause(trial, "still")
        assert (again.paused_at, again.reason) == (since, "still")
        assert await trial.store.firing_state() == again

    async def test_nothing_fires_on_any_instance_while_it_is_off(self, trial: Trial, access: Access) -> None:
        put = await trial.put()
        await pause(trial)
        trial.clock.move(minutes=5)
        for store in (trial.store, await access.another()):
            fired = await store.fire_due(limit=100, rules=trial.rules)
            assert (fired.windows, fired.next_fire_at) == (0, None)
        assert await trial.runs(put) == []

    async def test_triggers_and_edits_work_and_runs_go_on(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        await pause(trial)
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        await trial.trigger(put)
        trial.clock.move(minutes=1)
        await trial.edit(put, definition=replace(put.definition, priority=5))
        assert sorted(await trial.statuses(put)) == ["completed", "pending"]
        await resume(trial, Backlog.FIRE)
        assert (await trial.fire()).windows == 1

    async def test_every_turn_of_it_is_an_operation(self, trial: Trial) -> None:
        await pause(trial)
        trial.clock.move(seconds=1)
        await resume(trial, Backlog.FIRE)
        page = await trial.store.list_operations(limit=10)
        assert [(o.kind, o.by, o.status) for o in page.items] == [
            ("resume_all", "bob", "completed"),
            ("pause_all", "ann", "completed"),
        ]

    async def test_a_repeated_call_changes_nothing(self, trial: Trial) -> None:
        id = trial.id()
        await pause(trial, id=id)
        await resume(trial, Backlog.FIRE)
        assert not (await pause(trial, id=id)).paused
        await pause(trial)
        done = await begin(trial, Backlog.FIRE)
        await pause(trial)
        assert await begin(trial, Backlog.FIRE, id=done.id) == done
        assert (await trial.store.firing_state()).paused


class TestResumingAll:
    async def test_fire_lets_the_catch_up_policy_of_each_decide(self, trial: Trial) -> None:
        latest = await trial.put("latest", catch_up=CatchUp(Missed.LATEST), overlap=Overlap.ALLOW)
        skipping = await trial.put("skipping", catch_up=CatchUp(Missed.SKIP))
        await pause(trial)
        trial.clock.move(minutes=5, seconds=30)
        done = await resume(trial, Backlog.FIRE)
        assert (done.status, done.matched) == ("completed", 0)
        assert not (await trial.store.firing_state()).paused
        await trial.fire()
        assert await trial.statuses(latest) == ["skipped", "pending"]
        assert await trial.statuses(skipping) == ["skipped"]

    async def test_skip_fires_none_of_them_and_writes_them_down(self, trial: Trial) -> None:
        put = await trial.put(catch_up=CatchUp(Missed.ALL))
        await pause(trial)
        trial.clock.move(minutes=5, seconds=5)
        done = await resume(trial, Backlog.SKIP)
        assert (done.matched, done.changed) == (1, 0)
        (skipped,) = await trial.runs(put)
        assert (skipped.status, skipped.reason, skipped.window_count) == ("skipped", "missed", 5)
        assert (await trial.fire()).windows == 0
        trial.clock.move(seconds=55)
        assert (await trial.fire()).runs == 1

    async def test_latest_fires_the_newest_of_each_whatever_its_policy(self, trial: Trial) -> None:
        skipping = await trial.put("skipping", catch_up=CatchUp(Missed.SKIP))
        everything = await trial.put("everything", catch_up=CatchUp(Missed.ALL))
        await pause(trial)
        trial.clock.move(minutes=5)
        newest = trial.clock.now()
        trial.clock.move(days=3)
        newest = trial.clock.now()
        done = await resume(trial, Backlog.LATEST)
        assert (done.matched, done.changed) == (2, 2)
        for put in (skipping, everything):
            skipped, run = await trial.runs(put)
            assert (skipped.status, run.status) == ("skipped", "pending")
            assert run.scheduled_at.timestamp() * 1000 == newest
        assert (await trial.fire()).windows == 0

    async def test_it_goes_in_steps_and_fires_only_when_all_of_them_are_made(self, trial: Trial) -> None:
        for n in range(5):
            await trial.put(f"s{n}")
        await pause(trial)
        trial.clock.move(minutes=2)
        operation = await begin(trial, Backlog.SKIP)
        for matched in (2, 4, 5):
            moved = await trial.store.step_operation(operation.id, limit=2)
            assert moved is not None
            assert (moved.matched, moved.finished) == (matched, False)
            assert (await trial.store.firing_state()).paused
        moved = await trial.store.step_operation(operation.id, limit=2)
        assert moved is not None
        assert moved.finished
        assert not (await trial.store.firing_state()).paused

    async def test_windows_after_the_choice_are_not_part_of_it(self, trial: Trial) -> None:
        put = await trial.put()
        await pause(trial)
        trial.clock.move(minutes=2)
        operation = await begin(trial, Backlog.SKIP)
        trial.clock.move(minutes=1)
        for _ in range(2):
            await trial.store.step_operation(operation.id, limit=10)
        assert (await trial.fire()).runs == 1
        assert await trial.statuses(put) == ["skipped", "pending"]

    async def test_a_one_shot_that_is_skipped_has_failed(self, trial: Trial) -> None:
        put = await trial.put(timing=Once("2026-01-05T00:00:10Z"))
        await pause(trial)
        trial.clock.move(minutes=1)
        await resume(trial, Backlog.SKIP)
        assert (await trial.schedule(put)).status == "failed"
        assert await trial.statuses(put) == ["skipped"]

    async def test_a_one_shot_that_may_be_late_is_skipped_too(self, trial: Trial) -> None:
        put = await trial.put(timing=Once("2026-01-04T00:00:10Z", on_past="fire"))
        await pause(trial)
        trial.clock.move(minutes=1)
        await resume(trial, Backlog.SKIP)
        assert await trial.statuses(put) == ["skipped"]

    async def test_paused_schedules_are_left_alone(self, trial: Trial) -> None:
        put = await trial.put(timing=Cron("* * * * *"))
        await trial.pause(put)
        await pause(trial)
        trial.clock.move(minutes=2)
        assert (await resume(trial, Backlog.SKIP)).matched == 0
        assert await trial.runs(put) == []

    async def test_a_broken_schedule_does_not_hold_up_the_others(self, trial: Trial, access: Access) -> None:
        broken, sound = await trial.put("broken"), await trial.put("sound", timing=Every(minutes=1))
        await pause(trial)
        trial.clock.move(minutes=2)
        await access.damage(broken.id)
        elsewhere = Trial(await access.another(), trial.clock)  # one that has not read it before
        assert (await resume(elsewhere, Backlog.LATEST)).changed == 1
        assert await trial.statuses(sound) == ["skipped", "pending"]

    async def test_another_pause_overtakes_it(self, trial: Trial) -> None:
        await trial.put()
        await pause(trial)
        trial.clock.move(minutes=2)
        operation = await begin(trial, Backlog.SKIP)
        await pause(trial, "not yet")
        moved = await trial.store.step_operation(operation.id, limit=10)
        assert moved is not None
        assert moved.status == "failed"
        assert (await trial.store.firing_state()).paused

    async def test_without_a_pause_there_is_nothing_to_do(self, trial: Trial) -> None:
        await trial.put()
        trial.clock.move(minutes=2)
        assert (await begin(trial, Backlog.SKIP)).finished
        assert (await trial.fire()).runs == 1


class TestRestores:
    async def test_a_restored_store_fires_nothing_until_an_operator_has_chosen(self, trial: Trial) -> None:
        await trial.put()
        state = await trial.store.mark_restored(epoch=1, reason="from last night", by="ann")
        assert (state.epoch, state.paused, state.restored_at) == (2, True, state.paused_at)
        trial.clock.move(minutes=2)
        assert (await trial.fire()).windows == 0
        await resume(trial, Backlog.LATEST)
        state = await trial.store.firing_state()
        assert (state.epoch, state.paused, state.restored_at) == (2, False, None)

    async def test_two_who_notice_it_raise_the_epoch_once(self, trial: Trial, access: Access) -> None:
        other = await access.another()
        await trial.store.mark_restored(epoch=1, reason="one", by="duly")
        state = await other.mark_restored(epoch=1, reason="two", by="duly")
        assert (state.epoch, state.reason) == (2, "one")
        assert len((await trial.store.list_operations(limit=10)).items) == 1

    async def test_ticks_grow_while_somebody_keeps_the_house(self, trial: Trial) -> None:
        before = (await trial.store.firing_state()).ticks
        assert await trial.store.take_lease("janitor", 1, lease_ms=1000) is not None
        assert await trial.store.take_lease("janitor", 2, lease_ms=1000) is None
        assert await trial.store.take_lease("janitor", 1, lease_ms=1000) is not None
        assert (await trial.store.firing_state()).ticks == before + 2

    @pytest.mark.parametrize("seen", [3])
    async def test_who_has_seen_more_ticks_than_there_are_marks_it(self, trial: Trial, seen: int) -> None:
        state = await trial.store.notice_restore(await trial.store.firing_state(), seen)
        assert (state.epoch, state.by) == (2, "duly")
        assert "tick 0, and tick 3 has been seen" in (state.reason or "")
