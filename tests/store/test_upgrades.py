"""Upgrades, shown by a second migration that only these tests know: no row is lost, whoever upgrades and whenever."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from duly import Duly, Every
from duly.app.stores import open_store
from duly.core.errors import SchemaMismatch
from duly.store.migrations import checksum
from duly.store.postgres.texts import load_migrations as postgres_migrations
from duly.store.sql import SqlStore
from duly.store.sqlite.migrating import load_migrations as sqlite_migrations
from duly.testing import ManualClock
from tests.contract.suite import Trial
from tests.counting import at_least
from tests.store_choice import EACH_STORE

NOW = "2026-12-01T07:30:00Z"
LATER = "2027-12-01T07:30:00Z"
FIRST_RELEASE = 1
"""The schema of the first release: later migrations only add, so an older instance keeps working beside a newer one."""
TAKES_AWAY = re.compile(
    r"\bDROP\b|\bRENAME\b|\bALTER\s+COLUMN\b|ADD COLUMN(?![^,;]*DEFAULT)[^,;]*NOT NULL", re.IGNORECASE
)
SECOND = {
    "sqlite": "ALTER TABLE duly_runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"
    " CREATE TABLE duly_colours (id TEXT NOT NULL PRIMARY KEY) STRICT;"
    " INSERT INTO duly_colours SELECT id FROM duly_runs; CREATE INDEX duly_runs_colour ON duly_runs (colour)",
    "postgres": "ALTER TABLE duly.duly_runs ADD COLUMN colour text NOT NULL DEFAULT 'red';"
    " CREATE TABLE duly.duly_colours (id uuid PRIMARY KEY);"
    " INSERT INTO duly.duly_colours SELECT id FROM duly.duly_runs;"
    " CREATE INDEX duly_runs_colour ON duly.duly_runs (colour)",
}
ABOUT_THE_PRESENT = {"duly_meta", "duly_migrations", "duly_leases", "duly_instances", "duly_watch", "duly_colours"}
UPGRADE = """
import os, signal, sys
from importlib import import_module
from duly.app.stores import open_store
from duly.runtime.clock import SystemClock

dialect, url, script, killed = sys.argv[1:]
migrating = import_module(f"duly.store.{dialect}.migrating")
migrating.load_migrations()[2] = script
checksum = migrating.checksum

def die(text):
    if text == script:  # asked for when the migration has run and is not recorded yet
        os.kill(os.getpid(), signal.SIGKILL)
    return checksum(text)

if killed == "killed":
    migrating.checksum = die
print("ready", flush=True)
sys.stdin.readline()
driver = open_store(url, SystemClock(), migrate=True).driver
driver.open_sync()
driver.close_sync()
"""

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(params=EACH_STORE)
def dialect(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def url(dialect: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of the first schema with rows in it."""
    if dialect == "sqlite":
        url = f"sqlite:////{str(tmp_path / 'old.db').lstrip('/')}"
    else:
        url = request.getfixturevalue("fresh_postgres")
    app = Duly(url, clock=ManualClock(NOW))
    with app.sync as scheduler:
        scheduler.schedules.create("hourly", Every("1h"), job="work", payload={"text": "è"}, tags=["a", "b"])
        scheduler.schedules.create("daily", Every("1d"), job="work", catch_up="latest")
        scheduler.schedules.create("paused", Every("5m"), job="work")
        scheduler.schedules.pause("paused", reason="not now")
        scheduler.enqueue("elsewhere", {"n": 2})
        scheduler.enqueue("elsewhere", {"n": 3}, queue="slow")
        scheduler.queues.set("slow", max_running=1)
    return url


