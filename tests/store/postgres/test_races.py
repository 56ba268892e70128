"""What a statement saw before it waited for a lock may be gone when it goes on: it looks again."""

import asyncio
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from duly.core.errors import SingletonQueueFull
from duly.core.lane import Singleton, Unique
from duly.core.operation import OperationStatus
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.rules.replacing import Succession, reschedule
from duly.core.schedule import Schedule, ScheduleStatus
from duly.core.timing import Every
from duly.store.methods.keeping import OF_SCHEDULES, purge_schedules
from duly.store.orders import BackfillOrder, BulkOrder, CancelOrder, DeleteOrder, NewOperation, PurgeOrder
from duly.store.sql import SqlStore
from duly.store.statements import Group, batch, query
from duly.store.values import ScheduleFilter
from tests.store.postgres.making import (
    ENDING,
    JOB,
    RULES,
    SetClock,
    ask,
    claim_all,
    new_id,
    new_request,
    open_session,
    put,
)
from tests.store.postgres.test_guards import waits_for_a_lock

SECOND = 1_000


def cancel(schedule: Schedule, now: int) -> Change:
    return editing.cancel(schedule, now, "ann")


def delete(schedule: Schedule, now: int) -> Change:
    return editing.delete(schedule, now, "ann", cancel_running=True)


