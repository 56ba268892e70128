"""Databases that former versions of duly made, kept as they were, are upgraded: no row is lost, and they fire."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from psycopg import sql

from duly import Duly
from duly.core.errors import SchemaMismatch
from duly.store.postgres import postgres_store
from duly.store.postgres.texts import load_migrations as postgres_migrations
from duly.store.sql import SqlStore
from duly.store.sqlite import open_store
from duly.store.sqlite.migrating import load_migrations
from duly.testing import ManualClock
from tests.contract.suite import Trial

KEPT = sorted((Path(__file__).parent / "upgrades").glob("*.sql"))
AFTER = "2026-12-01T07:30:00Z"
"""Long after the kept databases were made: each recurring schedule owes a fire."""
OF_ITS_TIME = {"duly_meta", "duly_leases", "duly_instances", "duly_watch"}
"""Tables that are about the present."""
FIRST_RELEASE = 35
"""The schema of the first release: from here on an older instance goes on working beside a newer one."""
ADDED_LATER = {"0001": ("duly_schedules_app",), "0025": ("duly_runs_unanswered",)}
"""Indexes that older scripts were given before there was a release."""
TAKES_AWAY = re.compile(
    r"\bDROP\b|\bRENAME\b|\bALTER\s+COLUMN\b|ADD COLUMN(?![^,;]*DEFAULT)[^,;]*NOT NULL", re.IGNORECASE
)

Rows = dict[str, list[dict[str, Any]]]


def rows_of(dump: str) -> Rows:
    """What a kept database holds, by table and column."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(dump)
        return read(connection)


def read(connection: sqlite3.Connection) -> Rows:
    connection.row_factory = sqlite3.Row
    tables = [row["name"] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {table: [dict(row) for row in connection.execute(f"SELECT * FROM {table}")] for table in tables}


def postgres_at(url: str, schema: int, rows: Rows) -> None:
    """Set PostgreSQL up as it was at a schema, with the same rows: all values go as text, the server reads them."""
    with psycopg.connect(url) as connection:
        for number, text in postgres_migrations().items():
            if number <= schema:
                connection.execute(text)
        for table, found in rows.items():
            if table in OF_ITS_TIME - {"duly_meta"}:
                continue
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            for row in found:
                names = sql.SQL(", ").join(map(sql.Identifier, row))
                values = sql.SQL(", ").join(
                    sql.SQL("NULL") if value is None else sql.Literal(str(value)) for value in row.values()
                )
                into = sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})")
                connection.execute(into.format(sql.Identifier(table), names, values))


def postgres_rows(url: str, before: Rows) -> Rows:
    found: Rows = {}
    with psycopg.connect(url) as connection:
        for table, rows in before.items():
            if not rows or table in OF_ITS_TIME:
                continue
            names = list(rows[0])
            texts = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(name)) for name in names)
            answer = connection.execute(sql.SQL("SELECT {} FROM {}").format(texts, sql.Identifier(table)))
            found[table] = [dict(zip(names, row, strict=True)) for row in answer]
    return found


def lost(before: Rows, after: Rows) -> list[str]:
    """Rows that are not there any more as they were, in the columns that they had."""
    gone = []
    for table, rows in before.items():
        if table in OF_ITS_TIME or not rows:
            continue
        there = {_text(row, rows[0]) for row in after[table]}
        gone += [f"{table}: {_text(row, row)}" for row in rows if _text(row, row) not in there]
    return gone


def _text(row: dict[str, Any], names: dict[str, Any]) -> str:
    return str([None if row[name] is None else str(row[name]) for name in sorted(names)])


