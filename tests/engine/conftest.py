"""The laboratory on each store."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from duly.store.postgres import postgres_store
from duly.store.sql import SqlStore
from duly.store.sqlite import SqliteDriver
from duly.testing import ManualClock
from tests.engine.lab import Lab
from tests.store_choice import EACH_STORE


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=EACH_STORE)
async def lab(request: pytest.FixtureRequest, clock: ManualClock) -> AsyncIterator[Lab]:
    """A laboratory; what it started is stopped at the end, and no task may be left."""
    if request.param == "sqlite":
        store = SqlStore(SqliteDriver(":memory:", clock=clock))
    else:
        store = postgres_store(request.getfixturevalue("ready_postgres"), clock=clock)
    await store.open()
    lab = Lab(store, clock)
    try:
        yield lab
        lab.store.up()
        for instance in list(lab.instances):
            await lab.stop(instance)
    finally:
        await _end_tasks()
        await store.close()


async def _end_tasks() -> None:
    """End what a failed test left behind, also handlers that do not listen."""
    for _ in range(50):
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.05)
