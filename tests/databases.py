"""Databases for tests: new and empty ones, and ones with the schema, which tests use one after another."""

import json
import re
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw
import psycopg
from psycopg import sql

from duly.core.database_schema import DEFAULT_SCHEMA
from duly.runtime.clock import SystemClock
from duly.store.postgres.limits import Limits
from duly.store.postgres.migrating import prepare_schema
from duly.store.sqlite import SqliteDriver
from duly.store.sqlite.connecting import FILE_MODE

_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'duly'::regnamespace AND relkind = 'r' ORDER BY 1"
_ALONE = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
# Whatever defines a table, an index, a constraint, a function or a setting leaves a row of a newer transaction.
_SHAPE = """
    SELECT (SELECT json_agg(relname ORDER BY oid) FROM pg_class WHERE relnamespace = 'duly'::regnamespace)::text,
           (SELECT max(xmin::text::bigint) FROM pg_attribute WHERE attrelid >= 16384),
           (SELECT max(xmin::text::bigint) FROM pg_constraint WHERE oid >= 16384),
           (SELECT max(xmin::text::bigint) FROM pg_index WHERE indexrelid >= 16384),
           (SELECT max(xmin::text::bigint) FROM pg_trigger),
           (SELECT max(xmin::text::bigint) FROM pg_proc WHERE oid >= 16384),
           (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase <> 0)
"""


@contextmanager
def fresh_database(postgres_url: str, template: str = "template1") -> Iterator[str]:
    """Give the URL of a new, empty database on that server; drop it afterwards, whoever is still connected.

    With another template it is a copy of that one, to which nobody may be connected.
    """
    name = f"duly_test_{uuid.uuid4().hex[:12]}"
    _administer(postgres_url, "CREATE DATABASE {} TEMPLATE {}", name, template)
    try:
        yield with_database(postgres_url, name)
    finally:
        _administer(postgres_url, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


class ReadyDatabases:
    """Databases with the schema and nothing else in them.

    The first is set up, others are copies of it. A database that a test has left is emptied for the next, which takes
    a tenth of the time of a new one, unless the test changed more than rows: then it is dropped.
    """

    def __init__(self, postgres_url: str) -> None:
        self._server = postgres_url
        self._names: list[str] = []
        self._free: list[str] = []
        self._shape: Any = None
        self._emptied = ""

    @contextmanager
    def one(self) -> Iterator[str]:
        """Give the URL of one of them, for one test."""
        name = self._free.pop() if self._free else self._new()
        url = with_database(self._server, name)
        try:
            yield url
        finally:
            if self._empty(url):
                self._free.append(name)
            else:
                self._drop(name)

    def close(self) -> None:
        """Drop them all."""
        for name in list(self._names):
            self._drop(name)

    def template(self) -> str:
        """Return the name of the database that they are copies of; nobody is connected to it."""
        if not self._names:
            template = self._named("duly_template", "CREATE DATABASE {}")
            with psycopg.connect(with_database(self._server, template), autocommit=True) as connection:
                prepare_schema(connection, Limits(), DEFAULT_SCHEMA, migrate=True)
                self._emptied = _emptying(connection)
        return self._names[0]

    def _new(self) -> str:
        name = self._named("duly_test", "CREATE DATABASE {} TEMPLATE {}", self.template())
        with psycopg.connect(with_database(self._server, name), autocommit=True) as connection:
            connection.execute(self._emptied.encode())
            self._shape = self._shape or connection.execute(_SHAPE).fetchone()
        return name

    def _named(self, prefix: str, statement: str, *others: str) -> str:
        name = f"{prefix}_{uuid.uuid4().hex[:12]}"
        _administer(self._server, statement, name, *others)
        self._names.append(name)
        return name

    def _empty(self, url: str) -> bool:
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(_ALONE)
                if connection.execute(_SHAPE).fetchone() != self._shape:
                    return False
                connection.execute(self._emptied.encode())
        except psycopg.Error:
            return False
        return True

    def _drop(self, name: str) -> None:
        self._names.remove(name)
        _administer(self._server, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def _emptying(connection: psycopg.Connection[Any]) -> str:
    """The statements that give every table the rows that it has now, and the store an identity of its own."""
    parts = ["SELECT setval(oid, 1, false) FROM pg_class WHERE relnamespace = 'duly'::regnamespace AND relkind = 'S'"]
    for (table,) in connection.execute(_TABLES).fetchall():
        table = f"duly.{table}"
        parts.append(f"DELETE FROM {table}")
        rows = connection.execute(f"SELECT json_agg(t) FROM {table} t".encode()).fetchone()
        if rows and rows[0]:
            kept = sql.Literal(json.dumps(rows[0])).as_string(connection)
            parts.append(f"INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, {kept})")
    parts.append("UPDATE duly.duly_meta SET store_id = gen_random_uuid()::text")
    parts.append("UPDATE duly.duly_secrets SET value = gen_random_uuid()::text || gen_random_uuid()::text")
    return "; ".join(parts)


def ready_file(folder: Path, name: str = "duly.db") -> Path:
    """A file of SQLite in that folder; if it is new, it has the schema and nothing else in it, and an id of its own."""
    path = folder / name
    if not path.exists():
        content, store_id, secret = _pattern()
        path.touch(FILE_MODE)
        content = content.replace(store_id, str(uuid.uuid4()).encode())
        path.write_bytes(content.replace(secret, 2 * uuid.uuid4().hex.encode()))
    return path


@cache
def _pattern() -> tuple[bytes, bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "duly.db"
        driver = SqliteDriver(path, clock=SystemClock())
        driver.open_sync()
        driver.close_sync()
        with closing(apsw.Connection(str(path))) as connection:
            store_id = str(connection.execute("SELECT store_id FROM duly_meta").get)
            secret = str(connection.execute("SELECT value FROM duly_secrets").get)
        return path.read_bytes(), store_id.encode(), secret.encode()


def in_duly(statement: str) -> str:
    """Return the statement as PostgreSQL wants it: its tables in the schema duly."""
    return re.sub(r"(?<=\s)(?<!INDEX )duly_", "duly.duly_", statement)  # a new index is where its table is


def in_store(url: str, statement: str) -> str:
    """Return the statement as the database of the URL wants it."""
    return statement if url.startswith("sqlite") else in_duly(statement)


def with_database(url: str, name: str) -> str:
    """The same URL with another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _administer(url: str, statement: str, *names: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