async def test_a_request_that_begins_anew_while_it_is_purged_stays(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    await store.begin_request("", "key", "first", keep_ms=SECOND)
    clock.at += 2 * SECOND
    with psycopg.connect(fresh_postgres) as beginning:
        beginning.execute("UPDATE duly.duly_requests SET hash = 'second', expires_at = expires_at + 86400000")
        purging = asyncio.create_task(store.purge_requests(limit=10))
        await waits_for_a_lock(fresh_postgres, purging)
        beginning.commit()
    await purging
    assert ask(fresh_postgres, "SELECT hash FROM duly.duly_requests") == ["second"]


async def test_a_unique_key_that_is_asked_for_while_it_is_purged_stays(store: SqlStore, fresh_postgres: str) -> None:
    full = Singleton(key="import", max_queued=0)
    await store.enqueue([new_request(singleton=full)])
    request = new_request(unique=Unique(key="digest"))
    with psycopg.connect(fresh_postgres) as refused:
        with pytest.raises(SingletonQueueFull):
            await store.enqueue([replace(request, singleton=full)], connection=refused)
        refused.commit()
    with psycopg.connect(fresh_postgres) as asking:
        await store.enqueue([request], connection=asking)
        purging = asyncio.create_task(store.purge_keys(limit=10))
        await waits_for_a_lock(fresh_postgres, purging)
        asking.commit()
    await purging
    assert [run.id for run in await store.enqueue([new_request(unique=Unique(key="digest"))])] == [request.id]


async def test_a_lane_that_is_entered_while_it_is_purged_stays(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    terms = Singleton(key="import")
    (first,) = await store.enqueue([new_request(singleton=terms)])
    await store.request_cancel(first.id)
    with psycopg.connect(fresh_postgres) as entering:
        await store.enqueue([new_request(singleton=terms)], connection=entering)
        clock.at += 61 * SECOND
        purging = asyncio.create_task(store.purge_keys(limit=10))
        await waits_for_a_lock(fresh_postgres, purging)
        entering.commit()
    await purging
    assert ask(fresh_postgres, "SELECT key FROM duly.duly_lanes") == ["import"]


@pytest.mark.parametrize("asked", ["cancel", "trigger", "backfill", "purge"])
async def test_who_waits_for_a_key_that_moves_on_follows_it(
    store: SqlStore, clock: SetClock, fresh_postgres: str, asked: str
) -> None:
    old, new = await put(store, "a"), new_id()
    operation = NewOperation(id=new_id(), order=PurgeOrder(), by=None)
    past = BackfillOrder(since=clock.at - 10 * SECOND, until=clock.at - SECOND)

    def move_on(found: Schedule, now: int) -> Succession:
        return reschedule(found, now, id=new, timing=Every("2h"), by=None)

    async def ask_for_it() -> None:
        if asked == "cancel":
            await store.change_schedule("a", cancel)
        elif asked == "trigger":
            await store.trigger("a", run_id=operation.id, payload=None, force=False, rules=RULES)
        elif asked == "purge":
            await store.begin_purge("a", operation, rules=RULES)
        else:
            await store.backfill("a", replace(operation, order=past), payload=None, rules=RULES)

    with psycopg.connect(fresh_postgres) as moving:
        await store.replace_schedule("a", new, move_on, connection=moving)
        asking = asyncio.create_task(ask_for_it())
        await waits_for_a_lock(fresh_postgres, asking)
        assert not asking.done()
        moving.commit()
    await asking
    found = await store.get_schedule(new)
    if asked == "cancel":
        assert found is not None
        assert found.status is ScheduleStatus.CANCELLED, "it is the one that has the key"
    elif asked == "trigger":
        assert ask(fresh_postgres, "SELECT schedule_id::text FROM duly.duly_runs") == [new]
    elif asked == "purge":
        assert found is None
        assert await store.get_schedule(old.id) is not None
    else:
        assert ask(fresh_postgres, "SELECT body::jsonb ->> 'schedule_id' FROM duly.duly_operations") == [new]


async def test_a_purge_removes_the_run_that_ends_while_it_looks(store: SqlStore, fresh_postgres: str) -> None:
    made = await put(store, "a")
    await store.trigger(made.id, run_id=new_id(), payload=None, force=False, rules=RULES)
    await claim_all(store, await open_session(store))
    new = NewOperation(id=new_id(), order=PurgeOrder(), by=None)
    await store.begin_purge(made.id, new, rules=RULES)
    with psycopg.connect(fresh_postgres) as settling:
        settling.execute("LOCK TABLE duly.duly_runs IN ACCESS EXCLUSIVE MODE")
        purging = asyncio.create_task(store.step_operation(new.id, limit=10))
        await waits_for_a_lock(fresh_postgres, purging)
        assert not purging.done()
        settling.execute(ENDING, [JOB])
        settling.commit()
    operation = await purging
    while operation is not None and operation.status is OperationStatus.RUNNING:
        operation = await store.step_operation(new.id, limit=10)
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_history") == [0]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_schedules") == [0]


def test_a_schedule_whose_dead_run_was_let_go_while_the_purge_looked_for_one_stays() -> None:
    """Nothing waits there, so the rows are given by hand."""
    purging = purge_schedules(0, ended_before=0, limit=10)
    assert next(purging) == query("purgeable_schedules", ended_before=0, limit=10)
    assert purging.send([("a",), ("b",)]) == batch("open_runs", {"schedule_id": ["a", "b"]})
    removing = purging.send([("a", "run", 0, False, False, "window", 0, 0, 0)])
    assert isinstance(removing, Group)
    assert [step.params for step in removing.steps] == [{"ids": ["b"]}] * len(OF_SCHEDULES)


async def test_a_topic_that_somebody_begins_to_listen_to_is_not_ended(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    await open_session(store)
    request = replace(new_request(singleton=Singleton(key="news")), job="topic:news")
    await store.enqueue([request])
    await store.hold_unknown_jobs()
    clock.at += 2 * SECOND
    with psycopg.connect(fresh_postgres) as holding:
        holding.execute("SELECT 1 FROM duly.duly_lanes FOR UPDATE")
        ending = asyncio.create_task(store.end_unheard_topics(patience_ms=SECOND, limit=10))
        await waits_for_a_lock(fresh_postgres, ending)
        assert not ending.done()
        listener = await open_session(store, "topic:news")
        holding.commit()
    assert await ending == []
    claimed = await store.claim_runs(listener, jobs=["topic:news"], limit=1)
    assert [claim.id for claim in claimed.claims] == [request.id]


@pytest.mark.parametrize("bulk", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("how", ["cancel", "delete"])
async def test_who_stops_a_schedule_waits_for_one_who_gives_its_run_back_and_then_ends_it(
    store: SqlStore, fresh_postgres: str, how: str, bulk: bool
) -> None:
    made, run_id = await put(store, "a"), new_id()
    await store.trigger(made.id, run_id=run_id, payload=None, force=False, rules=RULES)
    await claim_all(store, await open_session(store))
    asked: dict[str, Any] = {"where": ScheduleFilter(), "ids": (made.id,)}
    order: BulkOrder = CancelOrder(**asked) if how == "cancel" else DeleteOrder(**asked, cancel_running=True)
    operation = await store.put_operation(NewOperation(id=new_id(), order=order, by=None))

    async def stop() -> None:
        if bulk:
            await store.step_operation(operation.id, limit=10)
        else:
            await store.change_schedule(made.id, cancel if how == "cancel" else delete)

    with psycopg.connect(fresh_postgres) as returning:
        returning.execute("UPDATE duly.duly_runs SET claimed_by = NULL, due_at = due_at + 5000")
        stopping = asyncio.create_task(stop())
        await waits_for_a_lock(fresh_postgres, stopping)
        assert not stopping.done()
        returning.commit()
    await stopping
    run = await store.get_run(run_id)
    assert run is not None
    assert run.status == "cancelled", "it has no further attempt"
