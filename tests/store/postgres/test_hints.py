"""Hints reach other instances, never the one that gave them, and never break anything."""

import asyncio
import queue
from collections.abc import AsyncIterator
from contextlib import suppress

import psycopg
import pytest

from duly.core.errors import StoreUnavailable
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.hinting import Hinter
from tests.store.postgres.making import PATIENT
from tests.threads import deny_threads


@pytest.fixture
async def drivers(fresh_postgres: str, hints_are_sent: None) -> AsyncIterator[list[PostgresDriver]]:
    drivers = [PostgresDriver(fresh_postgres, limits=PATIENT) for _ in range(2)]
    for driver in drivers:
        await driver.open()
    yield drivers
    for driver in drivers:
        await driver.close()


async def listening(driver: PostgresDriver) -> "asyncio.Queue[str]":
    heard: asyncio.Queue[str] = asyncio.Queue()
    driver.on_hint(heard.put_nowait)
    assert driver._listener is not None
    assert await asyncio.to_thread(driver._listener.ready.wait, 60)
    return heard


async def test_a_hint_reaches_the_other_instance_and_not_its_sender(drivers: list[PostgresDriver]):
    here, there = drivers
    heard_here, heard_there = await listening(here), await listening(there)
    here.hint("runs")
    async with asyncio.timeout(60):
        assert await heard_there.get() == "runs"
        there.hint("schedules")
        assert await heard_here.get() == "schedules"
    assert heard_here.empty()


async def test_hints_of_one_moment_are_one(drivers: list[PostgresDriver]):
    here, there = drivers
    heard = await listening(there)
    with here._hinter._changed:  # one moment, however long it takes: nothing is sent meanwhile
        for _ in range(1000):
            here.hint("runs")
    here.hint("done")
    told: list[str] = []
    async with asyncio.timeout(60):
        while not {"runs", "done"} <= set(told):
            told.append(await heard.get())
    assert told.count("runs") == 1


async def test_a_listener_whose_connection_breaks_comes_back(drivers: list[PostgresDriver], fresh_postgres: str):
    here, there = drivers
    heard = await listening(there)
    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")
    async with asyncio.timeout(60):
        while True:
            here.hint("runs")
            with suppress(TimeoutError):
                assert await asyncio.wait_for(heard.get(), 0.1) == "runs"
                return


async def test_a_hint_that_cannot_be_sent_is_dropped(fresh_postgres: str):
    driver = PostgresDriver(fresh_postgres.replace("127.0.0.1:", "127.0.0.1:1"))
    driver.hint("runs")
    await driver.close()
    driver.hint("runs")


async def test_a_hint_that_has_no_thread_is_dropped_and_the_next_is_sent(monkeypatch: pytest.MonkeyPatch):
    deny_threads(monkeypatch, "duly-postgres-hints", times=2)
    sent: queue.SimpleQueue[str] = queue.SimpleQueue()
    hinter = Hinter(sent.put, "me")
    hinter.hint("runs")
    hinter.hint("runs")
    assert sent.empty()
    hinter.hint("runs")
    assert "me runs" in await asyncio.to_thread(sent.get, timeout=60)
    hinter.close()


async def test_a_hinter_that_never_had_a_thread_can_be_closed(monkeypatch: pytest.MonkeyPatch):
    deny_threads(monkeypatch, "duly-postgres-hints")
    hinter = Hinter(lambda hints: None, "me")
    hinter.hint("runs")
    hinter.close()


async def test_a_listener_that_has_no_thread_is_told_and_the_next_one_listens(
    drivers: list[PostgresDriver], monkeypatch: pytest.MonkeyPatch
):
    here, there = drivers
    deny_threads(monkeypatch, "duly-postgres-listen")
    with pytest.raises(StoreUnavailable, match="no thread to listen on: can't start"):
        there.on_hint(lambda topic: None)
    heard = await listening(there)
    here.hint("runs")
    async with asyncio.timeout(60):
        assert await heard.get() == "runs"
