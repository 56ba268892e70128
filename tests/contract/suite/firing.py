"""The fire: every window of an enabled schedule becomes one run, or one row that says why not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from duly.core.errors import StoreUnavailable
from duly.core.ids import window_run_id
from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.rules import editing
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Every, Jitter, Once
from duly.store.values import RunFilter
from duly.testing.clock import ManualClock
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestFiring:
    @rule("S1.3", "S3.28", "S3.44", "S4.32")
    async def test_a_due_window_becomes_one_run_with_its_own_id(self, trial: Trial) -> None:
        put = await trial.put(queue="slow", priority=3, timeout_ms=5000)
        trial.clock.move(minutes=1, milliseconds=20)
        fired = await trial.fire()
        assert (fired.windows, fired.runs, fired.skipped, fired.duplicates) == (1, 1, 0, 0)
        assert list(fired.lateness_ms) == [20]
        assert fired.next_fire_at == trial.clock.now() - 20 + 60_000
        (run,) = await trial.runs(put)
        assert run.id == window_run_id(put.id, put.cursor.next_window_at or 0)
        assert (run.status, run.kind, run.queue, run.priority, run.attempt) == ("pending", "window", "slow", 3, 0)
        after = await trial.schedule(put)
        assert after.status is ScheduleStatus.ACTIVE
        assert after.cursor.window_at == put.cursor.next_window_at
        assert (after.cursor.fired, after.cursor.last_fired_at) == (1, trial.clock.now())
        assert after.facts == put.facts

    async def test_nothing_due_fires_nothing_and_says_when(self, trial: Trial) -> None:
        fired = await trial.fire()
        assert (fired.windows, fired.next_fire_at, fired.more) == (0, None, False)
        put = await trial.put()
        trial.clock.move(milliseconds=59_999)
        fired = await trial.fire()
        assert (fired.windows, fired.next_fire_at, fired.more) == (0, put.cursor.fire_at, False)

    async def test_fifty_ticks_inside_a_window_fire_it_once(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        for _ in range(50):
            await trial.fire()
            trial.clock.move(seconds=1)
        assert len(await trial.runs(put)) == 1
        await (worker := await trial.worker()).complete(await worker.claim_one())
        trial.clock.move(seconds=10)
        assert (await trial.fire()).runs == 1

    @rule("S3.9", "S3.47", "A1")
    async def test_two_instances_that_tick_at_once_fire_a_window_once(self, trial: Trial, access: Access) -> None:
        stores = [trial.store, await access.another()]
        puts = [await trial.put(f"s{n}", overlap=Overlap.ALLOW) for n in range(5)]
        for _ in range(3):
            trial.clock.move(minutes=1)
            fired = await asyncio.gather(*(store.fire_due(limit=500, rules=trial.rules) for store in stores))
            assert sum(answer.runs for answer in fired) == 5
            assert not any(answer.duplicates or answer.set_aside for answer in fired)
        for put in puts:
            assert len(await trial.runs(put)) == 3

    @rule("S3.3", "A13")
    async def test_instances_whose_clocks_differ_fire_each_window_once(self, trial: Trial, access: Access) -> None:
        skewed = [ManualClock(trial.clock.now() + ms) for ms in (-2000, 2000)]
        stores = [trial.store, *[await access.another(clock) for clock in skewed]]
        put = await trial.put(timing=Every(seconds=1), overlap=Overlap.ALLOW)
        for _ in range(40):
            for clock in (trial.clock, *skewed):
                clock.move(milliseconds=250)
            for store in stores:
                await store.fire_due(limit=500, rules=trial.rules)
        windows = [run.window_at for run in await trial.runs(put)]
        assert len(windows) == len(set(windows))
        seconds = [window.timestamp() for window in windows if window is not None]
        assert seconds == [seconds[0] + n for n in range(len(seconds))]
        assert len(seconds) >= 10

    @rule("S3.46", "A9")
    async def test_a_window_whose_run_was_purged_is_not_fired_again(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        await worker.complete(await worker.claim_one())
        trial.clock.move(seconds=10)
        assert await trial.store.purge_history(finished_before=trial.clock.now(), limit=10) == 1
        assert (await trial.fire()).windows == 0
        assert await trial.runs(put) == []

    @rule("A10")
    async def test_a_changed_interval_loses_and_doubles_no_window(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(seconds=1), overlap=Overlap.ALLOW)
        expected: list[int] = []
        start = trial.clock.now()
        for every in (1, 2, 1):
            await trial.edit(put, definition=replace(put.definition, timing=Every(seconds=every)))
            for _ in range(4):
                trial.clock.move(seconds=1)
                await trial.fire()
                second = (trial.clock.now() - start) // 1000
                if second % every == 0:
                    expected.append(second)
        fired = [run.window_at for run in await trial.runs(put)]
        assert [round(window.timestamp()) - start // 1000 for window in fired if window] == expected

    @rule("A12")
    async def test_a_schedule_resumed_under_a_lagging_clock_moves_on(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW)
        for _ in range(3):
            trial.clock.move(minutes=1)
            await trial.fire()
        trial.clock.jump(seconds=-150)
        await trial.pause(put)
        await trial.resume(put)
        for _ in range(6):
            trial.clock.move(minutes=1)
            fired = await trial.fire()
            assert not fired.set_aside
        windows = [run.window_at for run in await trial.runs(put)]
        assert [window.minute for window in windows if window] == [1, 2, 3, 4, 5, 6]

    @rule("A7")
    async def test_a_broken_schedule_is_set_aside_and_the_others_fire(self, trial: Trial, access: Access) -> None:
        before = await trial.put("before")
        broken = await trial.put("broken")
        behind = await trial.put("behind")
        await access.damage(broken.id)
        # An instance that has never seen these schedules: the one that made them may remember what they said.
        fresh = await access.another()
        trial.clock.move(minutes=1)
        fired = await fresh.fire_due(limit=500, rules=trial.rules)
        assert fired.runs == 2
        (aside,) = fired.set_aside
        assert aside.schedule_id == broken.id
        assert aside.error
        assert len(await trial.runs(before)) == len(await trial.runs(behind)) == 1
        # It is due again soon, for an instance that can read it, and in the meantime nobody stumbles over it.
        assert not (await fresh.fire_due(limit=500, rules=trial.rules)).set_aside
        trial.clock.move(seconds=1)
        assert (await fresh.fire_due(limit=500, rules=trial.rules)).set_aside
        coming = await trial.store.list_upcoming(limit=9)
        assert {schedule.key for schedule in coming.items} == {"before", "behind"}

    async def test_windows_that_were_due_before_a_new_revision_fire_under_the_old_one(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.ALLOW)
        trial.clock.move(minutes=1, seconds=1)
        edited = await trial.edit(put, definition=replace(put.definition, timing=Every("1h")))
        (run,) = await trial.runs(put)
        assert run.revision == 1
        assert run.window_at is not None
        assert run.window_at.minute == 1
        assert edited.revision == 2
        assert edited.next_window_at is not None
        assert edited.next_window_at.minute == 0
        assert (await trial.fire()).runs == 0

    async def test_however_many_windows_are_due_an_edit_fires_them_first(self, trial: Trial, access: Access) -> None:
        catch_up = CatchUp(Missed.ALL, max_runs=10_000)
        put = await trial.put(timing=Every(seconds=1), catch_up=catch_up, overlap=Overlap.ALLOW)
        trial.clock.move(seconds=2345)
        edited = await trial.edit(put, definition=replace(put.definition, timing=Every("1h")))
        assert (edited.revision, edited.cursor.fired) == (2, 2345)
        rows = (await access.dump())["runs"]
        assert (len(rows), {row[2] for row in rows}) == (2345, {1})

    async def test_while_all_firing_is_stopped_an_edit_fires_nothing_and_loses_nothing(
        self, trial: Trial, access: Access
    ) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await access.stop_firing(trial.clock.now())
        await trial.edit(put, definition=replace(put.definition, payload='"corrected"'))
        assert await trial.runs(put) == []
        assert (await trial.fire()).windows == 0
        await access.stop_firing(None)
        await trial.fire()
        (run,) = await trial.runs(put)
        assert (run.status, run.revision) == ("pending", 2)

    async def test_while_all_firing_is_stopped_a_new_timing_skips_what_is_due(
        self, trial: Trial, access: Access
    ) -> None:
        put = await trial.put()
        trial.clock.move(minutes=3)
        await access.stop_firing(trial.clock.now())
        await trial.edit(put, definition=replace(put.definition, timing=Every("1h")))
        (row,) = await trial.runs(put)
        assert (row.status, row.reason, row.window_count, row.revision) == ("skipped", "missed", 3, 1)

    async def test_no_revision_is_made_when_the_store_s_clock_has_leapt(self, trial: Trial, access: Access) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        now = trial.clock.now()
        before = await access.dump()
        edit = partial(editing.edit, definition=replace(put.definition, payload="1"), by="ann")
        for expected in ((now - 5000, now - 1), (now + 1, now + 5000)):
            with pytest.raises(StoreUnavailable, match="leapt"):
                await trial.store.change_schedule(put.id, edit, expected=expected)
        assert await access.dump() == before
        edited = await trial.store.change_schedule(put.id, edit, expected=(now - 1, now + 1))
        assert edited is not None
        assert edited.revision == 2
        rest = partial(editing.pause, reason="the clock is mad", by="ann")
        paused = await trial.store.change_schedule(put.id, rest, expected=(now + 1, now + 2))
        assert paused is not None
        assert not paused.enabled, "what stops a schedule is never refused"

    async def test_nothing_fires_when_the_store_s_clock_has_leapt(self, trial: Trial, access: Access) -> None:
        await trial.put()
        trial.clock.move(minutes=1)
        now = trial.clock.now()
        before = await access.dump()
        for expected in ((now - 5000, now - 1), (now + 1, now + 5000)):
            fired = await trial.store.fire_due(limit=10, rules=trial.rules, expected=expected)
            assert (fired.windows, fired.now) == (0, now)
            assert await access.dump() == before
        fired = await trial.store.fire_due(limit=10, rules=trial.rules, expected=(now, now))
        assert fired.runs == 1

    @rule("S4.28", "A8")
    @pytest.mark.parametrize("verb", ["pause", "cancel", "delete"])
    async def test_a_schedule_that_another_instance_stopped_does_not_fire(
        self, trial: Trial, access: Access, verb: str
    ) -> None:
        put = await trial.put()
        other = Trial(await access.another(), trial.clock)
        trial.clock.move(minutes=1)
        await getattr(other, verb)(put)
        assert (await trial.fire()).windows == 0
        assert set(await trial.statuses(put)) <= {"skipped"}

    @rule("S3.42")
    async def test_a_limit_counts_windows_and_the_rest_stays_due(self, trial: Trial) -> None:
        puts = [await trial.put(f"s{n}") for n in range(5)]
        trial.clock.move(minutes=1)
        assert [((await trial.fire(limit=2)).runs) for _ in range(4)] == [2, 2, 1, 0]
        assert [len(await trial.runs(put)) for put in puts] == [1] * 5

    @rule("S3.42")
    async def test_what_has_waited_longest_fires_first(self, trial: Trial) -> None:
        for second in (40, 10, 30, 20):
            await trial.put(f"s{second}", Once(f"2026-01-05T00:00:{second}Z"))
        trial.clock.move(minutes=1)
        order: list[str] = []
        seen: set[str] = set()
        for _ in range(4):
            assert (await trial.fire(limit=1)).runs == 1
            fired = (await trial.store.list_runs(RunFilter(), limit=10)).items
            order += [str(run.window_key).split(":")[1] for run in fired if run.id not in seen]
            seen |= {run.id for run in fired}
        assert order == ["s10", "s20", "s30", "s40"]

    @rule("S3.42")
    async def test_a_full_batch_says_that_there_may_be_more(self, trial: Trial) -> None:
        for n in range(3):
            await trial.put(f"s{n}")
        trial.clock.move(minutes=1)
        assert (await trial.fire(limit=2)).more
        assert not (await trial.fire(limit=2)).more

    async def test_every_tenant_s_first_schedule_goes_before_anyone_s_second(self, trial: Trial) -> None:
        for n in range(3):
            await trial.put(f"s{n}", tenant="busy")
        lonely = await trial.put(tenant="lonely")
        trial.clock.move(minutes=1)
        await trial.fire(limit=2)
        assert len(await trial.runs(lonely)) == 1

    @rule("S4.26")
    async def test_jitter_moves_the_fire_and_not_the_window(self, trial: Trial) -> None:
        put = await trial.put(jitter=Jitter(10_000, 20_000))
        window, fire_at = put.cursor.next_window_at, put.cursor.fire_at
        assert window is not None
        assert fire_at is not None
        assert 10_000 <= fire_at - window < 20_000
        trial.clock.move_to(fire_at - 1)
        assert (await trial.fire()).windows == 0
        trial.clock.move(milliseconds=1)
        assert (await trial.fire()).runs == 1
        (run,) = await trial.runs(put)
        assert run.id == window_run_id(put.id, window)

    async def test_a_schedule_ends_after_its_last_run(self, trial: Trial) -> None:
        put = await trial.put(max_runs=2, overlap=Overlap.ALLOW)
        for _ in range(4):
            trial.clock.move(minutes=1)
            await trial.fire()
        assert len(await trial.runs(put)) == 2
        assert (await trial.schedule(put)).status is ScheduleStatus.COMPLETED

    async def test_a_schedule_ends_at_its_end(self, trial: Trial) -> None:
        put = await trial.put(end_at=trial.clock.now() + 150_000, overlap=Overlap.ALLOW)
        for _ in range(4):
            trial.clock.move(minutes=1)
            await trial.fire()
        assert len(await trial.runs(put)) == 2
        assert (await trial.schedule(put)).status is ScheduleStatus.COMPLETED

    @rule("S4.13")
    async def test_a_one_shot_fires_once(self, trial: Trial) -> None:
        put = await trial.put("soon", Once("2026-01-05T00:00:10Z"))
        trial.clock.move(hours=1)
        assert (await trial.fire()).runs == 1
        assert (await trial.fire()).windows == 0
        assert (await trial.schedule(put)).cursor.fire_at is None

    @rule("S4.14", "C7")
    async def test_a_one_shot_in_the_past_fires_at_once_if_it_may(self, trial: Trial) -> None:
        put = await trial.put("late", Once("2026-01-01T00:00:00Z", on_past="fire"))
        fired = await trial.fire()
        assert fired.runs == 1
        (run,) = await trial.runs(put)
        assert run.window_at == Once("2026-01-01T00:00:00Z").at


class TestGrabbing:
    async def test_a_run_can_be_born_in_the_hands_of_a_worker(self, trial: Trial) -> None:
        put = await trial.put(payload='{"n":1}', timeout_ms=60_000)
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        await worker.beat()
        fired = await trial.fire(grab=worker.grab())
        (claim,) = fired.claims
        assert (claim.attempt, claim.fence, claim.payload, claim.definition) == (1, 1, '{"n":1}', put.definition)
        run = await trial.run(claim)
        assert (run.status, run.instance, run.started_at) == ("running", "worker", run.fired_at)
        assert [held.id for held in (await worker.beat()).held] == [claim.id]
        assert await worker.claim() == []
        assert (await worker.complete(claim)).ended == {claim.id: "completed"}

    async def test_a_run_born_claimed_is_lost_like_any_other(self, trial: Trial) -> None:
        await trial.put(timeout_ms=60_000)
        trial.clock.move(minutes=1)
        worker = await trial.worker()
        (claim,) = (await trial.fire(grab=worker.grab())).claims
        trial.clock.move(seconds=16)
        assert await trial.take_lost() == [claim.id]
        again = await (await trial.worker()).claim_one()
        assert (again.attempt, again.fence) == (2, 2)
        assert list((await worker.complete(claim)).lost) == [claim.id]

    async def test_a_worker_grabs_no_more_than_it_has_room_for(self, trial: Trial) -> None:
        for n in range(3):
            await trial.put(f"s{n}")
        trial.clock.move(minutes=1)
        worker = await trial.worker()
        fired = await trial.fire(grab=worker.grab(places=2))
        assert (fired.runs, len(fired.claims)) == (3, 2)
        assert len(await worker.claim()) == 1

    async def test_what_a_worker_does_not_know_or_may_not_have_yet_is_not_grabbed(self, trial: Trial) -> None:
        await trial.put("other", job="other")
        put = await trial.put("queue", overlap=Overlap.QUEUE)
        worker = await trial.worker()
        for _ in range(2):
            trial.clock.move(minutes=1)
            await worker.beat()
            fired = await trial.fire(grab=worker.grab())
            assert len(fired.claims) == (1 if put.id in {claim.schedule_id for claim in fired.claims} else 0)
        assert await trial.statuses(put) == ["running", "pending"]
        assert await worker.claim() == []

    async def test_a_dead_session_grabs_nothing(self, trial: Trial) -> None:
        put = await trial.put()
        worker = await trial.worker()
        trial.clock.move(minutes=1)
        await trial.take_lost()
        fired = await trial.fire(grab=worker.grab())
        assert (fired.runs, list(fired.claims)) == (1, [])
        assert await trial.statuses(put) == ["pending"]
