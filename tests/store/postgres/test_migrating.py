"""The schema: set up once, whoever starts; refused when it is not ours or not of our time."""

import asyncio
import subprocess
import sys

import psycopg
import pytest

from duly.core.errors import SchemaMismatch
from duly.store.postgres import migrating, postgres_store, texts
from duly.store.postgres.driver import PostgresDriver
from tests.acceptance.rules import rule
from tests.store.postgres.making import ask, put

NEXT = max(texts.load_migrations()) + 1
OPEN = """
import sys
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.limits import Limits
driver = PostgresDriver(sys.argv[1], limits=Limits(connect=60))
print("ready", flush=True)
sys.stdin.readline()
driver.open_sync()
driver.close_sync()
"""


def tell(url: str, text: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(text.encode())


async def open_store(url: str, *, migrate: bool = False) -> None:
    store = postgres_store(url, migrate=migrate)
    try:
        await store.open()
    finally:
        await store.close()


@rule("E10")
@pytest.mark.processes
@pytest.mark.timeout(300)
def test_ten_processes_set_up_one_empty_database(fresh_postgres: str):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, fresh_postgres],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(10)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate()[1] for process in started]
    assert errors == [""] * 10
    assert [process.returncode for process in started] == [0] * 10
    assert ask(fresh_postgres, "SELECT schema FROM duly_meta") == [NEXT - 1]


OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)


async def test_a_store_that_refuses_to_open_keeps_no_connection(fresh_postgres: str):
    await open_store(fresh_postgres)
    tell(fresh_postgres, f"UPDATE duly_meta SET schema = {NEXT}")
    store = postgres_store(fresh_postgres)
    with pytest.raises(SchemaMismatch):
        await store.open()
    while ask(fresh_postgres, OTHERS) != [0]:  # noqa: ASYNC110 - the server needs a moment to see that one has gone
        await asyncio.sleep(0.01)
    tell(fresh_postgres, f"UPDATE duly_meta SET schema = {NEXT - 1}")
    await store.open()
    await store.close()


async def test_opening_again_changes_nothing(fresh_postgres: str):
    await open_store(fresh_postgres)
    before = ask(fresh_postgres, "SELECT store_id FROM duly_meta")
    await open_store(fresh_postgres)
    assert ask(fresh_postgres, "SELECT store_id FROM duly_meta") == before


async def test_a_newer_schema_is_refused_by_name(fresh_postgres: str):
    await open_store(fresh_postgres)
    tell(fresh_postgres, "UPDATE duly_meta SET schema = 77")
    with pytest.raises(SchemaMismatch, match=rf"has schema 77.*knows schema {NEXT - 1}.*install the newer duly"):
        await open_store(fresh_postgres, migrate=True)


@rule("E11")
@pytest.mark.parametrize(
    "table",
    ["CREATE TABLE duly_jobs (id int)", "CREATE TABLE duly_meta (version text)", "CREATE VIEW duly_x AS SELECT 1"],
)
async def test_tables_of_others_with_our_prefix_are_refused(fresh_postgres: str, table: str):
    tell(fresh_postgres, table)
    with pytest.raises(SchemaMismatch, match="not duly's: duly_"):
        await open_store(fresh_postgres, migrate=True)
    assert ask(fresh_postgres, "SELECT count(*) FROM pg_class WHERE relname = 'duly_runs'") == [0]


async def test_an_older_schema_is_upgraded_only_when_asked(fresh_postgres: str, monkeypatch: pytest.MonkeyPatch):
    await open_store(fresh_postgres)
    steps = texts.load_migrations() | {NEXT: b"CREATE TABLE duly_new (id int); CREATE INDEX ON duly_new (id)"}
    monkeypatch.setattr(migrating, "load_migrations", lambda: steps)
    with pytest.raises(SchemaMismatch, match=rf"has schema {NEXT - 1}.*needs schema {NEXT}; run `duly db migrate`"):
        await open_store(fresh_postgres)
    await asyncio.gather(*(open_store(fresh_postgres, migrate=True) for _ in range(3)))
    assert ask(fresh_postgres, "SELECT schema FROM duly_meta") == [NEXT]
    await open_store(fresh_postgres)


async def test_a_migration_that_fails_leaves_the_old_schema(fresh_postgres: str, monkeypatch: pytest.MonkeyPatch):
    await open_store(fresh_postgres)
    steps = texts.load_migrations() | {NEXT: b"CREATE TABLE duly_new (id int); SELECT 1 / 0"}
    monkeypatch.setattr(migrating, "load_migrations", lambda: steps)
    with pytest.raises(Exception, match="division by zero"):
        await open_store(fresh_postgres, migrate=True)
    assert ask(fresh_postgres, "SELECT schema FROM duly_meta") == [NEXT - 1]


async def test_a_schema_of_the_search_path_is_used(fresh_postgres: str):
    tell(fresh_postgres, "CREATE SCHEMA other")
    await open_store(fresh_postgres)
    elsewhere = f"{fresh_postgres}?options=-csearch_path%3Dother"
    store = postgres_store(elsewhere)
    await store.open()
    await put(store, "a")
    await store.close()
    assert ask(fresh_postgres, "SELECT count(*) FROM other.duly_schedules") == [1]
    assert ask(fresh_postgres, "SELECT count(*) FROM public.duly_schedules") == [0]


async def test_settings_that_weaken_a_promise_are_told(fresh_postgres: str):
    tell(fresh_postgres, "ALTER DATABASE " + fresh_postgres.rpartition("/")[2] + " SET synchronous_commit = off")
    driver = PostgresDriver(fresh_postgres)
    await driver.open()
    warnings = " ".join(await driver.checks())
    await driver.close()
    assert "synchronous_commit is off" in warnings
    # The servers of the tests trade safety for speed.
    assert "fsync is off" in warnings
    assert "full_page_writes is off" in warnings
    assert "standby" not in warnings
    assert "pooler" not in warnings