@pytest.fixture(params=KEPT, ids=lambda path: path.stem)
def kept(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(request: pytest.FixtureRequest, kept: Path, tmp_path: Path) -> Iterator[tuple[str, SqlStore, Rows]]:
    """The URL of a kept database, a store that upgrades it when it is opened, and what it held."""
    before, clock = rows_of(kept.read_text()), ManualClock(AFTER)
    if request.param == "sqlite":
        path = tmp_path / "old.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(kept.read_text())
        yield f"sqlite:////{str(path).lstrip('/')}", open_store(path, clock=clock), before
    else:
        url = str(request.getfixturevalue("fresh_postgres"))
        postgres_at(url, int(kept.stem), before)
        yield url, postgres_store(url, clock=clock, migrate=True), before


async def test_a_database_of_a_former_version_keeps_its_rows_and_fires(upgraded: tuple[str, SqlStore, Rows]) -> None:
    url, store, before = upgraded
    await store.open()
    try:
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
                after = read(connection)
        else:
            after = postgres_rows(url, before)
        assert lost(before, after) == []
        trial = Trial(store, ManualClock(AFTER))
        fired = await trial.fire()
        assert fired.runs == 2, "the nightly and the hourly one, the newest window of each"
        worker = await trial.worker("work", "elsewhere")
        claims = await worker.claim()
        assert sorted((claim.job, claim.key, claim.payload) for claim in claims if claim.key) == [
            ("work", "hourly", '{"text":"è"}'),
            ("work", "nightly", '{"n":1}'),
        ]
        assert [claim.payload for claim in claims if claim.job == "elsewhere"] == ['{"n":2}']
        for claim in claims:
            await worker.complete(claim)
    finally:
        await store.close()
    await _is_as_it_was(url, before)


async def _is_as_it_was(url: str, before: Rows) -> None:
    async with Duly(url, clock=ManualClock(AFTER), roles=()) as app:
        schedules = {one.key: one for one in (await app.schedules.list()).items}
        assert schedules.keys() == {"nightly", "hourly", "later", "paused"}
        assert (schedules["paused"].enabled, schedules["paused"].paused_reason) == (False, "not now")
        assert schedules["hourly"].tags == ("a", "b")
        (dead,) = [run for run in (await app.runs.list(status="failed")).items if run.job == "bad"]
        assert dead.error_message == "Fatal: no luck"
        flows = [row["id"] for row in before["duly_runs"] if row["job"].startswith("workflow:")]
        for id in flows:
            steps = await app.workflows.steps(id)
            assert [step.name for step in steps] == ["1", "first", "go"]
            await app.workflows.signal(id, "go")


def test_the_newest_schema_is_kept() -> None:
    """Whoever adds a migration first keeps a database of the time before: see ``upgrades/keep.py``."""
    known = [number for number in load_migrations() if number < max(load_migrations())]
    assert int(KEPT[-1].stem) >= known[-1]


def test_a_migration_stays_as_it_was(kept: Path) -> None:
    """What the scripts make today, up to a schema, is what they made then."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(kept.read_text())
        then = dict(connection.execute("SELECT name, sql FROM sqlite_schema").fetchall())
    today = apsw.Connection(":memory:")
    for number, script in load_migrations().items():
        if number <= int(kept.stem):
            today.execute(script)
    made = {str(name): text for name, text in today.execute("SELECT name, sql FROM sqlite_schema")}
    assert {name: text for name, text in made.items() if name not in ADDED_LATER.get(kept.stem, ())} == then


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_since_the_first_release_migrations_only_add(dialect: str) -> None:
    texts = load_migrations() if dialect == "sqlite" else {n: t.decode() for n, t in postgres_migrations().items()}
    for number, text in texts.items():
        if number > FIRST_RELEASE:
            assert not TAKES_AWAY.search(re.sub(r"--.*", "", text)), number
    for bad in ("DROP TABLE x", "ALTER TABLE x RENAME COLUMN a TO b", "ALTER TABLE x ADD COLUMN a TEXT NOT NULL"):
        assert TAKES_AWAY.search(bad)
    assert not TAKES_AWAY.search("ALTER TABLE x ADD COLUMN a TEXT NOT NULL DEFAULT ''")


async def test_an_older_duly_refuses_a_newer_schema_and_goes_on_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version migrates while an older one runs: that one goes on, and is refused when it starts again."""
    older = open_store(tmp_path / "x.db", clock=ManualClock(AFTER))
    await older.open()
    newer = max(load_migrations()) + 1
    monkeypatch.setitem(
        load_migrations(), newer, "ALTER TABLE duly_runs ADD COLUMN colour TEXT; CREATE TABLE duly_x (id)"
    )
    upgraded = open_store(tmp_path / "x.db", clock=ManualClock(AFTER))
    await upgraded.open()
    monkeypatch.delitem(load_migrations(), newer)
    trial, other = Trial(older, ManualClock(AFTER)), Trial(upgraded, ManualClock(AFTER))
    run = await trial.enqueue()
    worker = await other.worker()
    assert (await worker.claim_one()).id == run.id
    made = await other.enqueue()
    assert (await (await trial.worker()).claim_one()).id == made.id
    await older.close()
    with pytest.raises(SchemaMismatch, match=f"schema {newer}"):
        await open_store(tmp_path / "x.db", clock=ManualClock(AFTER)).open()
    await upgraded.close()
