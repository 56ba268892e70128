"""Transactions commit in another order than they write: whoever reads by number misses none of them."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from duly import Duly, Every


@pytest.fixture
async def app(fresh_postgres: str) -> AsyncIterator[Duly]:
    app = Duly(fresh_postgres)
    await app.open()
    yield app
    await app.close()


async def read(app: Duly, after: int) -> list[tuple[int | None, str | None]]:
    await app._store.number_events(limit=100)
    read = await app._store.read_events(after=after, limit=100)
    return [(event.number, event.schedule_key) for event in read.events]


async def test_one_that_commits_late_is_read_after_those_that_came_before(app: Duly, fresh_postgres: str) -> None:
    await app._store.watch_events(lease_ms=600_000)
    async with await psycopg.AsyncConnection.connect(fresh_postgres) as connection:
        await app.schedules.create("slow", Every("1h"), job="x", connection=connection)
        await app.schedules.create("quick", Every("1h"), job="x", metadata={"tenant_id": "other"})
        assert await read(app, 0) == [(1, "quick")]
        await connection.commit()
        assert await read(app, 1) == [(2, "slow")]


async def test_one_that_is_rolled_back_was_never_told(app: Duly, fresh_postgres: str) -> None:
    await app._store.watch_events(lease_ms=600_000)
    async with await psycopg.AsyncConnection.connect(fresh_postgres) as connection:
        await app.schedules.create("gone", Every("1h"), job="x", connection=connection)
        await connection.rollback()
    await app.schedules.create("kept", Every("1h"), job="x")
    assert await read(app, 0) == [(1, "kept")]
