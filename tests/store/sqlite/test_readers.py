"""Readers: snapshots beside the writer."""

import asyncio
from contextlib import suppress

import pytest

from duly.core.errors import RunActive, StoreError, StoreUnavailable
from duly.store.sqlite import SqliteDriver
from duly.store.sqlite.statements import compile_statements, load_statements
from duly.store.statements import Program, query
from tests.store.sqlite.conftest import Opener
from tests.store.sqlite.making import Gate, add


async def test_a_read_goes_on_while_a_write_is_under_way(driver: SqliteDriver) -> None:
    gate = Gate()
    writing = await gate.enter(driver.write)
    assert await driver.read(_instances) == []
    gate.open()
    await writing


async def test_a_read_sees_one_state_of_the_store(driver: SqliteDriver) -> None:
    gate = Gate()
    counts: list[int] = []

    def twice(now: int) -> Program[None]:
        for _ in range(2):
            rows = yield query("hold_session", session=1)
            counts.append(len(rows))
            if len(counts) == 1:
                yield from gate.transaction(now)

    reading = await gate.enter(lambda _: driver.read(twice))
    await driver.write(_open_session)
    gate.open()
    await reading
    assert counts == [0, 0]
    await driver.read(twice)
    assert counts[2:] == [1, 1]


async def test_a_read_cannot_write(driver: SqliteDriver) -> None:
    with pytest.raises(StoreError):
        await driver.read(add("t"))


async def test_an_error_of_a_read_is_its_callers_alone(driver: SqliteDriver) -> None:
    def refuse(now: int) -> Program[None]:
        yield query("live_instances", now=now)
        raise RunActive("not now")

    answers = await asyncio.gather(
        driver.read(refuse), driver.read(_instances), driver.read(refuse), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [RunActive, list, RunActive]


async def test_a_read_that_takes_too_long_is_given_up_and_stopped(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    monkeypatch.setitem(load_statements(), "endless", compile_statements(endless))
    driver = await opener(time_limit=0.05, readers=1)
    with pytest.raises(StoreUnavailable):
        await driver.read(_endless)
    assert await asyncio.to_thread(_first_answer, driver) == []


def _first_answer(driver: SqliteDriver) -> list[object]:
    """Ask until the only reader is free again."""
    while True:
        with suppress(StoreUnavailable):
            return driver.read_sync(_instances)


def _instances(now: int) -> Program[list[object]]:
    rows = yield query("live_instances", now=now)
    return list(rows)


def _endless(now: int) -> Program[None]:
    yield query("endless")


def _open_session(now: int) -> Program[None]:
    words = dict.fromkeys(("name", "host", "roles", "version", "tz_version", "jobs"), "[]")
    yield query("insert_instance", session=1, pid=1, started_at=now, expires_at=now, **words)
