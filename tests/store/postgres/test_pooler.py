"""Through PgBouncer in transaction mode, where every transaction may meet another server process."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from duly.core.run import RunStatus
from duly.store.postgres import postgres_store
from duly.store.postgres.address import read_address
from duly.store.postgres.connections import Connections
from duly.store.postgres.driver import PostgresDriver
from duly.store.sql import SqlStore
from tests.store.postgres.making import PATIENT, RULES, SetClock, ask, claim_all, completed, open_session, put

HOUR = 3_600_000


@pytest.fixture(params=["noticed", "told"])
async def pooled(
    request: pytest.FixtureRequest, fresh_postgres: str, fresh_pgbouncer: str, clock: SetClock
) -> AsyncIterator[SqlStore]:
    """A store through the pooler, with the schema set up; the pooler is noticed, or the URL says so."""
    url = fresh_pgbouncer if request.param == "noticed" else f"{fresh_pgbouncer}?prepare=false"
    store = postgres_store(url, clock=clock, limits=PATIENT)
    await store.open()
    yield store
    await store.close()


async def test_schedules_fire_and_runs_are_claimed_and_settled(pooled: SqlStore, clock: SetClock, fresh_postgres: str):
    session = await open_session(pooled)
    await asyncio.gather(*(put(pooled, f"k{n}") for n in range(20)))
    for turn in range(5):
        clock.at += HOUR
        fired = await asyncio.gather(*(pooled.fire_due(limit=10, rules=RULES) for _ in range(4)))
        assert sum(one.runs for one in fired) == 20
        claims = [
            claim for part in await asyncio.gather(*(claim_all(pooled, session) for _ in range(4))) for claim in part
        ]
        settled = await pooled.settle([completed(claim, session) for claim in claims])
        assert list(settled.ended.values()) == [RunStatus.COMPLETED] * 20
        assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_history") == [20 * (turn + 1)]
    assert ask(fresh_postgres, "SELECT count(*) FROM pg_prepared_statements") == [0]


async def test_prepared_statements_that_get_lost_are_given_up(fresh_pgbouncer: str, clock: SetClock):
    store = postgres_store(fresh_pgbouncer, clock=clock, prepare=True, limits=PATIENT)
    await store.open()
    await asyncio.gather(*(put(store, f"k{n}") for n in range(60)))
    found = await asyncio.gather(*(store.get_schedule(f"k{n}") for n in range(60)))
    assert None not in found
    await store.close()


async def test_a_connection_that_was_lent_when_preparing_ended_is_not_lent_again(fresh_postgres: str):
    connections = Connections(read_address(fresh_postgres, PATIENT), keep=4, prepare=True)
    lent, idle = connections.take(), connections.take()
    connections.give_back(idle)
    connections.stop_preparing()
    connections.give_back(lent)
    assert (idle.broken, lent.broken) == (True, True)
    later = connections.take()
    assert later.connection.prepare_threshold is None
    connections.give_back(later)
    assert connections.take() is later
    connections.close()
    later.close()


async def test_nobody_listens_on_a_pooled_connection_and_somebody_is_told(
    fresh_pgbouncer: str, fresh_postgres: str, caplog: pytest.LogCaptureFixture
):
    driver = PostgresDriver(fresh_pgbouncer)
    await driver.open()
    driver.on_hint(lambda topic: None)
    assert driver._listener is not None
    await asyncio.to_thread(driver._listener._thread.join, 60)
    assert "listen_url" in caplog.text
    assert any("listen_url" in warning for warning in await driver.checks())
    await driver.close()


async def test_hints_come_by_a_direct_connection_of_their_own(
    fresh_pgbouncer: str, fresh_postgres: str, hints_are_sent: None
):
    heard: asyncio.Queue[str] = asyncio.Queue()
    here, there = (PostgresDriver(fresh_pgbouncer, listen_url=fresh_postgres, limits=PATIENT) for _ in range(2))
    await here.open()
    there.on_hint(heard.put_nowait)
    await there.open()
    assert there._listener is not None
    assert await asyncio.to_thread(there._listener.ready.wait, 60)
    here.hint("runs")
    async with asyncio.timeout(60):
        assert await heard.get() == "runs"
    assert not any("pooler" in warning for warning in await here.checks())
    await here.close()
    await there.close()
