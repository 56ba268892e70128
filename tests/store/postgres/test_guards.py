"""A guard is a lock: whoever looked at a run while another was taking it must look again."""

import asyncio

import psycopg
import pytest

from duly.core.errors import SingletonQueueFull
from duly.core.lane import Singleton, Unique
from duly.core.policy import Retry
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.run import Completed, Failed, Outcome, Released
from duly.core.schedule import Schedule
from duly.store.sql import SqlStore
from duly.store.values import Settlement
from tests.acceptance.rules import rule
from tests.store.postgres.making import (
    ENDING,
    JOB,
    RULES,
    SetClock,
    ask,
    claim_all,
    completed,
    new_request,
    open_session,
    put,
)

HOUR = 3_600_000

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def waits_for_a_lock(url: str, task: asyncio.Task[object]) -> None:
    """Until the settle waits for the row that we hold; the test's own time limit ends a wait in vain."""
    while not task.done() and ask(url, WAITING) == [0]:  # noqa: ASYNC110 - only the server knows who waits
        await asyncio.sleep(0.01)


async def test_a_session_that_closes_waits_for_its_claim_under_way_and_gives_that_back(
    store: SqlStore, fresh_postgres: str
) -> None:
    session = await open_session(store)
    (run,) = await store.enqueue([new_request()])
    with psycopg.connect(fresh_postgres) as claiming:
        claiming.execute("SELECT 1 FROM duly.duly_instances FOR KEY SHARE")
        closing = asyncio.create_task(store.close_session(session))
        await waits_for_a_lock(fresh_postgres, closing)
        assert not closing.done()
        claiming.execute("UPDATE duly.duly_runs SET claimed_by = %s, fence = 1, attempt = 1", [session])
        claiming.commit()
    assert await closing == 1
    given_back = await store.get_run(run.id)
    assert given_back is not None
    assert (given_back.status, given_back.attempt) == ("pending", 0), "untried, and not left to recovery"


async def test_a_claim_waits_for_one_who_declares_its_session_dead_and_then_takes_nothing(
    store: SqlStore, fresh_postgres: str
) -> None:
    session = await open_session(store)
    (run,) = await store.enqueue([new_request()])
    with psycopg.connect(fresh_postgres) as recovery:
        recovery.execute("DELETE FROM duly.duly_instances WHERE session = %s", [session])
        claiming = asyncio.create_task(store.claim_runs(session, jobs=[run.job], limit=10))
        await waits_for_a_lock(fresh_postgres, claiming)
        assert not claiming.done(), "it must wait for the session, not believe what it saw before"
        recovery.commit()
    claimed = await claiming
    assert (claimed.alive, list(claimed.claims)) == (False, [])
    assert ask(fresh_postgres, "SELECT claimed_by FROM duly.duly_runs") == [None]


@pytest.mark.parametrize("outcome", [Completed(), Failed("no"), Failed("no", fatal=True), Released()], ids=str)
async def test_a_settle_that_meets_a_takeover_looks_again_when_it_has_the_row(
    store: SqlStore, fresh_postgres: str, outcome: Outcome
) -> None:
    zombie, other = await open_session(store), await open_session(store)
    await store.enqueue([new_request()])
    (claim,) = await claim_all(store, zombie)
    with psycopg.connect(fresh_postgres) as takeover:
        takeover.execute("UPDATE duly.duly_runs SET claimed_by = %s, fence = fence + 1", [other])
        settling = asyncio.create_task(store.settle([Settlement(claim, zombie, outcome, Retry())]))
        await waits_for_a_lock(fresh_postgres, settling)
        assert not settling.done(), "it must wait for the row, not believe what it saw before"
        takeover.commit()
    settled = await settling
    assert (settled.ended, list(settled.lost)) == ({}, [claim.id])
    assert ask(fresh_postgres, "SELECT fence FROM duly.duly_runs") == [claim.fence + 1]
    assert ask(fresh_postgres, "SELECT claimed_by FROM duly.duly_runs") == [other]


async def test_a_cancel_waits_for_one_who_gives_the_run_back_and_then_ends_it(
    store: SqlStore, fresh_postgres: str
) -> None:
    session = await open_session(store)
    (run,) = await store.enqueue([new_request()])
    await claim_all(store, session)
    with psycopg.connect(fresh_postgres) as returning:
        returning.execute("UPDATE duly.duly_runs SET claimed_by = NULL, hold = 4, due_at = due_at + 86400000")
        cancelling = asyncio.create_task(store.request_cancel(run.id))
        await waits_for_a_lock(fresh_postgres, cancelling)
        assert not cancelling.done(), "it must wait for the row, or the run sleeps on with its cancel"
        returning.commit()
    cancelled = await cancelling
    assert cancelled is not None
    assert cancelled.status == "cancelled"


