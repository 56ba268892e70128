"""The databases that tests are given one after another hold what a new one holds, whatever the last test did."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from duly import Duly, Every
from tests.databases import ReadyDatabases, ready_file, with_database

TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'duly'::regnamespace AND relkind = 'r' ORDER BY 1"
OWN = "SELECT store_id, value FROM duly.duly_meta, duly.duly_secrets"
SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"


@pytest.fixture
def own(postgres_url: str) -> Iterator[ReadyDatabases]:
    databases = ReadyDatabases(postgres_url)
    yield databases
    databases.close()


def ask(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def all_of(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row, except for what is the store's own, and where the numbers have come to."""
    rows = "SELECT to_jsonb(t) - 'store_id' FROM {} t ORDER BY 1"
    found = {table: ask(url, rows.format(f"duly.{table}")) for (table,) in ask(url, TABLES) if table != "duly_secrets"}
    return {**found, "sequences": ask(url, SEQUENCES)}


async def test_the_next_test_finds_a_database_as_it_was_and_another_store(own: ReadyDatabases):
    with own.one() as first:
        new, store = all_of(first), ask(first, OWN)
        app = Duly(first, roles=())
        app.job("x")(lambda: None)
        async with app:
            await app.schedules.create("k", Every(seconds=60), job="x")
            await app.schedules.pause("k")
        ask(first, "UPDATE duly.duly_meta SET epoch = 7")
        assert {table for table, rows in all_of(first).items() if rows != new[table]} > {"duly_schedules", "duly_meta"}
    with own.one() as second:
        assert second == first
        assert all_of(second) == new
        assert not {*store[0]} & {*ask(second, OWN)[0]}


def test_whoever_is_still_connected_is_sent_away(own: ReadyDatabases):
    with own.one() as url:
        guest = psycopg.connect(url)
        guest.execute("UPDATE duly.duly_meta SET epoch = 7")
    with pytest.raises(psycopg.OperationalError):
        guest.commit()
    guest.close()
    with own.one() as again:
        assert again == url
        assert ask(again, "SELECT epoch FROM duly.duly_meta") == [(1,)]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE duly.duly_runs ADD COLUMN more int",
        "ALTER TABLE duly.duly_runs ALTER COLUMN job DROP NOT NULL",
        "ALTER TABLE duly.duly_runs ADD CHECK (job <> 'no')",
        "DROP INDEX duly.duly_schedules_client_request",
        "CREATE TABLE more (x int)",
        "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 64', current_database()); END $$",
    ],
)
def test_a_database_of_another_shape_is_not_used_again(own: ReadyDatabases, change: str):
    with own.one() as changed:
        ask(changed, change)
    with own.one() as url:
        assert url != changed
    assert len(own._names) == 2


def test_none_is_left_behind(postgres_url: str):
    databases = ReadyDatabases(postgres_url)
    with databases.one() as first, databases.one() as second:
        assert first != second
    made = list(databases._names)
    assert len(made) == 3  # with the one that they are copies of
    databases.close()
    for name in made:
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg.connect(with_database(postgres_url, name))


async def test_a_ready_file_is_what_duly_makes_with_an_id_of_its_own(tmp_path: Path):
    made = tmp_path / "made.db"
    app = Duly(f"sqlite:////{str(made).lstrip('/')}")
    await app.open()
    await app.close()
    one, other = ready_file(tmp_path, "one.db"), ready_file(tmp_path, "other.db")
    assert len({own for path in (made, one, other) for own in file_of(path)[1]}) == 6
    assert file_of(made)[0] == file_of(one)[0] == file_of(other)[0]
    assert made.stat().st_mode == one.stat().st_mode
    assert file_of(ready_file(tmp_path, "one.db")) == file_of(one)


def file_of(path: Path) -> tuple[Any, list[str]]:
    """Its journal, schema and rows, and what is the store's own."""
    with closing(apsw.Connection(str(path))) as connection:
        schema = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        tables = [name for kind, name, _ in schema if kind == "table" and name not in ("duly_meta", "duly_migrations")]
        rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
        meta = connection.execute("SELECT * FROM duly_meta").fetchall()
        own = [str(one) for one in connection.execute(OWN.replace("duly.", "")).fetchall()[0]]
        bare = str((rows, meta)).replace(own[0], "").replace(own[1], "")
        return (connection.pragma("journal_mode"), schema, bare), own
