"""Calls that wait for a thread: behind whom, and for how long."""

import asyncio
import threading
from collections.abc import AsyncIterator
from functools import partial

import pytest

from duly.core.errors import StoreUnavailable
from duly.store.postgres.driver import PostgresDriver
from duly.store.sealing import sealing
from duly.store.sql import SqlStore
from duly.store.statements import Program
from tests.app.conftest import until
from tests.store.postgres.making import (
    PATIENT,
    RULES,
    Ahead,
    SetClock,
    ask,
    claim_all,
    completed,
    held_rows,
    new_id,
    open_session,
    put,
)
from tests.store.sealing import KEY_A

HOUR = 3_600_000
THREADS = 4
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
HELD = (
    "SELECT FROM duly.duly_cursors c JOIN duly.duly_schedules s ON s.id = c.schedule_id WHERE s.key = 'held'"
    " FOR UPDATE OF c"
)


@pytest.mark.parametrize("keys", [[], [KEY_A]], ids=["plain", "sealed"])
async def test_the_engine_does_not_wait_behind_callers_who_wait_for_one_schedule(
    store: SqlStore, clock: SetClock, fresh_postgres: str, keys: list[str]
) -> None:
    store = SqlStore(sealing(store.driver, keys))
    held, _ = await put(store, "held"), await put(store, "due")
    clock.at += HOUR
    session = await open_session(store)
    with held_rows(fresh_postgres, HELD):
        trigger = partial(store.trigger, held.id, payload=None, force=True, rules=RULES)
        callers = [asyncio.create_task(trigger(run_id=new_id())) for _ in range(2 * THREADS)]
        await until(lambda: ask(fresh_postgres, WAITING) == [THREADS])
        async with asyncio.timeout(30):
            assert (await store.fire_due(limit=10, rules=RULES)).runs == 1
            (claim,) = await claim_all(store, session)
            assert (await store.settle([completed(claim, session)])).ended == {claim.id: "completed"}
            assert (await store.beat(session, lease_ms=60_000)).alive
            assert (await store.take_lost(limit=10, rules=RULES)).runs == []
            assert await store.take_lease("janitor", session, lease_ms=60_000) is not None
            assert await store.now() == clock.at
            await store.close_session(session)
        assert not any(caller.done() for caller in callers)
    assert None not in await asyncio.gather(*callers)


@pytest.fixture
async def narrow(fresh_postgres: str) -> AsyncIterator[PostgresDriver]:
    """A driver with one thread for callers."""
    driver = PostgresDriver(fresh_postgres, connections=1, limits=PATIENT)
    await driver.open()
    yield driver
    await driver.close()


@pytest.mark.parametrize("kind", ["write", "read"])
async def test_the_limit_of_a_call_counts_its_wait_for_a_thread(
    narrow: PostgresDriver, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, free, begun = Ahead(), threading.Event(), []
    monkeypatch.setattr(narrow._transactions._watchdog, "_clock", clock)

    def program(now: int) -> Program[None]:
        begun.append(now)
        yield from ()

    other = asyncio.create_task(narrow._threads.run(partial(free.wait, 60)))
    await asyncio.sleep(0)
    late = asyncio.create_task(getattr(narrow, kind)(program))
    await asyncio.sleep(0)
    clock.by = PATIENT.operation
    free.set()
    with pytest.raises(StoreUnavailable, match="did not come to this call within 90 s; nothing was done"):
        await late
    assert (await other, begun) == (True, [])
