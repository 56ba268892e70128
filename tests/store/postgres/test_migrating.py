"""The schema: set up once, whoever starts; refused when it is not ours or not of our time."""

import asyncio
import subprocess
import sys

import psycopg
import pytest

from duly.core.errors import SchemaMismatch
from duly.store.migrations import checksum
from duly.store.postgres import postgres_store, texts
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
    assert ask(fresh_postgres, "SELECT schema FROM duly.duly_meta") == [NEXT - 1]


OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)


async def test_a_store_that_refuses_to_open_keeps_no_connection(fresh_postgres: str):
    await open_store(fresh_postgres)
    tell(fresh_postgres, f"UPDATE duly.duly_meta SET schema = {NEXT}")
    store = postgres_store(fresh_postgres)
    with pytest.raises(SchemaMismatch):
        await store.open()
    while ask(fresh_postgres, OTHERS) != [0]:  # noqa: ASYNC110 - the server needs a moment to see that one has gone
        await asyncio.sleep(0.01)
    tell(fresh_postgres, f"UPDATE duly.duly_meta SET schema = {NEXT - 1}")
    await store.open()
    await store.close()


async def test_opening_again_changes_nothing(fresh_postgres: str):
    await open_store(fresh_postgres)
    before = ask(fresh_postgres, "SELECT store_id FROM duly.duly_meta")
    await open_store(fresh_postgres)
    assert ask(fresh_postgres, "SELECT store_id FROM duly.duly_meta") == before


async def test_a_newer_schema_is_refused_by_name(fresh_postgres: str):
    await open_store(fresh_postgres)
    tell(fresh_postgres, "UPDATE duly.duly_meta SET schema = 77")
    with pytest.raises(SchemaMismatch, match=rf"has schema 77.*knows schema {NEXT - 1}: install the newer duly"):
        await open_store(fresh_postgres, migrate=True)


@rule("E11")
@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE duly.duly_jobs (id int)",
        "CREATE TABLE duly.duly_meta (version text)",
        "CREATE VIEW duly.duly_x AS SELECT 1",
    ],
)
async def test_tables_of_others_with_our_prefix_are_rejected(fresh_postgres: str, table: str):
    tell(fresh_postgres, f"CREATE SCHEMA duly; {table}")
    with pytest.raises(
        SchemaMismatch, match=r"duly did not create \(duly_\w+\); use an empty database, or another schema"
    ):
        await open_store(fresh_postgres, migrate=True)
    assert ask(fresh_postgres, "SELECT count(*) FROM pg_class WHERE relname = 'duly_runs'") == [0]


async def test_tables_of_others_in_another_schema_do_not_matter(fresh_postgres: str):
    tell(fresh_postgres, "CREATE TABLE duly_runs (id int); CREATE TABLE duly_meta (version text)")
    await open_store(fresh_postgres)
    assert ask(fresh_postgres, "SELECT schema FROM duly.duly_meta") == [NEXT - 1]


DEVELOPMENT = (
    "CREATE TABLE {0}duly_meta (store_id text, epoch bigint, schema int); INSERT INTO {0}duly_meta VALUES ('a', 1, 35)"
)
"""What development versions left before there were checksums: such tables, at most in the schema public."""


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ("public", "use another database, or drop duly's tables in the schema public"),
        ("duly", "use an empty database, or another schema (?schema=… in the URL)"),
    ],
)
@pytest.mark.parametrize("migrate", [False, True])
async def test_a_database_of_a_development_version_is_rejected_until_the_hint_is_followed(
    fresh_postgres: str, schema: str, hint: str, migrate: bool
):
    tell(fresh_postgres, f"CREATE SCHEMA IF NOT EXISTS {schema}; {DEVELOPMENT.format(f'{schema}.')}")
    with pytest.raises(SchemaMismatch, match="created by an unreleased development version of duly") as told:
        await open_store(fresh_postgres, migrate=migrate)
    assert told.value.hint == hint
    assert ask(fresh_postgres, "SELECT count(*) FROM pg_class WHERE relname = 'duly_runs'") == [0]
    if schema == "public":
        tell(fresh_postgres, "DROP TABLE public.duly_meta")
        await open_store(fresh_postgres, migrate=migrate)
    else:
        await open_store(f"{fresh_postgres}?schema=jobs", migrate=migrate)


async def test_a_migration_that_was_changed_since_it_was_applied_is_rejected(
    fresh_postgres: str, monkeypatch: pytest.MonkeyPatch
):
    await open_store(fresh_postgres)
    (applied,) = ask(fresh_postgres, "SELECT checksum FROM duly.duly_migrations")
    script = texts.load_migrations()[1]
    assert applied == checksum(script)
    monkeypatch.setitem(texts.load_migrations(), 1, "-- another comment\n\n  " + script)
    await open_store(fresh_postgres)
    monkeypatch.setitem(texts.load_migrations(), 1, script + "CREATE TABLE duly.duly_more (id int);")
    with pytest.raises(
        SchemaMismatch, match=f"migration 1 has checksum {applied[:12]}, in this version of duly"
    ) as told:
        await open_store(fresh_postgres, migrate=True)
    assert (told.value.got, told.value.expected) == (applied, checksum(texts.load_migrations()[1]))
    tell(fresh_postgres, "DELETE FROM duly.duly_migrations")
    with pytest.raises(SchemaMismatch, match="migration 1 has checksum none"):
        await open_store(fresh_postgres)


async def test_an_older_schema_is_upgraded_only_when_asked(fresh_postgres: str, monkeypatch: pytest.MonkeyPatch):
    await open_store(fresh_postgres)
    second = "CREATE TABLE duly.duly_new (id int); CREATE INDEX ON duly.duly_new (id)"
    monkeypatch.setitem(texts.load_migrations(), NEXT, second)
    with pytest.raises(SchemaMismatch, match=rf"has schema {NEXT - 1}.*needs schema {NEXT}; run `duly db migrate`"):
        await open_store(fresh_postgres)
    await asyncio.gather(*(open_store(fresh_postgres, migrate=True) for _ in range(3)))
    assert ask(fresh_postgres, "SELECT schema FROM duly.duly_meta") == [NEXT]
    assert ask(fresh_postgres, "SELECT checksum FROM duly.duly_migrations WHERE number = 2") == [checksum(second)]
    await open_store(fresh_postgres)


async def test_a_migration_that_fails_leaves_the_old_schema(fresh_postgres: str, monkeypatch: pytest.MonkeyPatch):
    await open_store(fresh_postgres)
    monkeypatch.setitem(texts.load_migrations(), NEXT, "CREATE TABLE duly.duly_new (id int); SELECT 1 / 0")
    with pytest.raises(Exception, match="division by zero"):
        await open_store(fresh_postgres, migrate=True)
    assert ask(fresh_postgres, "SELECT schema FROM duly.duly_meta") == [NEXT - 1]


async def test_the_search_path_does_not_matter(fresh_postgres: str):
    tell(fresh_postgres, "CREATE SCHEMA other")
    store = postgres_store(f"{fresh_postgres}?options=-csearch_path%3Dother")
    await store.open()
    await put(store, "a")
    await store.close()
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_schedules") == [1]
    assert ask(fresh_postgres, "SELECT count(*) FROM pg_class WHERE relnamespace = 'other'::regnamespace") == [0]


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
