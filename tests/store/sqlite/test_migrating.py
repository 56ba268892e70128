"""Migrations: applied once by whoever is first; what is not ours is refused and left as it was."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from duly.core.errors import SchemaMismatch
from duly.store.migrations import checksum
from duly.store.sqlite import SqliteDriver
from duly.store.sqlite.migrating import load_migrations
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.store.sqlite.conftest import Opener
from tests.store.sqlite.making import add

NEXT = max(load_migrations()) + 1
OPENER = """
import asyncio, sys
from duly.runtime.clock import SystemClock
from duly.store.migrations import checksum
from duly.store.sqlite import SqliteDriver
from tests.store.sqlite.making import add

async def main():
    driver = SqliteDriver(sys.argv[1], clock=SystemClock(), busy_timeout=60.0, time_limit=120.0)
    print("ready", flush=True)
    sys.stdin.readline()
    await driver.open()
    await driver.write(add("t"))
    await driver.close()

asyncio.run(main())
"""


@pytest.fixture
def raw(path: Path) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(path))) as connection:
        yield connection


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_files_of_the_schema_are_counted_without_a_double(dialect: str) -> None:
    names = sorted(file.name for file in (files(f"duly.store.{dialect}") / "schema").iterdir())
    numbers = [int(name[:4]) for name in names if name.endswith(".sql")]
    assert numbers == sorted(set(numbers))  # a gap is a number that was given out and not used
    assert (numbers[0], numbers[-1]) == (1, NEXT - 1)


@rule("E10")
@pytest.mark.processes
@pytest.mark.timeout(300)
def test_ten_processes_that_start_at_once_set_up_one_schema(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(10)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("SELECT schema, epoch FROM duly_meta").fetchall() == [(max(load_migrations()), 1)]
        assert connection.execute("SELECT slots FROM duly_tenants").get == 10
        assert connection.pragma("integrity_check") == "ok"


async def test_the_store_keeps_its_id(opener: Opener, raw: apsw.Connection) -> None:
    await opener()
    first = raw.execute("SELECT store_id FROM duly_meta").get
    await opener()
    assert raw.execute("SELECT store_id FROM duly_meta").get == first


async def test_tables_of_others_beside_ours_are_left_alone(opener: Opener, raw: apsw.Connection) -> None:
    raw.execute("CREATE TABLE orders (id); CREATE TABLE dulywed (id); INSERT INTO orders VALUES (1)")
    driver = await opener()
    assert await driver.write(add("t")) == 1
    assert raw.execute("SELECT count(*) FROM orders").get == 1


@rule("E11")
@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("CREATE TABLE duly_runs (id)", "duly_runs"),
        ("CREATE TABLE Duly_Things (id)", "Duly_Things"),
        ("CREATE VIEW duly_view AS SELECT 1", "duly_view"),
        ("CREATE TABLE duly_meta (key, value)", "duly_meta"),
        ("CREATE TABLE duly_meta (store_id, epoch, schema)", "duly_meta has 0 rows"),
        (load_migrations()[1], "duly_meta has 0 rows"),
        (
            "CREATE TABLE duly_meta (store_id, epoch, schema, tz_version, firing_paused_at);"
            "INSERT INTO duly_meta VALUES ('x', 1, 35, NULL, NULL); CREATE TABLE duly_schedules (id, name)",
            "created by an unreleased development version of duly, which no version upgrades; use another",
        ),
        (
            "CREATE TABLE duly_meta (store_id, epoch, schema); INSERT INTO duly_meta VALUES ('x', 1, 1);"
            "CREATE TABLE duly_migrations (number, checksum);"
            f"INSERT INTO duly_migrations VALUES (1, '{checksum(load_migrations()[1])}')",
            "duly_attempts has columns",
        ),
    ],
)
async def test_tables_that_are_not_ours_are_refused_by_name(
    opener: Opener, raw: apsw.Connection, script: str, named: str
) -> None:
    raw.execute(script)
    before = raw.execute("SELECT * FROM sqlite_schema").fetchall()
    with pytest.raises(SchemaMismatch, match=named):
        await opener()
    assert raw.execute("SELECT * FROM sqlite_schema").fetchall() == before
    assert raw.pragma("journal_mode") == "delete"


async def test_a_table_that_was_changed_is_refused_by_name(opener: Opener, raw: apsw.Connection) -> None:
    await (await opener()).close()
    raw.execute("ALTER TABLE duly_runs ADD COLUMN colour TEXT")
    with pytest.raises(SchemaMismatch, match=r"table duly_runs has columns .*, colour"):
        await opener()


async def test_a_newer_schema_is_refused_naming_both_versions(opener: Opener, raw: apsw.Connection) -> None:
    await (await opener()).close()
    raw.execute("UPDATE duly_meta SET schema = 99; ALTER TABLE duly_meta ADD COLUMN more TEXT")
    with pytest.raises(SchemaMismatch, match=f"schema 99, .* knows schema {max(load_migrations())}: install"):
        await opener()


async def test_a_migration_that_was_changed_since_it_was_applied_is_rejected(
    opener: Opener, raw: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await opener()).close()
    applied = str(raw.execute("SELECT checksum FROM duly_migrations").get)
    script = load_migrations()[1]
    monkeypatch.setitem(load_migrations(), 1, "-- another comment\n" + script)
    await (await opener()).close()
    monkeypatch.setitem(load_migrations(), 1, script + "CREATE TABLE duly_more (id);")
    with pytest.raises(
        SchemaMismatch, match=f"migration 1 has checksum {applied[:12]}, in this version of duly"
    ) as told:
        await opener()
    assert (told.value.got, told.value.expected) == (applied, checksum(load_migrations()[1]))


async def test_an_older_schema_is_upgraded(
    opener: Opener, raw: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await opener()).close()
    monkeypatch.setitem(load_migrations(), NEXT, "ALTER TABLE duly_tenants ADD COLUMN quota INTEGER")
    await opener()
    assert raw.execute("SELECT schema FROM duly_meta").get == NEXT
    assert raw.execute("SELECT number FROM duly_migrations ORDER BY number").fetchall() == [(NEXT - 1,), (NEXT,)]
    await opener()


async def test_a_migration_that_fails_changes_nothing(
    opener: Opener, raw: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(load_migrations(), NEXT, "CREATE TABLE duly_more (id); CREATE TABLE duly_more (id)")
    with pytest.raises(Exception, match="duly_more already exists"):
        await opener()
    assert raw.execute("SELECT count(*) FROM sqlite_schema").get == 0


async def test_a_database_in_memory_is_a_copy_of_what_the_scripts_make_and_a_store_of_its_own(path: Path) -> None:
    drivers = [SqliteDriver(place, clock=ManualClock(), inline=True) for place in (path, ":memory:", ":memory:")]
    found, own = [], set()
    for driver in drivers:
        await driver.open()
        assert driver._inline is not None
        connection = driver._inline._connection
        schema = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        tables = [str(name) for kind, name, _ in schema if kind == "table"]
        counts = {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in tables}
        [(store, secret, *meta)] = connection.execute(
            "SELECT store_id, value, epoch, schema FROM duly_meta, duly_secrets"
        )
        own |= {store, secret}
        found.append((schema, counts, meta))
        assert await driver.write(add("t")) == 1  # a row in one is in no other
    assert found[0] == found[1] == found[2]
    assert len(own) == 6
    for driver in drivers:
        await driver.close()
