"""A store as one owner sees it: what is not theirs is as if it were not there."""

from __future__ import annotations

from typing import Any

import pytest

from duly.core.credential import Whose
from duly.core.errors import ClientRequestIdInUse, Conflict, KeyInUse, QuotaExceeded
from duly.core.ids import window_run_id
from duly.core.schedule import Schedule
from duly.store.dead import DeadFilter, DeadRef, Done, Redrive
from duly.store.orders import BackfillOrder, CancelOrder, DeleteOrder, NewOperation, PauseAllOrder, PurgeOrder
from duly.store.protocol import Store
from duly.store.values import RunFilter, ScheduleFilter
from tests.contract.suite.trial import JOB, Trial, deleted

ANN = Whose("acme", "ann")
BOB = Whose("acme", "bob")
ANN_ELSEWHERE = Whose("other", "ann")
ANYTHING: dict[str, Any] = {"limit": 50}


async def _of(trial: Trial, key: str, whose: Whose) -> Schedule:
    return await trial.put(key, owner=whose.owner, tenant=whose.tenant)


async def _dead(trial: Trial, whose: Whose | None = None) -> str:
    """A direct run that failed for good."""
    words = {} if whose is None else {"owner": whose.owner, "tenant": whose.tenant}
    run = await trial.enqueue(max_attempts=1, **words)
    worker = await trial.worker()
    await worker.fail(await worker.claim_one())
    return run.id


