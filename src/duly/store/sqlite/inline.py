"""Everything in the calling thread, one call after the other: for simulations, and for databases in memory."""

from __future__ import annotations

from threading import Lock

import apsw

from duly.runtime.clock import Clock
from duly.store.sqlite.errors import translate, translate_commit
from duly.store.sqlite.running import run
from duly.store.statements import T, Transaction


class Inline:
    """One connection for reads and writes; a lock lets several threads take turns."""

    def __init__(self, connection: apsw.Connection, path: str, clock: Clock) -> None:
        self._connection = connection
        self._path = path
        self._clock = clock
        self._turn = Lock()

    def write(self, transaction: Transaction[T]) -> T:
        with self._turn:
            return self._run(transaction, "BEGIN IMMEDIATE")

    def read(self, transaction: Transaction[T]) -> T:
        with self._turn:
            return self._run(transaction, "BEGIN")

    def stop(self) -> None:
        with self._turn:
            self._connection.close()

    def _run(self, transaction: Transaction[T], begin: str) -> T:
        cursor = self._connection.cursor()
        self._control(cursor, begin)
        try:
            value = run(cursor, transaction(self._clock.now()), self._path)
        except BaseException:
            self._undo(cursor)
            raise
        try:
            cursor.execute("COMMIT")
        except apsw.Error as error:
            self._undo(cursor)
            raise translate_commit(error, self._path) from error
        return value

    def _control(self, cursor: apsw.Cursor, statement: str) -> None:
        try:
            cursor.execute(statement)
        except apsw.Error as error:
            raise translate(error, self._path) from error

    def _undo(self, cursor: apsw.Cursor) -> None:
        if self._connection.in_transaction:
            self._control(cursor, "ROLLBACK")
