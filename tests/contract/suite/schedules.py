"""Schedules: stored once, found by id or key, changed under their lock."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duly.core.errors import (
    ClientRequestIdInUse,
    Conflict,
    DulyError,
    KeyInUse,
    MomentInPast,
    NotCancellable,
    RevisionStale,
)
from duly.core.instants import to_datetime
from duly.core.policy import Overlap
from duly.core.rules.replacing import reschedule, succeed
from duly.core.schedule import Schedule, ScheduleStatus
from duly.core.timing import Cron, Every, Once
from duly.store.values import ScheduleFilter
from tests.acceptance.rules import rule
from tests.contract.suite.access import Access
from tests.contract.suite.trial import Trial


class TestPuttingSchedules:
    async def test_a_schedule_is_found_by_its_id_and_by_its_key(self, trial: Trial) -> None:
        put = await trial.put("nightly", Cron("0 2 * * *", "America/Sao_Paulo"), payload='{"n":1}', tags=("a", "b"))
        assert await trial.schedule(put.id) == put
        assert await trial.schedule("nightly") == put
        assert put.payload == {"n": 1}
        assert put.tags == ("a", "b")
        assert put.status is ScheduleStatus.PENDING
        assert await trial.store.get_schedule("unknown") is None
        assert await trial.store.get_schedule(trial.id()) is None

    async def test_many_are_read_by_their_ids(self, trial: Trial) -> None:
        one, two = await trial.put("one", payload='{"n":1}'), await trial.put("two", tenant="others")
        assert await trial.store.read_schedules([two.id, trial.id(), one.id]) == sorted([one, two], key=lambda s: s.id)
        assert await trial.store.read_schedules([]) == []

    async def test_an_id_goes_before_a_key_that_looks_like_it(self, trial: Trial) -> None:
        one = await trial.put("one")
        await trial.put(one.id)
        assert (await trial.schedule(one.id)).key == "one"

    @rule("S4.25")
    async def test_the_store_s_clock_dates_a_schedule_and_finds_its_first_window(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(minutes=1))
        now = trial.clock.now()
        assert put.facts.created_at == put.facts.updated_at == now
        assert put.cursor.next_window_at == put.cursor.fire_at == now + 60_000

    async def test_an_interval_that_is_counted_from_its_start_starts_by_the_store_s_clock(self, trial: Trial) -> None:
        now = trial.clock.now()
        put = await trial.put("one", Every(minutes=1, anchor="start"))
        assert put.timing == Every(minutes=1, anchor="start").anchored_at(now)
        assert put.cursor.next_window_at == now + 60_000
        assert await trial.schedule("one") == put
        later = await trial.put("two", Every(minutes=1, anchor="start"), start_at=now + 5)
        assert later.timing == Every(minutes=1, anchor="start").anchored_at(now + 5)
        assert later.cursor.next_window_at == now + 5
        kept = await trial.put("three", Every(minutes=1, anchor="start").anchored_at(now - 7))
        assert kept.cursor.next_window_at == now - 7 + 60_000

    async def test_the_same_id_again_answers_the_schedule_as_it_is(self, trial: Trial) -> None:
        new = trial.new("nightly")
        (first,) = await trial.store.put_schedules([new])
        assert isinstance(first, Schedule)
        paused = await trial.pause(first)
        assert await trial.store.put_schedules([new]) == [paused]

    async def test_a_repeated_create_of_a_one_shot_whose_time_has_passed_returns_what_is_stored(
        self, trial: Trial
    ) -> None:
        new = trial.new("once", Once(to_datetime(trial.clock.now() + 5000)), client_request_id="r1")
        await trial.store.put_schedules([new])
        trial.clock.move(seconds=6)
        await trial.fire()
        stored = await trial.schedule("once")
        for _ in range(2):
            assert await trial.store.put_schedules([new]) == [stored]
        assert await trial.store.put_schedules([trial.new("other"), new], whole=True) == [
            await trial.schedule("other"),
            stored,
        ]

    @pytest.mark.parametrize("key", ["once", "another"])
    async def test_a_used_client_request_id_is_named_before_the_time_is_judged(self, trial: Trial, key: str) -> None:
        moment = Once(to_datetime(trial.clock.now() + 5000))
        stored = await trial.put("once", moment, client_request_id="r1")
        trial.clock.move(seconds=6)
        refusal = await trial.put_in_vain(key, moment, client_request_id="r1")
        assert isinstance(refusal, ClientRequestIdInUse)
        assert refusal.existing_id == stored.id

    async def test_a_new_one_shot_in_the_past_is_rejected_also_if_its_key_is_in_use(self, trial: Trial) -> None:
        await trial.put("once")
        for key in ("once", "new"):
            refusal = await trial.put_in_vain(key, Once(to_datetime(trial.clock.now() - 1)))
            assert isinstance(refusal, MomentInPast)

    async def test_a_key_in_use_is_refused_with_its_holder(self, trial: Trial) -> None:
        holder = await trial.put("nightly")
        refusal = await trial.put_in_vain("nightly")
        assert isinstance(refusal, KeyInUse)
        assert refusal.existing_id == holder.id

    async def test_of_a_whole_nothing_is_stored_when_one_is_refused(self, trial: Trial) -> None:
        holder = await trial.put("nightly")
        for last in (
            trial.new("nightly"),
            trial.new("past", Once(to_datetime(trial.clock.now() - 1))),
            trial.new("first"),
        ):
            with pytest.raises(DulyError) as refused:
                await trial.store.put_schedules([trial.new("first"), trial.new("second"), last], whole=True)
            assert refused.value.details["item"] == 2
            stored = await trial.store.list_schedules(ScheduleFilter(), limit=9)
            assert [one.id for one in stored.items] == [holder.id]
        puts = await trial.store.put_schedules([trial.new("first"), trial.new("second")], whole=True)
        assert puts == [await trial.schedule("first"), await trial.schedule("second")]

    async def test_tenants_do_not_share_keys(self, trial: Trial) -> None:
        ours = await trial.put("nightly", tenant="ours")
        theirs = await trial.put("nightly", tenant="theirs")
        assert await trial.store.get_schedule("nightly", tenant="ours") == ours
        assert await trial.store.get_schedule("nightly", tenant="theirs") == theirs
        assert await trial.store.get_schedule(ours.id, tenant="theirs") is None
        assert await trial.store.get_schedule("nightly", tenant="others") is None

    async def test_a_key_that_several_tenants_hold_means_none_of_theirs_alone(self, trial: Trial) -> None:
        held = sorted([(await trial.put("nightly", tenant=tenant)).id for tenant in ("ours", "theirs")])
        changes: list[Schedule] = []
        for asked in (
            lambda: trial.store.get_schedule("nightly"),
            lambda: trial.store.list_changes("nightly", limit=1),
            lambda: trial.store.change_schedule("nightly", lambda found, now: changes.append(found)),
        ):
            with pytest.raises(Conflict, match="several tenants") as refused:
                await asked()
            assert refused.value.details["ids"] == held
        assert changes == []
        await trial.delete(await trial.schedule(held[0]))
        assert (await trial.schedule("nightly")).id == held[1]

    @rule("S2.13")
    async def test_a_client_request_id_is_used_once_whatever_became_of_it(self, trial: Trial) -> None:
        first = await trial.put("one", client_request_id="r1")
        again = await trial.put_in_vain("two", client_request_id="r1")
        assert isinstance(again, ClientRequestIdInUse)
        assert again.existing_id == first.id
        await trial.delete(first)
        after_deletion = await trial.put_in_vain("three", client_request_id="r1")
        assert isinstance(after_deletion, ClientRequestIdInUse)
        assert after_deletion.existing_id == first.id
        await trial.put("four", client_request_id="r1", tenant="another")

    async def test_a_deleted_schedule_gives_its_key_back(self, trial: Trial) -> None:
        first = await trial.put("nightly")
        await trial.delete(first)
        second = await trial.put("nightly")
        assert (await trial.schedule("nightly")).id == second.id

    async def test_one_that_is_refused_does_not_hinder_the_others(self, trial: Trial) -> None:
        await trial.put("taken")
        past = Once("2026-01-04T00:00:00Z")
        new = [trial.new("a"), trial.new("taken"), trial.new("b", past), trial.new("c"), trial.new("a")]
        a, taken, late, c, again = await trial.store.put_schedules(new)
        assert isinstance(a, Schedule)
        assert isinstance(taken, KeyInUse)
        assert isinstance(late, MomentInPast)
        assert isinstance(c, Schedule)
        assert isinstance(again, KeyInUse)
        assert await trial.schedule("a") == a
        assert await trial.schedule("c") == c
        assert await trial.store.get_schedule("b") is None

    async def test_after_one_that_was_refused_others_are_stored_as_ever(self, trial: Trial) -> None:
        first = await trial.put("taken")
        for n in range(3):
            same = await trial.store.put_schedules([trial.new(f"a{n}"), trial.new("taken"), trial.new(f"b{n}")])
            assert [type(put) for put in same] == [Schedule, KeyInUse, Schedule]
            new = await trial.store.put_schedules([trial.new(f"c{n}"), trial.new(f"d{n}", tenant="acme")])
            assert [await trial.store.get_schedule(put.id) for put in new if isinstance(put, Schedule)] == new
        assert await trial.schedule("taken") == first

    async def test_slots_are_dense_in_every_tenant(self, trial: Trial) -> None:
        """What was refused has taken none: fair share counts on it."""
        tenants = ["", "acme", "", "acme", ""]
        first = await trial.store.put_schedules([trial.new(f"k{n}", tenant=tenant) for n, tenant in enumerate(tenants)])
        new = [trial.new("k0"), trial.new("k5"), trial.new("k5", tenant="acme"), trial.new("k6")]
        _, *others = await trial.store.put_schedules(new)
        mine = [put for put in (*first, *others) if isinstance(put, Schedule) and put.facts.tenant == ""]
        stored = [await trial.schedule(put) for put in mine]
        assert [schedule.cursor.slot for schedule in stored] == [1, 2, 3, 4, 5]
        assert [put.cursor.slot for put in others if isinstance(put, Schedule)] == [4, 3, 5]

    async def test_nothing_to_put_is_fine(self, trial: Trial) -> None:
        assert await trial.store.put_schedules([]) == []

    async def test_a_schedule_may_be_born_paused(self, trial: Trial) -> None:
        put = await trial.put(paused_at=1, pause_reason="not yet")
        assert put.facts.paused_at == trial.clock.now()
        assert put.cursor.fire_at is None
        trial.clock.move(minutes=5)
        assert (await trial.fire()).windows == 0


class TestChangingSchedules:
    @rule("S4.39")
    async def test_a_paused_schedule_does_not_fire_until_it_is_resumed(self, trial: Trial) -> None:
        put = await trial.put()
        paused = await trial.pause(put)
        assert not paused.enabled
        assert paused.paused_reason == "on leave"
        trial.clock.move(minutes=60, seconds=30)
        assert (await trial.fire()).windows == 0
        resumed = await trial.resume(put)
        assert resumed.enabled
        assert resumed.next_fire_at == to_datetime(trial.clock.now() + 30_000)
        assert await trial.runs(put) == []
        trial.clock.move(seconds=30)
        assert (await trial.fire()).runs == 1

    @rule("S3.24")
    async def test_a_change_is_dated_by_the_store(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(seconds=7)
        assert (await trial.pause(put)).facts.updated_at == trial.clock.now()

    async def test_a_change_that_decides_nothing_changes_nothing(self, trial: Trial, access: Access) -> None:
        put = await trial.put()
        before = await access.dump()
        trial.clock.move(seconds=1)
        assert await trial.store.change_schedule(put.key, lambda found, now: None) == put
        assert await access.dump() == before

    @rule("S2.33")
    async def test_a_change_that_was_made_before_changes_nothing_more(self, trial: Trial, access: Access) -> None:
        put, other = await trial.put(), await trial.put("other")
        await trial.cancel(put)
        before = await access.dump()
        trial.clock.move(seconds=1)
        await trial.cancel(put)
        await trial.pause(put)
        await trial.resume(other)
        assert await access.dump() == before

    async def test_an_unknown_or_foreign_schedule_is_not_changed(self, trial: Trial) -> None:
        put = await trial.put(tenant="ours")
        asked: list[Schedule] = []
        for ref, tenant in (("unknown", None), (trial.id(), None), (put.key, "theirs"), (put.id, "theirs")):
            changed = await trial.store.change_schedule(ref, lambda found, now: asked.append(found), tenant=tenant)
            assert changed is None
        assert asked == []

    async def test_an_edit_makes_a_revision_and_leaves_the_time_alone(self, trial: Trial) -> None:
        put = await trial.put(payload='{"n":1}')
        edited = await trial.edit(put, definition=replace(put.definition, payload='{"n":2}'))
        assert edited.revision == 2
        assert edited.payload == {"n": 2}
        assert edited.cursor == replace(put.cursor, revision=2)
        assert await trial.schedule(put) == edited

    @rule("S4.37")
    async def test_an_edited_timing_moves_the_next_window(self, trial: Trial) -> None:
        put = await trial.put(timing=Every(minutes=1))
        edited = await trial.edit(put, definition=replace(put.definition, timing=Cron("30 0 * * *")))
        assert edited.next_window_at == to_datetime(trial.clock.now() + 30 * 60_000)
        trial.clock.move(minutes=29)
        assert (await trial.fire()).windows == 0
        trial.clock.move(minutes=1)
        assert (await trial.fire()).runs == 1

    async def test_a_run_keeps_the_revision_it_was_fired_under(self, trial: Trial) -> None:
        put = await trial.put(payload='{"n":1}', overlap=Overlap.ALLOW)
        trial.clock.move(minutes=1)
        await trial.fire()
        await trial.edit(put, definition=replace(put.definition, payload='{"n":2}'))
        trial.clock.move(minutes=1)
        await trial.fire()
        claims = await (await trial.worker()).claim()
        assert [(claim.revision, claim.payload) for claim in claims] == [(1, '{"n":1}'), (2, '{"n":2}')]

    async def test_a_stale_revision_is_refused_and_changes_nothing(self, trial: Trial, access: Access) -> None:
        put = await trial.put()
        await trial.edit(put, definition=replace(put.definition, priority=1), expected_revision=1)
        before = await access.dump()
        with pytest.raises(RevisionStale):
            await trial.edit(put, definition=replace(put.definition, priority=2), expected_revision=1)
        assert await access.dump() == before

    async def test_a_cancelled_schedule_ends_what_waits_and_fires_no_more(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        cancelled = await trial.cancel(put)
        assert cancelled.status is ScheduleStatus.CANCELLED
        (run,) = await trial.runs(put)
        assert (run.status, run.reason) == ("cancelled", "schedule_cancelled")
        trial.clock.move(minutes=5)
        assert (await trial.fire()).windows == 0
        assert (await trial.cancel(put)).status is ScheduleStatus.CANCELLED

    @rule("S2.23")
    async def test_a_cancelled_schedule_gives_its_running_run_no_further_attempt(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await trial.cancel(put)
        assert (await trial.run(claim)).status == "running"
        settled = await worker.fail(claim)
        assert settled.ended == {claim.id: "failed"}

    async def test_a_rescheduled_one_goes_on_under_another_id_and_its_old_key(self, trial: Trial) -> None:
        old = await trial.put(tenant="acme", owner="ann", tags=("x",), payload='{"n":1}', client_request_id="r")
        new_id = trial.id()
        plan = partial(reschedule, id=new_id, timing=Once("2026-01-05T00:00:10Z"), by="bob")
        for ref in (old.key, old.id) * 2:  # those after the first find what it did
            replaced = await trial.store.replace_schedule(ref, new_id, plan, tenant="acme")
            assert replaced is not None
            assert (replaced.id, replaced.key, replaced.facts.replaces) == (new_id, old.key, old.id)
        new = await trial.schedule(new_id)
        assert new == replaced
        assert (new.facts.owner, new.tags, new.payload, new.facts.created_by) == ("ann", ("x",), {"n": 1}, "bob")
        assert (new.status, new.revision, new.facts.client_request_id) == (ScheduleStatus.PENDING, 1, None)
        gone = await trial.schedule(old)
        assert (gone.status, gone.facts.replaced_by, gone.key) == (ScheduleStatus.CANCELLED, new_id, old.id)
        trial.clock.move(seconds=60)
        assert (await trial.fire()).runs == 1
        assert [run.window_key for run in await trial.runs(new)] == ["sched:report:1767571210000"]
        assert await trial.runs(old) == []

    async def test_what_came_since_the_end_of_a_pause_that_nobody_noticed_is_not_lost_by_a_reschedule(
        self, trial: Trial
    ) -> None:
        old = await trial.put()
        await trial.pause(old, until=trial.clock.now() + 150_000)
        trial.clock.move(minutes=4)
        plan = partial(reschedule, id=trial.id(), timing=Every(minutes=9), by="bob")
        new = await trial.store.replace_schedule(old.id, plan.keywords["id"], plan)
        assert new is not None
        assert new.enabled
        (skipped,) = await trial.runs(old)
        assert (skipped.reason, skipped.since, skipped.window_at) == (
            "schedule_cancelled",
            to_datetime(old.facts.created_at + 180_000),
            to_datetime(old.facts.created_at + 240_000),
        )

    @rule("S2.47")
    async def test_what_has_fired_is_not_rescheduled_and_a_timing_without_windows_neither(
        self, trial: Trial, access: Access
    ) -> None:
        fired, waits = await trial.put("fired"), await trial.put("waits", Every(hours=5))
        trial.clock.move(minutes=1)
        await trial.fire()
        before = await access.dump()
        plan = partial(reschedule, id=trial.id(), timing=Every(minutes=9), by=None)
        with pytest.raises(NotCancellable):
            await trial.store.replace_schedule(fired.id, trial.id(), plan)
        plan = partial(reschedule, id=trial.id(), timing=Once("2026-01-01T00:00:00Z"), by=None)
        with pytest.raises(MomentInPast):
            await trial.store.replace_schedule(waits.id, trial.id(), plan)
        assert await trial.store.replace_schedule("unknown", trial.id(), plan) is None
        assert await access.dump() == before

    async def test_one_that_has_ended_makes_room_for_another(self, trial: Trial) -> None:
        old = await trial.cancel(await trial.put())
        new = trial.new("report", Every(minutes=5))
        plan = partial(succeed, facts=new.facts, definition=new.definition, by="bob")
        made = await trial.store.replace_schedule("report", new.facts.id, plan)
        assert made is not None
        assert (made.id, made.key, made.facts.replaces, made.status) == (
            new.facts.id, "report", old.id, ScheduleStatus.PENDING
        )  # fmt: skip
        assert await trial.store.get_schedule(old.id) is None

    @rule("S4.28")
    async def test_a_deleted_schedule_is_gone_but_its_runs_are_kept(self, trial: Trial) -> None:
        put = await trial.put(overlap=Overlap.QUEUE)
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        running = await worker.claim_one()
        trial.clock.move(minutes=1)
        await trial.fire()
        await trial.delete(put)
        assert await trial.store.get_schedule(put.id) is None
        assert await trial.store.get_schedule(put.key) is None
        assert await trial.statuses(put) == ["running", "cancelled"]
        assert (await worker.complete(running)).ended == {running.id: "completed"}
        trial.clock.move(minutes=5)
        assert (await trial.fire()).windows == 0
        assert await trial.statuses(put) == ["completed", "cancelled"]

    async def test_a_delete_may_tell_running_runs_to_stop(self, trial: Trial) -> None:
        put = await trial.put()
        trial.clock.move(minutes=1)
        await trial.fire()
        worker = await trial.worker()
        claim = await worker.claim_one()
        await trial.delete(put, cancel_running=True)
        (held,) = (await worker.beat()).held
        assert held.cancel_requested
        assert (await worker.complete(claim)).ended == {claim.id: "cancelled"}
