"""Counts what PostgreSQL does for every connection that psycopg opens while it is installed.

Statements, round trips and transactions are read from the protocol itself, which libpq writes down (``PQtrace``). A
statement is an ``Execute``, or one that a simple query completes; a round trip is a ``ReadyForQuery``, which a client
gets for every ``Sync`` and every simple query; a transaction is one that a ``BEGIN`` or ``START TRANSACTION`` begins.

Rows and index entries are read from the write-ahead log (``pg_walinspect``), for the tables and B-trees of the test's
database alone. A row is an insert, an update or a delete in a heap. An index entry is an insert into a leaf page, with
or without a split of it: an update that stays on its page and touches no indexed column (HOT) writes none, any other
update writes one into every index that has room for it by its predicate. Autovacuum is off in that database.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg
from psycopg.pq import Trace

from tests.servers import ServerAbsent

_SETUP = """
CREATE EXTENSION pg_walinspect;
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND oid >= 16384 LOOP
        EXECUTE 'ALTER TABLE ' || name || ' SET (autovacuum_enabled = false)';
    END LOOP;
END $$;
"""
_FILES = """
SELECT (SELECT oid FROM pg_database WHERE datname = current_database())::text || '/' || pg_relation_filenode(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'i') AND n.nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema')
"""
_MARK = "SELECT pg_logical_emit_message(true, '', '')::text"
"""A record of its own, whose commit brings everything before it to the disk, where it can be read."""

_RECORDS = """
SELECT resource_manager || '/' || split_part(record_type, '+', 1),
       substring(description FROM 'level:? (\\d+)'),
       substring(block_ref FROM 'rel \\d+/(\\d+/\\d+)')
FROM pg_get_wal_records_info(%s, pg_current_wal_flush_lsn()) WHERE resource_manager IN ('Heap', 'Heap2', 'Btree')
"""
_ROWS = frozenset({"Heap/INSERT", "Heap/UPDATE", "Heap/HOT_UPDATE", "Heap/DELETE"})
_ENTRIES = frozenset({"Btree/INSERT_LEAF", "Btree/INSERT_POST", "Btree/SPLIT_L", "Btree/SPLIT_R"})
_NOT_COUNTABLE = frozenset({"Heap2/MULTI_INSERT", "Heap/TRUNCATE"})
_MESSAGE = re.compile(r"[FB]\t\d+\t(\w+)\t?(?: (.*))?")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


class PostgresCounter:
    """The counter for the database of a URL, whose user may create ``pg_walinspect``; raises ServerAbsent if not."""

    def __init__(self, url: str) -> None:
        self.statements: list[str] = []
        """What was sent since the start, an element for each round trip."""
        self.prepared = False
        """Whether a statement was prepared since the start, as each connection does once."""
        self._own = psycopg.connect(url, autocommit=True)
        try:
            self._own.execute(_SETUP.encode())
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported) as error:
            self._own.close()
            raise ServerAbsent("postgres", f"pg_walinspect cannot be created there: {error}") from error
        self._connections: list[psycopg.Connection[Any]] = []
        self._traces: list[tuple[psycopg.Connection[Any], int]] = []
        self._is_counting = False
        self._since = ""

    @contextmanager
    def installed(self) -> Iterator[None]:
        connect = psycopg.connect

        def noted(*args: Any, **kwargs: Any) -> Any:
            assert not self._is_counting, "a connection was opened while its costs are counted"
            connection = connect(*args, **kwargs)
            self._connections.append(connection)
            return connection

        try:
            with mock.patch.object(psycopg, "connect", noted):
                yield
        finally:
            self._own.close()

    def start(self) -> None:
        self._is_counting = True
        for connection in self._connections:
            if not connection.closed:
                trace = _unlinked_file()
                connection.pgconn.trace(trace)
                connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
                self._traces.append((connection, trace))
        self._since = self._one(_MARK)

    def stop(self) -> dict[str, int]:
        messages: list[tuple[str, str]] = []
        for connection, trace in self._traces:
            connection.pgconn.untrace()  # writes down what libpq still has in its buffer
            messages += _read_messages(trace)
        self._traces.clear()
        self._is_counting = False
        self._one(_MARK)
        kinds = Counter(kind for kind, _ in messages)
        completed = [text for kind, text in messages if kind == "CommandComplete"]
        self.statements = list(_trips(messages))
        self.prepared = any(kind == "Parse" and not text.startswith('""') for kind, text in messages)
        return {
            "statements": len(completed) + kinds["EmptyQueryResponse"] + kinds["ErrorResponse"],
            "round_trips": kinds["ReadyForQuery"],
            "transactions": sum(text in ('"BEGIN"', '"START TRANSACTION"') for text in completed),
            **self._written(),
        }

    def _written(self) -> dict[str, int]:
        files = {file for (file,) in self._own.execute(_FILES).fetchall()}
        records: Counter[str] = Counter()
        for kind, level, file in self._own.execute(_RECORDS, [self._since]).fetchall():
            if file in files and level in (None, "0"):
                records[kind] += 1
        assert not records.keys() & _NOT_COUNTABLE, "rows were written in a way that is not counted"
        return {
            "rows": sum(records[kind] for kind in _ROWS),
            "index_entries": sum(records[kind] for kind in _ENTRIES),
        }

    def _one(self, statement: str) -> str:
        row = self._own.execute(statement.encode()).fetchone()
        assert row is not None
        return str(row[0])


def _unlinked_file() -> int:
    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _read_messages(trace: int) -> list[tuple[str, str]]:
    """The messages in a trace of libpq, by kind and content."""
    with os.fdopen(trace, "rb") as file:
        file.seek(0)
        text = file.read().decode(errors="replace")
    matches = map(_MESSAGE.fullmatch, text.splitlines())
    return [(match[1], match[2] or "") for match in matches if match]


def _trips(messages: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The statements of each round trip, by the names or first words under which they were sent."""
    sent: list[str] = []
    for kind, text in messages:
        quoted: list[str] = _QUOTED.findall(text)
        if kind == "Query" or (kind == "Parse" and quoted[0] == ""):
            sent.append(quoted[-1][:40])
        elif kind == "Parse":
            sent.append(f"(prepare {quoted[0]})")
        elif kind == "Bind" and quoted[1] != "":
            sent.append(quoted[1])
        elif kind == "ReadyForQuery":
            yield " + ".join(sent)
            sent = []
