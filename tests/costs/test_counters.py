"""The counters count what they say, on tables made by hand."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import apsw
import psycopg
import pytest
from psycopg.pq import ExecStatus

from tests.conftest import need
from tests.costs.postgres_counter import PostgresCounter
from tests.costs.python_calls import PythonCalls
from tests.costs.sqlite_counter import SqliteCounter

SCHEMA = """
CREATE TABLE mails (id INTEGER PRIMARY KEY, recipient TEXT UNIQUE, day INTEGER, sent_at INTEGER, body TEXT);
CREATE INDEX mails_day ON mails (day);
CREATE INDEX mails_sent ON mails (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX mails_length ON mails (length(body));
INSERT INTO mails VALUES (1, 'ann', 1, NULL, 'hello'), (2, 'bob', 1, NULL, 'hello');
"""
TREE = """
CREATE TABLE words (word TEXT PRIMARY KEY, uses INTEGER, note TEXT) WITHOUT ROWID;
CREATE INDEX words_uses ON words (uses);
INSERT INTO words VALUES ('cron', 1, NULL);
"""
UPSERT = "INSERT INTO mails VALUES (9, 'ann', 5, NULL, 'x') ON CONFLICT (recipient) DO UPDATE SET day = excluded.day"
WRITTEN: list[tuple[str, int, int, int]] = [
    # rows, index entries on SQLite, and on PostgreSQL, where the primary key is one more index
    ("INSERT INTO mails VALUES (3, 'eve', 1, NULL, 'hi')", 1, 3, 4),
    ("INSERT INTO mails VALUES (3, 'eve', 1, 7, 'hi')", 1, 4, 5),
    ("INSERT INTO mails VALUES (9, 'ann', 1, 7, 'hi') ON CONFLICT DO NOTHING", 0, 0, 0),
    ("INSERT INTO mails SELECT id + 10, NULL, day, id, body FROM mails", 2, 8, 10),
    (UPSERT, 1, 1, 4),
    ("UPDATE mails SET day = 2 WHERE id = 1", 1, 1, 4),
    ("UPDATE mails SET sent_at = 7 WHERE id = 1", 1, 1, 5),
    ("UPDATE mails SET body = 'longer' WHERE id = 1", 1, 1, 4),
    ("UPDATE mails SET day = day", 2, 2, 0),  # SQLite writes the same entry again, PostgreSQL compares
    ("UPDATE mails SET sent_at = NULL", 2, 0, 0),
    ("UPDATE mails SET day = 4 WHERE id = 99", 0, 0, 0),
    ("DELETE FROM mails", 2, 0, 0),
]
TREE_WRITTEN = [
    ("INSERT INTO words VALUES ('zone', 1, NULL)", 1, 1),
    ("UPDATE words SET note = 'a rule'", 1, 0),
    ("UPDATE words SET uses = 2", 1, 1),
    ("UPDATE words SET word = 'at'", 1, 1),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mails.db"
    apsw.Connection(str(path)).execute(SCHEMA + TREE)
    return path


@pytest.fixture
def sqlite(file: Path) -> Iterator[tuple[SqliteCounter, apsw.Connection]]:
    counter = SqliteCounter(file)
    with counter.installed():
        connection = apsw.Connection(str(file))
    yield counter, connection
    connection.close()


@pytest.fixture
def postgres(fresh_postgres: str) -> Iterator[tuple[PostgresCounter, psycopg.Connection[Any]]]:
    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        connection.execute(SCHEMA)
    with need("postgres"):
        counter = PostgresCounter(fresh_postgres)
    with counter.installed(), psycopg.connect(fresh_postgres, autocommit=True) as connection:
        yield counter, connection


@pytest.mark.parametrize(("statement", "rows", "entries"), [row[:3] for row in WRITTEN] + TREE_WRITTEN)
def test_rows_and_index_entries_on_sqlite(
    sqlite: tuple[SqliteCounter, apsw.Connection], statement: str, rows: int, entries: int
) -> None:
    counter, connection = sqlite
    counter.start()
    connection.execute(statement)
    assert counter.stop() == {"statements": 1, "transactions": 0, "rows": rows, "index_entries": entries}


@pytest.mark.parametrize(("statement", "rows", "_", "entries"), WRITTEN)
def test_rows_and_index_entries_on_postgres(
    postgres: tuple[PostgresCounter, psycopg.Connection[Any]], statement: str, rows: int, _: int, entries: int
) -> None:
    counter, connection = postgres
    counter.start()
    connection.pgconn.exec_(statement.encode())
    figures = counter.stop()
    assert (figures["rows"], figures["index_entries"]) == (rows, entries)


def test_entries_that_split_pages_are_counted_once_on_postgres(
    postgres: tuple[PostgresCounter, psycopg.Connection[Any]],
) -> None:
    counter, connection = postgres
    connection.execute("CREATE TABLE wide (name TEXT)")
    connection.execute("CREATE INDEX wide_name ON wide (name)")
    connection.execute("ALTER TABLE wide ALTER name SET STORAGE PLAIN")
    counter.start()
    connection.execute("INSERT INTO wide SELECT md5(n::text) || repeat('x', 1500) FROM generate_series(1, 400) AS n")
    figures = counter.stop()
    (pages,) = connection.execute("SELECT pg_relation_size('wide_name') / 8192").fetchone() or (0,)
    assert pages > 100, "pages above the leaves were split as well"
    assert (figures["rows"], figures["index_entries"]) == (400, 400)


def test_statements_and_transactions_on_sqlite(sqlite: tuple[SqliteCounter, apsw.Connection]) -> None:
    counter, connection = sqlite
    counter.start()
    connection.execute("BEGIN IMMEDIATE; SAVEPOINT call; SELECT 1; RELEASE call; COMMIT").fetchall()
    connection.executemany("UPDATE mails SET day = ? WHERE id = ?", [(3, 1), (4, 2)])
    connection.execute("PRAGMA data_version").fetchall()
    figures = counter.stop()
    assert (figures["statements"], figures["transactions"], figures["rows"]) == (7, 1, 2)
    assert counter.statements[:2] == ["BEGIN IMMEDIATE;", "SAVEPOINT call;"]
    assert counter.statements[-1] == "UPDATE mails SET day = ? WHERE id = ?"


def run_simple_queries(connection: psycopg.Connection[Any]) -> None:
    connection.pgconn.exec_(b"BEGIN; SELECT 1")
    connection.pgconn.exec_(b"COMMIT")


def run_prepared(connection: psycopg.Connection[Any]) -> None:
    connection.pgconn.prepare(b"one", b"SELECT 1")
    connection.pgconn.exec_prepared(b"one", [])


def run_pipeline(connection: psycopg.Connection[Any]) -> None:
    pgconn = connection.pgconn
    pgconn.enter_pipeline_mode()
    for statement in (b"BEGIN", b"SELECT 1", b"COMMIT"):
        pgconn.send_query_params(statement, [])
    pgconn.pipeline_sync()
    while (result := pgconn.get_result()) is None or result.status != ExecStatus.PIPELINE_SYNC:
        pass
    pgconn.exit_pipeline_mode()


def run_refused(connection: psycopg.Connection[Any]) -> None:
    connection.pgconn.exec_(b"SELECT 1 / 0")


@pytest.mark.parametrize(
    ("run", "statements", "round_trips", "transactions"),
    [(run_simple_queries, 3, 2, 1), (run_prepared, 1, 2, 0), (run_pipeline, 3, 1, 1), (run_refused, 1, 1, 0)],
)
def test_statements_and_round_trips_on_postgres(
    postgres: tuple[PostgresCounter, psycopg.Connection[Any]],
    run: Callable[[psycopg.Connection[Any]], None],
    statements: int,
    round_trips: int,
    transactions: int,
) -> None:
    counter, connection = postgres
    counter.start()
    run(connection)
    figures = counter.stop()
    assert (figures["statements"], figures["round_trips"]) == (statements, round_trips)
    assert figures["transactions"] == transactions
    assert len(counter.statements) == round_trips
    assert counter.prepared is (run is run_prepared)


def test_other_databases_of_the_server_are_not_counted(
    postgres: tuple[PostgresCounter, psycopg.Connection[Any]], postgres_url: str
) -> None:
    counter, _ = postgres
    counter.start()
    with psycopg.Connection.connect(postgres_url) as other:
        other.execute("CREATE TEMPORARY TABLE elsewhere (id INTEGER PRIMARY KEY)")
        other.execute("CREATE TABLE elsewhere_too (id INTEGER PRIMARY KEY)")
        other.execute("INSERT INTO elsewhere_too SELECT generate_series(1, 10)")
        other.rollback()
    assert set(counter.stop().values()) == {0}


def functions_of(text: str) -> dict[str, Callable[..., Any]]:
    """Functions of a file that the counter does not leave out."""
    functions: dict[str, Callable[..., Any]] = {}
    exec(compile(text, "counted.py", "exec"), functions)
    return functions


def test_python_calls_of_all_threads_are_counted() -> None:
    down = functions_of("def down(n): return n and down(n - 1)")["down"]
    go, gone = Event(), Event()

    def work() -> None:
        go.wait()
        down(4)
        gone.set()
        go.clear()
        go.wait()

    counter = PythonCalls()
    with counter.installed():
        thread = Thread(target=work)
        thread.start()
        counter.wait_for_rest()
        counter.start()
        down(9)
        go.set()
        gone.wait()
        counter.stop()
        down(100)
        assert counter.total == 10 + 5
        go.set()
        thread.join()


async def test_python_calls_are_the_same_each_time_and_without_the_event_loop() -> None:
    wait: Callable[[], Awaitable[None]] = functions_of("import asyncio\nasync def wait(): await asyncio.sleep(0)")[
        "wait"
    ]
    counter = PythonCalls()
    totals = []
    for _ in range(3):
        counter.start()
        await asyncio.gather(*[wait() for _ in range(5)])
        counter.stop()
        totals.append(counter.total)
    assert totals == [10, 10, 10]  # each is entered, and goes on once
