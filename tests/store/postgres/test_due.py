"""A fire that comes a moment early: it begins when the server's clock shows the instant, never before."""

from collections.abc import AsyncIterator

import pytest

from duly.store.postgres import postgres_store
from duly.store.sql import SqlStore
from duly.store.statements import Program
from tests.store.postgres.making import PATIENT


@pytest.fixture
async def store(fresh_postgres: str) -> AsyncIterator[SqlStore]:
    """A store that goes by the server's clock."""
    store = postgres_store(fresh_postgres, limits=PATIENT)
    await store.open()
    yield store
    await store.close()


def read_clock(now: int) -> Program[int]:
    yield from ()
    return now


async def test_what_is_due_in_a_moment_is_waited_for(store: SqlStore) -> None:
    for _ in range(20):
        due = await store.now() + 4
        began = await store.driver.write(read_clock, due=due)
        assert due <= began <= await store.now()


async def test_what_is_due_later_or_already_begins_at_once(store: SqlStore) -> None:
    before = await store.now()
    assert before <= await store.driver.write(read_clock, due=before + 60_000) < before + 60_000
    assert before <= await store.driver.write(read_clock, due=before - 1)
