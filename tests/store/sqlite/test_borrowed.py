"""Programs on the caller's own connection: the caller's transaction decides."""

import sqlite3  # to see it refused
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from duly.core.errors import RunActive, StoreUnavailable, ValidationFailed
from duly.store.sqlite import SqliteDriver
from tests.store.sqlite.conftest import Opener
from tests.store.sqlite.making import add, add_then_raise, slots


@pytest.fixture
def mine(driver: SqliteDriver, path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    yield connection
    connection.close()


async def test_what_is_written_is_the_callers_to_commit(driver: SqliteDriver, mine: apsw.Connection) -> None:
    mine.execute("BEGIN IMMEDIATE; INSERT INTO orders VALUES (1)")
    assert await driver.write_on(mine, add("t")) == 1
    assert mine.in_transaction
    assert slots(driver) == {}
    mine.execute("COMMIT")
    assert slots(driver) == {"t": 1}


async def test_a_rollback_of_the_caller_leaves_nothing(driver: SqliteDriver, mine: apsw.Connection) -> None:
    mine.execute("BEGIN; INSERT INTO orders VALUES (1)")
    await driver.write_on(mine, add("t"))
    mine.execute("ROLLBACK")
    assert slots(driver) == {}
    assert mine.execute("SELECT count(*) FROM orders").get == 0


async def test_an_error_undoes_the_program_and_not_the_callers_work(
    driver: SqliteDriver, mine: apsw.Connection
) -> None:
    mine.execute("BEGIN IMMEDIATE; INSERT INTO orders VALUES (1)")
    with pytest.raises(RunActive):
        await driver.write_on(mine, add_then_raise("t", RunActive("not now")))
    mine.execute("COMMIT")
    assert slots(driver) == {}
    assert mine.execute("SELECT count(*) FROM orders").get == 1


async def test_a_row_trace_of_the_caller_does_not_bend_our_rows(driver: SqliteDriver, mine: apsw.Connection) -> None:
    mine.row_trace = lambda cursor, row: {"row": row}
    mine.execute("BEGIN IMMEDIATE")
    assert await driver.write_on(mine, add("t")) == 1
    mine.execute("ROLLBACK")


async def test_a_lock_that_cannot_be_had_is_an_unavailable_store(
    driver: SqliteDriver, mine: apsw.Connection, path: Path
) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    mine.execute("BEGIN")
    with pytest.raises(StoreUnavailable):
        await driver.write_on(mine, add("t"))
    other.close()


async def test_a_connection_of_the_standard_library_is_refused_with_the_reason(
    driver: SqliteDriver, tmp_path: Path
) -> None:
    class Mine(sqlite3.Connection):
        pass

    for connection in (sqlite3.connect(":memory:"), Mine(":memory:")):
        with pytest.raises(ValidationFailed, match="second copy of SQLite") as caught:
            await driver.write_on(connection, add("t"))
        assert caught.value.field == "connection"
        connection.close()


async def test_a_connection_that_does_not_fit_is_refused(
    driver: SqliteDriver, opener: Opener, mine: apsw.Connection, tmp_path: Path
) -> None:
    with pytest.raises(ValidationFailed, match="no transaction open"):
        await driver.write_on(mine, add("t"))
    with pytest.raises(ValidationFailed, match="connection is a str"):
        await driver.write_on("duly.db", add("t"))
    for name in (":memory:", str(tmp_path / "other.db")):
        other = apsw.Connection(name)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ValidationFailed, match="the store is in"):
            await driver.write_on(other, add("t"))
        other.close()