@rule("G5")
@pytest.mark.parametrize("end", ["settle", "cancel"])
async def test_an_end_waits_for_one_who_enters_the_lane_and_lets_that_one_go(
    store: SqlStore, fresh_postgres: str, end: str
) -> None:
    terms = Singleton(key="import")
    session = await open_session(store)
    (first,) = await store.enqueue([new_request(singleton=terms)])
    with psycopg.connect(fresh_postgres) as entering:
        ending: asyncio.Task[object]
        if end == "settle":
            (claim,) = await claim_all(store, session)
        (second,) = await store.enqueue([new_request(singleton=terms)], connection=entering)
        if end == "settle":
            ending = asyncio.create_task(store.settle([completed(claim, session)]))
        else:
            ending = asyncio.create_task(store.request_cancel(first.id))
        await waits_for_a_lock(fresh_postgres, ending)
        assert not ending.done(), "it must wait for the lane, or it does not see who waits"
        entering.commit()
    await ending
    assert [claim.id for claim in await claim_all(store, session)] == [second.id]


async def test_who_asks_for_a_unique_run_waits_for_one_who_is_making_it(store: SqlStore, fresh_postgres: str) -> None:
    asked = [new_request(unique=Unique(key="digest")) for _ in range(2)]
    with psycopg.connect(fresh_postgres) as first:
        (made,) = await store.enqueue(asked[:1], connection=first)
        second = asyncio.create_task(store.enqueue(asked[1:]))
        await waits_for_a_lock(fresh_postgres, second)
        assert not second.done()
        first.commit()
    assert [run.id for run in await second] == [made.id]


async def test_a_refusal_in_the_callers_transaction_leaves_the_key_free(store: SqlStore, fresh_postgres: str) -> None:
    terms = Singleton(key="import", max_queued=0)
    await store.enqueue([new_request(singleton=terms)])
    unique = Unique(key="digest", for_ms=60_000)
    with psycopg.connect(fresh_postgres) as connection:
        with pytest.raises(SingletonQueueFull):
            await store.enqueue([new_request(singleton=terms, unique=unique)], connection=connection)
        connection.commit()
    request = new_request(unique=unique)
    assert [run.id for run in await store.enqueue([request])] == [request.id]


def pause(schedule: Schedule, now: int) -> Change:
    return editing.pause(schedule, now, reason="leave", until=None, by="ann")


async def test_a8_a_fire_leaves_alone_what_another_is_pausing(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    made = await put(store, "a")
    clock.at += HOUR
    with psycopg.connect(fresh_postgres) as pausing:
        await store.change_schedule(made.id, pause, connection=pausing)
        fired = await store.fire_due(limit=10, rules=RULES)
        assert (fired.windows, fired.more) == (0, False), "neither fired nor waited for"
        pausing.commit()
    assert (await store.fire_due(limit=10, rules=RULES)).windows == 0
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]


async def test_a8_a_pause_waits_for_the_fire_under_way_and_keeps_what_that_has_moved(
    store: SqlStore, clock: SetClock, fresh_postgres: str
) -> None:
    made = await put(store, "a")
    clock.at += HOUR
    with psycopg.connect(fresh_postgres) as firing:
        firing.execute(
            "UPDATE duly.duly_cursors SET window_at = next_window_at, next_window_at = next_window_at + 3600000,"
            " fire_at = fire_at + 3600000, fired = 1, status = 'active'"
        )
        pausing = asyncio.create_task(store.change_schedule(made.id, pause))
        await waits_for_a_lock(fresh_postgres, pausing)
        assert not pausing.done()
        firing.commit()
    paused = await pausing
    assert paused is not None
    assert (paused.cursor.window_at, paused.cursor.fired) == (made.cursor.next_window_at, 1)
    assert (paused.enabled, paused.cursor.fire_at) == (False, None)


async def test_a_repeated_enqueue_that_waits_for_the_end_of_its_run_does_not_bring_it_back(
    store: SqlStore, fresh_postgres: str
) -> None:
    request, another = new_request(owner="ann"), new_request()
    session = await open_session(store)
    await store.enqueue([request])
    (claim,) = await claim_all(store, session)
    with psycopg.connect(fresh_postgres) as settling:
        settling.execute(ENDING, [JOB])
        again = asyncio.create_task(store.enqueue([another, request]))
        await waits_for_a_lock(fresh_postgres, again)
        assert not again.done()
        settling.commit()
    made, answered = await again
    assert (made.id, made.status) == (another.id, "pending")
    assert (answered.id, answered.status, answered.fence) == (request.id, "completed", claim.fence)
    assert [claim.id for claim in await claim_all(store, session)] == [another.id], "an ended run does not run again"
