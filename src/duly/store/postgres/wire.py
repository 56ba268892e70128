"""Statements on a connection of ours, straight through libpq.

A cursor costs several times as much per statement, and a fire is a handful of small ones: on an idle machine most of
its time would be spent between them. Parameters are texts that ``arrays`` made, rows are read by psycopg's own loaders.
"""

from __future__ import annotations

import select
from collections.abc import Sequence

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
        self._poll = select.poll()

    def check(self) -> None:
        """Raise if the server has closed the connection while nobody used it."""
        self._poll.register(self._pgconn.socket, select.POLLIN)
        while self._poll.poll(0):  # a server that crashed says so first, and the end comes behind that
            self._pgconn.consume_input()

    def run(self, text: bytes) -> PGresult:
        """Run a text without parameters, of any number of statements; answer the result of the last."""
        return self.checked(self._pgconn.exec_(text))

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
        self.prepare_all(asks)
        return self.read_all(self.send_all(asks), len(asks))

    def send_all(self, asks: Sequence[Ask], *after: bytes) -> list[PGresult]:
        """Send statements that were prepared if they can be, and texts; answer a result for each, unchecked.

        Where one is missing, the connection is lost.
        """
        pgconn = self._pgconn
        pgconn.nonblocking = 1  # else both sides could wait for each other with full buffers
        pgconn.enter_pipeline_mode()
        for statement, texts in asks:
            if self._prepares(statement):
                pgconn.send_query_prepared(statement.name, _bytes(texts))
            else:
                pgconn.send_query_params(statement.numbered, _bytes(texts))
        for text in after:
            pgconn.send_query_params(text, [])
        pgconn.pipeline_sync()
        results = self._collect()
        if pgconn.status == ConnStatus.OK:
            pgconn.exit_pipeline_mode()
            pgconn.nonblocking = 0
        return results

    def read_all(self, results: Sequence[PGresult], count: int) -> list[list[Row]]:
        """The rows of the first so many results; raises what the first bad one says, or that one is missing."""
        rows = [self._read(result) for result in results[:count]]
        if len(rows) < count:
            raise lost()
        return rows

    def _collect(self) -> list[PGresult]:
        """Send what is left to send and read every result up to the sync, or to the end of the connection."""
        results: list[PGresult] = []
        try:
            self._flush()
            while (result := self._next()) is None or result.status != ExecStatus.PIPELINE_SYNC:
                if result is not None:
                    results.append(result)
                elif self._pgconn.status == ConnStatus.BAD:
                    break
        except OperationalError:
            if all(map(is_good, results)):
                raise  # else the server has said what it did not do before it went
        return results

    def _flush(self) -> None:
        pgconn = self._pgconn
        while pgconn.flush():
            self._wait(select.POLLIN | select.POLLOUT)
            pgconn.consume_input()

    def _next(self) -> PGresult | None:
        pgconn = self._pgconn
        while pgconn.is_busy():
            self._wait(select.POLLIN)
            pgconn.consume_input()
        return pgconn.get_result()

    def _wait(self, what: int) -> None:
        self._poll.register(self._pgconn.socket, what)
        self._poll.poll()

    def _prepares(self, statement: Statement) -> bool:
        return statement.prepare and self._connection.prepare_threshold is not None

    def prepare_all(self, asks: Sequence[Ask]) -> None:
        for statement, _ in asks:
            if self._prepares(statement):
                self._prepare(statement)

    def _prepare(self, statement: Statement) -> None:
        if statement.name not in self._prepared:
            self.checked(self._pgconn.prepare(statement.name, statement.numbered))
            self._prepared.add(statement.name)

    def _read(self, result: PGresult) -> list[Row]:
        if self.checked(result).status != ExecStatus.TUPLES_OK:
            return []
        self._rows.set_pgresult(result)
        return self._rows.load_rows(0, result.ntuples, tuple)

    def checked(self, result: PGresult) -> PGresult:
        if not is_good(result):
            raise error_from_result(result, self._connection.info.encoding)
        return result


def is_good(result: PGresult) -> bool:
    return result.status in _GOOD


def lost() -> OperationalError:
    return OperationalError("the connection was lost")


def _bytes(texts: Sequence[str | None]) -> list[bytes | None]:
    return [None if text is None else text.encode() for text in texts]