@pytest.fixture
def with_second(dialect: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make this process the newer version, when called."""
    scripts = sqlite_migrations() if dialect == "sqlite" else postgres_migrations()
    return lambda: monkeypatch.setitem(scripts, 2, SECOND[dialect])


def store_at(url: str, *, migrate: bool = False) -> SqlStore:
    return open_store(url, ManualClock(LATER), migrate=migrate)


def rows_of(url: str) -> Rows:
    """What is stored, by table and column."""
    if url.startswith("sqlite"):
        with closing(apsw.Connection("/" + url.removeprefix("sqlite:////"))) as connection:
            names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return {name: _rows(connection, name) for name in names}
    with psycopg.connect(url) as postgres:
        found = postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'duly'").fetchall()
        asked = "SELECT coalesce(json_agg(to_jsonb(t)), '[]') FROM duly.{} AS t"
        return {name: postgres.execute(asked.format(name).encode()).fetchall()[0][0] for (name,) in found}


def _rows(connection: apsw.Connection, table: str) -> list[dict[str, Any]]:
    names = [str(name) for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    return [dict(zip(names, row, strict=True)) for row in connection.execute(f"SELECT * FROM {table}")]


def lost(before: Rows, after: Rows) -> list[str]:
    """Return the rows that are missing or changed, in the columns that they had before."""
    gone = []
    for table, rows in at_least(list(before.items()), 37, "tables"):
        if table not in ABOUT_THE_PRESENT:
            there = {_text(row, rows[0]) for row in after[table]} if rows else set()
            gone += [f"{table}: {_text(row, row)}" for row in rows if _text(row, row) not in there]
    return gone


def _text(row: dict[str, Any], names: dict[str, Any]) -> str:
    return json.dumps([row.get(name) for name in sorted(names)])


def is_upgraded(url: str, dialect: str, before: Rows) -> bool:
    after = rows_of(url)
    (meta,) = after["duly_meta"]
    applied = {row["number"]: row["checksum"] for row in after["duly_migrations"]}
    assert lost(before, after) == []
    if meta["schema"] == 1:
        assert applied.keys() == {1}
        assert "duly_colours" not in after
        assert all("colour" not in row for row in after["duly_runs"])
        return False
    assert meta["schema"] == 2
    assert applied.keys() == {1, 2}
    assert applied[2] == checksum(SECOND[dialect])
    assert len(after["duly_colours"]) == len(after["duly_runs"]) == 2
    assert {row["colour"] for row in after["duly_runs"]} == {"red"}
    return True


async def works(url: str) -> None:
    """Schedules fire and runs are done, on what was stored before the upgrade."""
    store = store_at(url)
    await store.open()
    try:
        trial = Trial(store, ManualClock(LATER))
        assert (await trial.fire()).runs == 2, "the newest window of the hourly and the daily one"
        worker = await trial.worker("work", "elsewhere")
        claims = await worker.claim()
        assert sorted((claim.job, claim.payload) for claim in claims) == [
            ("elsewhere", '{"n":2}'),
            ("elsewhere", '{"n":3}'),
            ("work", '{"text":"è"}'),
            ("work", "{}"),
        ]
        for claim in claims:
            await worker.complete(claim)
    finally:
        await store.close()


def start(many: int, dialect: str, url: str, killed: str = "") -> Sequence["subprocess.CompletedProcess[str]"]:
    """Upgrade in ``many`` processes at once."""
    command = [sys.executable, "-c", UPGRADE, dialect, url, SECOND[dialect], killed]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    processes = [subprocess.Popen(command, text=True, **pipes) for _ in range(many)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [
        subprocess.CompletedProcess(command, process.returncode, *outputs)
        for process in processes
        for outputs in [process.communicate()]
    ]


async def test_a_database_with_rows_is_upgraded_and_works(
    dialect: str, url: str, with_second: Callable[[], None]
) -> None:
    before = rows_of(url)
    assert sum(map(len, before.values())) > 15
    with_second()
    store = store_at(url, migrate=True)
    await store.open()
    await store.close()
    assert is_upgraded(url, dialect, before)
    await works(url)


@pytest.mark.processes
@pytest.mark.timeout(300)
async def test_ten_processes_that_upgrade_at_once_upgrade_once(
    dialect: str, url: str, with_second: Callable[[], None]
) -> None:
    before = rows_of(url)
    ended = start(10, dialect, url)
    assert [(one.returncode, one.stderr) for one in ended] == [(0, "")] * 10
    assert is_upgraded(url, dialect, before)
    with_second()
    await works(url)


@pytest.mark.processes
@pytest.mark.timeout(300)
async def test_an_upgrade_that_is_killed_half_way_changes_nothing_and_the_next_one_does_it(
    dialect: str, url: str, with_second: Callable[[], None]
) -> None:
    before = rows_of(url)
    (killed,) = start(1, dialect, url, "killed")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not is_upgraded(url, dialect, before)
    older = store_at(url)  # the version before still starts
    await older.open()
    await older.close()
    (again,) = start(1, dialect, url)
    assert (again.returncode, again.stderr) == (0, "")
    assert is_upgraded(url, dialect, before)
    with_second()
    await works(url)


async def test_an_older_instance_goes_on_beside_an_upgrade_and_does_not_start_again(
    dialect: str, url: str, with_second: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, clock = rows_of(url), ManualClock(LATER)
    older = store_at(url)
    await older.open()
    trial = Trial(older, clock)
    worker = await trial.worker("old", "new")
    for _ in range(6):  # until its statements are prepared
        run = await trial.enqueue("old")
        claim = await worker.claim_one()
        assert claim.id == run.id
        await worker.complete(claim)
    with_second()
    newer = store_at(url, migrate=True)
    await newer.open()
    assert is_upgraded(url, dialect, before)
    other = Trial(newer, ManualClock("2027-12-01T07:30:01Z"))  # it counts its ids from there
    colleague = await other.worker("old", session=100)
    for _ in range(3):
        run = await other.enqueue("new")
        claim = await worker.claim_one()
        assert claim.id == run.id, "the older instance claims what the newer one stores"
        await worker.complete(claim)
        run = await trial.enqueue("old")
        claim = await colleague.claim_one()
        assert claim.id == run.id, "and the newer one what the older one stores"
        await colleague.complete(claim)
    assert (await trial.fire()).runs == 2
    await older.close()
    await newer.close()
    monkeypatch.undo()
    for migrate in (False, True):
        with pytest.raises(SchemaMismatch, match=r"has schema 2, .* knows schema 1: install the newer duly"):
            await store_at(url, migrate=migrate).open()


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
def test_there_is_one_migration_until_the_first_release(name: str) -> None:
    names = sorted(file.name for file in (files(f"duly.store.{name}") / "schema").iterdir())
    assert names == ["0001_initial.sql"]


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
def test_migrations_after_the_first_release_only_add(name: str) -> None:
    scripts = sqlite_migrations() if name == "sqlite" else postgres_migrations()
    assert FIRST_RELEASE in scripts
    for number, script in scripts.items():
        if number > FIRST_RELEASE:
            assert not TAKES_AWAY.search(re.sub(r"--.*", "", script)), number
    for bad in ("DROP TABLE x", "ALTER TABLE x RENAME COLUMN a TO b", "ALTER TABLE x ADD COLUMN a TEXT NOT NULL"):
        assert TAKES_AWAY.search(bad)
    assert not TAKES_AWAY.search(SECOND[name])


def test_a_checksum_is_of_what_a_script_does_and_not_of_how_it_looks() -> None:
    script = "CREATE TABLE a (b int);"
    assert (
        checksum(script)
        == checksum(f"-- Why.\r\n  {script.replace(' ', '  ')}\n")
        != checksum("CREATE TABLE a (c int);")
    )
