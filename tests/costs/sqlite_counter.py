"""Counts what SQLite does on every connection that is opened while it is installed.

Statements: SQLite's own trace reports each one that begins to run, ``BEGIN`` and ``COMMIT`` included; a statement that
is bound row by row counts for every row. Transactions: the statements that begin one. Rows: SQLite's pre-update hook
reports each row that is inserted, updated or deleted. Index entries: an inserted row writes one into every index that
has room for it by its predicate; an updated row writes one into each of those that the statement maintains, which
SQLite's bytecode says (``IdxDelete`` in ``EXPLAIN``), whether or not the values differ. The primary key of a table
WITHOUT ROWID is the table itself and no index. Removing an entry counts as nothing.

``PRAGMA data_version`` is left out: a store that is listened to runs it by real time, to see foreign commits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from apsw.ext import query_info

_BEGINS = ("BEGIN",)
_DEFINITIONS = """
SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
ORDER BY type = 'table' DESC
"""
_BY_REAL_TIME = "PRAGMA data_version"


class SqliteCounter:
    """The counter for databases with the schema of ``path``."""

    prepared = False

    def __init__(self, path: Path) -> None:
        self.statements: list[str] = []
        self.transactions = self.rows = self.index_entries = 0
        self._indexes = IndexMaintenance(path)

    @contextmanager
    def installed(self) -> Iterator[None]:
        apsw.connection_hooks.append(self._watch)
        try:
            yield
        finally:
            apsw.connection_hooks.remove(self._watch)

    def start(self) -> None:
        self.statements = []
        self.transactions = self.rows = self.index_entries = 0

    def stop(self) -> dict[str, int]:
        return {
            "statements": len(self.statements),
            "transactions": self.transactions,
            "rows": self.rows,
            "index_entries": self.index_entries,
        }

    def _watch(self, connection: apsw.Connection) -> None:
        running = ""

        def begun(event: dict[str, Any]) -> None:
            nonlocal running
            running = event["sql"]
            if running != _BY_REAL_TIME and not event["trigger"]:
                self.statements.append(running)
                self.transactions += running.startswith(_BEGINS)

        def written(change: apsw.PreUpdate) -> None:
            self.rows += 1
            self.index_entries += self._indexes.entries_of(running, change.op, change.table_name, change.new)

        connection.trace_v2(apsw.SQLITE_TRACE_STMT, begun)
        connection.preupdate_hook(written)


class IndexMaintenance:
    """Knows which indexes get an entry when a row is written; works on an empty copy of the schema."""

    def __init__(self, path: Path) -> None:
        self._scratch = apsw.Connection(":memory:")
        self._predicates: dict[str, dict[str, str | None]] = {}
        self._maintained: dict[str, frozenset[str]] = {}
        original = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            definitions: Any = original.execute(_DEFINITIONS).fetchall()
        finally:
            original.close()
        for kind, name, definition in definitions:
            self._scratch.execute(definition)
            if kind == "table":
                self._predicates[name] = {}
        for table in self._predicates:
            self._predicates[table] = dict(self._indexes_of(table))

    def entries_of(self, statement: str, operation: str, table: str, row: tuple[Any, ...] | None) -> int:
        """How many index entries a statement writes for a row that it inserts, updates or (None) deletes."""
        if row is None:
            return 0
        indexes = self._predicates[table]
        if operation == "UPDATE":
            maintained = self._maintained_by(statement)
            indexes = {name: predicate for name, predicate in indexes.items() if name in maintained}
        return sum(predicate is None or self._holds(predicate, row) for predicate in indexes.values())

    def _indexes_of(self, table: str) -> Iterator[tuple[str, str | None]]:
        columns = [name for (name,) in self._scratch.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        row = ", ".join(f"?{place} AS {name}" for place, name in enumerate(columns, 1))
        (is_tree,) = self._scratch.execute("SELECT wr FROM pragma_table_list(?)", (table,)).fetchall()[0]
        listed: Any = self._scratch.execute("SELECT name, origin FROM pragma_index_list(?)", (table,)).fetchall()
        for name, origin in listed:
            if origin == "pk" and is_tree:
                continue
            definition: Any = self._scratch.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).get
            _, is_partial, predicate = (definition or "").partition(" WHERE ")
            yield name, f"SELECT count(*) FROM (SELECT {row}) WHERE {predicate}" if is_partial else None

    def _maintained_by(self, statement: str) -> frozenset[str]:
        if statement not in self._maintained:
            nothing = [None] * query_info(self._scratch, statement).bindings_count
            opcodes: Any = self._scratch.execute(f"EXPLAIN {statement}", nothing).fetchall()
            self._maintained[statement] = frozenset(
                p4 for _, opcode, _, _, _, p4, *_ in opcodes if opcode == "IdxDelete"
            )
        return self._maintained[statement]

    def _holds(self, predicate: str, row: tuple[Any, ...]) -> bool:
        return bool(self._scratch.execute(predicate, row).get)
