"""Programs on a connection that the caller owns: the caller's transaction decides what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from duly.core.errors import DulyError, ValidationFailed
from duly.runtime.clock import Clock
from duly.store.sqlite.connecting import MEMORY
from duly.store.sqlite.errors import translate
from duly.store.sqlite.running import run
from duly.store.statements import T, Transaction

_EXPECTED = "an apsw.Connection to the same database file, inside a transaction"


def run_on(connection: Any, transaction: Transaction[T], path: str, clock: Clock) -> T:
    """Run a program inside the caller's transaction and commit nothing; an error undoes the program only."""
    _check(connection, path)
    cursor = connection.cursor()
    if connection.row_trace is not None:
        cursor.row_trace = lambda _, row: row
    try:
        cursor.execute("SAVEPOINT duly")
    except apsw.Error as error:
        raise translate(error, path) from error
    try:
        value = run(cursor, transaction(clock.now()), path)
    except BaseException:
        if connection.in_transaction:
            cursor.execute("ROLLBACK TO duly; RELEASE duly")
        raise
    cursor.execute("RELEASE duly")
    return value


def _check(connection: Any, path: str) -> None:
    if any(base.__module__.partition(".")[0] == "sqlite3" for base in type(connection).__mro__):
        raise _refused(
            "a connection of the standard library's sqlite3 cannot be used: it brings a second copy of SQLite, and two"
            " copies in one process drop each other's locks on the file; open it with apsw",
            connection,
        )
    if not isinstance(connection, apsw.Connection):
        raise _refused(f"connection is a {type(connection).__qualname__}", connection)
    try:
        theirs = connection.db_filename("main")
    except apsw.ConnectionClosedError:
        raise _refused("the connection is closed", connection) from None
    if path == MEMORY or not theirs or not _is_same(theirs, path):
        raise _refused(f"the connection is to {theirs or MEMORY!r}, the store is in {path!r}", connection)
    if not connection.in_transaction:
        raise _refused("the connection has no transaction open; begin one (BEGIN IMMEDIATE) first", connection)


def _is_same(theirs: str, ours: str) -> bool:
    try:
        return Path(theirs).samefile(ours)
    except OSError:  # one of them is not there
        return False


def _refused(why: str, connection: object) -> DulyError:
    return ValidationFailed(f"{why}; expected {_EXPECTED}", field="connection", got=connection, expected=_EXPECTED)