class TestOwning:
    @pytest.mark.parametrize("stranger", [BOB, ANN_ELSEWHERE], ids=["owner", "tenant"])
    async def test_a_schedule_of_others_cannot_be_seen_or_touched(self, trial: Trial, stranger: Whose) -> None:
        mine = await _of(trial, "mine", ANN)
        store: Store = trial.store.seen_by(stranger)
        for ref in (mine.id, mine.key):
            assert await store.get_schedule(ref) is None
            assert await store.change_schedule(ref, lambda found, now: deleted(found, now, None)) is None
            assert await store.list_changes(ref, **ANYTHING) is None
            purge = NewOperation(id=trial.id(), order=PurgeOrder())
            assert await store.begin_purge(ref, purge, rules=trial.rules) is None
            assert await store.trigger(ref, run_id=trial.id(), payload=None, force=False, rules=trial.rules) is None
            operation = NewOperation(id=trial.id(), order=BackfillOrder(since=0, until=trial.clock.now()))
            assert await store.backfill(ref, operation, payload=None, rules=trial.rules) is None
        assert (await store.list_schedules(ScheduleFilter(), **ANYTHING)).items == []
        assert (await store.list_upcoming(**ANYTHING)).items == []
        ahead: dict[str, Any] = {"steps": 48, "step_ms": 3_600_000, "limit": 50, "most": 50}
        seen = await store.look_ahead(**ahead)
        assert (seen.strata, sum(seen.counted)) == ((), 0)
        assert sum((await store.look_ahead(**ahead, owner="ann")).counted) == 0
        assert (await store.list_schedules(ScheduleFilter(owner="ann"), **ANYTHING)).items == []
        assert (await store.list_schedules(ScheduleFilter(tenant="acme"), **ANYTHING)).items == []
        theirs = trial.store.seen_by(ANN)
        assert (await theirs.get_schedule(mine.key)) == await trial.schedule(mine)
        assert [one.id for one in (await theirs.list_schedules(ScheduleFilter(), **ANYTHING)).items] == [mine.id]

    async def test_a_key_is_looked_up_among_ones_own(self, trial: Trial) -> None:
        elsewhere = await _of(trial, "same", ANN_ELSEWHERE)
        mine = await _of(trial, "same", ANN)
        for whose, expected in ((ANN, mine), (ANN_ELSEWHERE, elsewhere)):
            found = await trial.store.seen_by(whose).get_schedule("same")
            assert found is not None
            assert found.id == expected.id

    async def test_a_refusal_does_not_name_what_is_not_seen(self, trial: Trial) -> None:
        await trial.put("taken", owner="ann", tenant="acme", client_request_id="r1")
        store = trial.store.seen_by(BOB)
        same_key, same_request = await store.put_schedules(
            [
                trial.new("taken", owner="bob", tenant="acme"),
                trial.new("free", owner="bob", tenant="acme", client_request_id="r1"),
            ]
        )
        assert isinstance(same_key, KeyInUse)
        assert isinstance(same_request, ClientRequestIdInUse)
        assert (same_key.existing_id, same_request.existing_id) == (None, None)

    async def test_runs_belong_to_the_owner_of_their_schedule_also_when_it_is_deleted(self, trial: Trial) -> None:
        mine = await _of(trial, "mine", ANN)
        trial.clock.move(minutes=1)
        await trial.fire()
        run = window_run_id(mine.id, trial.clock.now() // 60_000 * 60_000)
        for _ in range(2):
            await self._check_run(trial, run)
            await trial.delete(await trial.schedule(mine)) if await trial.store.get_schedule(mine.id) else None

    async def test_direct_runs_belong_to_whom_they_were_given(self, trial: Trial) -> None:
        run = await trial.enqueue(owner="ann", tenant="acme")
        await self._check_run(trial, run.id)
        with pytest.raises(Conflict):
            await trial.store.seen_by(BOB).enqueue([trial.request(id=run.id, owner="bob", tenant="acme")])
        await self._check_run(trial, run.id)

    async def _check_run(self, trial: Trial, run_id: str) -> None:
        for stranger in (BOB, ANN_ELSEWHERE):
            store: Store = trial.store.seen_by(stranger)
            assert await store.get_run(run_id) is None
            assert await store.request_cancel(run_id) is None
            assert await store.read_attempts(run_id) == []
            assert (await store.list_runs(RunFilter(), **ANYTHING)).items == []
            assert (await store.list_runs(RunFilter(tenant="acme"), **ANYTHING)).items == []
            assert (await store.list_runs(RunFilter(owner="ann"), **ANYTHING)).items == []
        mine = trial.store.seen_by(ANN)
        found = await mine.get_run(run_id)
        assert found is not None
        assert not found.cancel_requested
        assert [run.id for run in (await mine.list_runs(RunFilter(), **ANYTHING)).items] == [run_id]

    async def test_dead_letters_of_others_are_neither_seen_nor_redriven(self, trial: Trial) -> None:
        dead = await _dead(trial, ANN)
        stranger: Store = trial.store.seen_by(BOB)
        assert (await stranger.list_dead(DeadFilter(), **ANYTHING)).items == []
        assert list(await stranger.find_dead(DeadFilter(), died_by=trial.clock.now(), **ANYTHING)) == []
        assert await stranger.group_dead(DeadFilter(), **ANYTHING) == []
        for _ in range(2):  # before it was redriven, and after
            answers = [
                *await stranger.redrive([Redrive(dead=DeadRef(dead)), Redrive(dead=DeadRef(dead), payload="{}")]),
                *await stranger.acknowledge([DeadRef(dead)]),
            ]
            assert {answer.outcome for answer in answers} == {Done.NOT_FOUND}
            mine = trial.store.seen_by(ANN)
            (goes,) = await mine.redrive([Redrive(dead=DeadRef(dead), payload='{"n":2}')])
            assert goes.goes_as is not None
            assert await mine.get_run(goes.goes_as) is not None, "what it goes as is theirs too"
            assert await stranger.get_run(goes.goes_as) is None

    async def test_operations_belong_to_whom_they_were_begun_by(self, trial: Trial) -> None:
        await _of(trial, "mine", ANN)
        order = CancelOrder(where=ScheduleFilter(tenant=ANN.tenant, owner=ANN.owner))
        new = NewOperation(id=trial.id(), order=order)
        mine, stranger = trial.store.seen_by(ANN), trial.store.seen_by(BOB)
        await mine.put_operation(new)
        assert await stranger.get_operation(new.id) is None
        assert await stranger.step_operation(new.id, limit=10) is None
        assert (await stranger.list_operations(limit=10)).items == []
        with pytest.raises(Conflict):
            await stranger.put_operation(new)
        stepped = await mine.step_operation(new.id, limit=10)
        assert stepped is not None
        assert stepped.changed == 1
        assert [one.id for one in (await mine.list_operations(limit=10)).items] == [new.id]
        whole = NewOperation(id=trial.id(), order=PauseAllOrder())
        await trial.store.pause_firing(whole)
        assert await mine.get_operation(whole.id) is None

    async def test_an_operation_on_named_schedules_leaves_those_of_others_alone_whoever_carries_it_on(
        self, trial: Trial
    ) -> None:
        mine, theirs = await _of(trial, "mine", ANN), await _of(trial, "theirs", BOB)
        for order in (
            CancelOrder(where=ScheduleFilter(), ids=(mine.id, theirs.id)),
            DeleteOrder(where=ScheduleFilter()),
        ):
            new = NewOperation(id=trial.id(), order=order)
            await trial.store.seen_by(ANN).put_operation(new)
            stepped = await trial.store.step_operation(new.id, limit=10)  # as a janitor does
            assert stepped is not None
            assert (stepped.changed, stepped.refused) == (1, 0)
        assert not (await trial.schedule(theirs)).status.ended

    async def test_what_nobody_owns_is_seen_by_nobody_in_particular(self, trial: Trial) -> None:
        common = await trial.put("common", tenant="acme")
        run = await trial.enqueue(JOB, tenant="acme")
        store = trial.store.seen_by(ANN)
        assert await store.get_schedule(common.id) is None
        assert await store.get_run(run.id) is None

    async def test_owners_are_purged_with_their_runs(self, trial: Trial) -> None:
        dead = await _dead(trial, ANN)
        trial.clock.move(minutes=1)
        assert await trial.store.purge_history(finished_before=trial.clock.now(), limit=10) == 1
        assert await trial.store.seen_by(ANN).get_run(dead) is None
        await trial.enqueue(id=dead, tenant="acme")
        assert await trial.store.seen_by(ANN).get_run(dead) is None


class TestQuotas:
    async def test_an_owner_has_as_many_schedules_as_they_may(self, trial: Trial) -> None:
        store: Store = trial.store.seen_by(Whose("acme", "ann", schedules=2))
        puts = await store.put_schedules([trial.new(f"k{n}", owner="ann", tenant="acme") for n in range(3)])
        assert [isinstance(put, Schedule) for put in puts] == [True, True, False]
        assert isinstance(puts[2], QuotaExceeded)
        others: Store = trial.store.seen_by(Whose("acme", "bob", schedules=2))
        (put,) = await others.put_schedules([trial.new("bobs", owner="bob", tenant="acme")])
        assert isinstance(put, Schedule)
        first = puts[0]
        assert isinstance(first, Schedule)
        await trial.cancel(first)
        (again,) = await store.put_schedules([trial.new("k3", owner="ann", tenant="acme")])
        assert isinstance(again, Schedule)
