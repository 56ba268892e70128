"""Statements on a connection of ours, straight through libpq.

A cursor costs several times as much per statement, and a fire is a handful of small ones: on an idle machine most of
its time would be spent between them. Parameters are texts that ``arrays`` made, rows are read by psycopg's own loaders.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence

from psycopg import Connection, OperationalError
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.rows import TupleRow

from duly.store.postgres.texts import Statement
from duly.store.statements import Row

Ask = tuple[Statement, Sequence[str | None]]
"""A statement and its parameters, in the order of its names."""

_GOOD = frozenset({ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK, ExecStatus.EMPTY_QUERY})


class Wire:
    """One connection, used by one thread at a time. Errors are psycopg's."""

    def __init__(self, connection: Connection[TupleRow]) -> None:
        self._connection = connection
        self._pgconn: PGconn = connection.pgconn
        self._rows = Transformer(connection)
        self._prepared: set[bytes] = set()

    def run(self, text: bytes) -> PGresult:
        """Run a text without parameters, of any number of statements; answer the result of the last."""
        return self._checked(self._pgconn.exec_(text))

    def ask(self, ask: Ask) -> list[Row]:
        """Run one statement and answer its rows."""
        statement, texts = ask
        values = _bytes(texts)
        if self._prepares(statement):
            self._prepare(statement)
            return self._read(
                self._pgconn.exec_prepared(statement.name, values)  # type: ignore[arg-type]  # it does take None
            )
        return self._read(self._pgconn.exec_params(statement.numbered, values))

    def ask_all(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """Send all statements before the first answer is read: one wait instead of one for each."""
        if len(asks) < 2:
            return [self.ask(ask) for ask in asks]
        for statement, _ in asks:
            if self._prepares(statement):
                self._prepare(statement)
        pgconn = self._pgconn
        pgconn.nonblocking = 1  # else both sides could wait for each other with full buffers
        pgconn.enter_pipeline_mode()
        for statement, texts in asks:
            if self._prepares(statement):
                pgconn.send_query_prepared(statement.name, _bytes(texts))
            else:
                pgconn.send_query_params(statement.numbered, _bytes(texts))
        pgconn.pipeline_sync()
        results = self._collect()
        pgconn.exit_pipeline_mode()
        pgconn.nonblocking = 0
        return [self._read(result) for result in results]

    def _collect(self) -> list[PGresult]:
        """Send what is left to send and read every result up to the sync."""
        pgconn, wait = self._pgconn, self._waiter()
        while pgconn.flush():
            wait(select.POLLIN | select.POLLOUT)
            pgconn.consume_input()
        results: list[PGresult] = []
        while True:
            while pgconn.is_busy():
                wait(select.POLLIN)
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
                return results
            if result is not None:
                results.append(result)
            elif pgconn.status == ConnStatus.BAD:
                raise OperationalError("the connection was lost")

    def _waiter(self) -> Callable[[int], object]:
        poll, socket = select.poll(), self._pgconn.socket

        def wait(what: int) -> None:
            poll.register(socket, what)
            poll.poll()

        return wait

    def _prepares(self, statement: Statement) -> bool:
        return statement.prepare and self._connection.prepare_threshold is not None

    def _prepare(self, statement: Statement) -> None:
        if statement.name not in self._prepared:
            self._checked(self._pgconn.prepare(statement.name, statement.numbered))
            self._prepared.add(statement.name)

    def _read(self, result: PGresult) -> list[Row]:
        if self._checked(result).status != ExecStatus.TUPLES_OK:
            return []
        self._rows.set_pgresult(result)
        return self._rows.load_rows(0, result.ntuples, tuple)

    def _checked(self, result: PGresult) -> PGresult:
        if result.status not in _GOOD:
            raise error_from_result(result, self._connection.info.encoding)
        return result


def _bytes(texts: Sequence[str | None]) -> list[bytes | None]:
    return [None if text is None else text.encode() for text in texts]
