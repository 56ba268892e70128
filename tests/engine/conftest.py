"""The laboratory on each store."""

import asyncio
import inspect
from collections.abc import AsyncIterator

import pytest

from duly.store.postgres import postgres_store
from duly.store.sql import SqlStore
from duly.store.sqlite import SqliteDriver
from duly.testing import ManualClock
from tests.engine.lab import Lab

STORES = ("sqlite", "postgres")
OF_THE_ENGINE = frozenset(
    f"tests.engine.test_{name}" for name in "auditor cancel deadlines janitor jumps queues ramp suspects worker".split()
)
"""What these modules tell of is decided in the engine, over hours and days of a manual clock; that every store answers
it alike is the contract's to show. The first test of each is on PostgreSQL too. Modules about leases, leaders, lost
answers and ends are on both in full: there the threads of a real driver matter."""


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the stores of a test that has not chosen them itself."""
    name = metafunc.module.__name__
    if "lab" not in metafunc.fixturenames or name not in OF_THE_ENGINE:
        return
    in_laboratory = (each for each, found in vars(metafunc.module).items() if _is_in_laboratory(each, found))
    if metafunc.function.__name__ != next(in_laboratory, None):
        metafunc.definition.add_marker(pytest.mark.parametrize("lab", ["sqlite"], indirect=True))


def _is_in_laboratory(name: str, found: object) -> bool:
    return name.startswith("test_") and inspect.isfunction(found) and "lab" in inspect.signature(found).parameters


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=STORES)
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
