"""Programs on a connection that the caller owns, inside the caller's transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from duly.core.errors import StoreError, StoreUnavailable, ValidationFailed
from duly.runtime.clock import Clock
from duly.store.postgres.errors import not_done
from duly.store.postgres.running import AskedByCursor, Statements, run_program, run_program_async
from duly.store.postgres.texts import load_transactions
from duly.store.statements import T, Transaction

_CROSSED = frozenset({"40001", "40P01"})
"""Others were faster: a transaction that looks at one moment all along is refused what has changed since."""
_EXPECTED = "a psycopg 3 Connection or AsyncConnection with its transaction open"


class Borrowed:
    """Runs programs on others' connections; commits nothing, rolls back nothing."""

    def __init__(self, statements: Statements, clock: Clock | None) -> None:
        self._statements = statements
        self._clock = clock
        self._now = load_transactions()["now"].encode()

    async def write_on(self, connection: Any, transaction: Transaction[T]) -> T:
        """Run a program; after an error of the database the caller's transaction can only be rolled back."""
        if not isinstance(connection, psycopg.AsyncConnection):
            return await asyncio.to_thread(self.write_on_sync, connection, transaction)
        self._check(connection)
        with _told(connection):
            return await self._run_async(connection, transaction)

    def write_on_sync(self, connection: Any, transaction: Transaction[T]) -> T:
        """The same for a caller that has no event loop."""
        self._check(connection)
        if isinstance(connection, psycopg.AsyncConnection):
            raise ValidationFailed(
                "the connection handed in is an AsyncConnection, and a synchronous call cannot await it; expected a"
                " psycopg.Connection, or `await app...` instead of `app.sync...`",
                field="connection",
                got="AsyncConnection",
                expected="a psycopg.Connection",
            )
        with _told(connection):
            return self._run(connection, transaction)

    def _run(self, connection: psycopg.Connection[Any], transaction: Transaction[T]) -> T:
        # A cursor of our own kind: the caller's row and cursor factories are made for the caller.
        with psycopg.Cursor(connection, row_factory=tuple_row) as cursor:
            row = cursor.execute(self._now, prepare=False).fetchone()
            return run_program(AskedByCursor(cursor), self._statements, transaction(self._at(row)))

    async def _run_async(self, connection: psycopg.AsyncConnection[Any], transaction: Transaction[T]) -> T:
        async with psycopg.AsyncCursor(connection, row_factory=tuple_row) as cursor:
            row = await (await cursor.execute(self._now, prepare=False)).fetchone()
            return await run_program_async(cursor, self._statements, transaction(self._at(row)))

    def _at(self, row: tuple[Any, ...] | None) -> int:
        assert row is not None
        return int(row[0]) if self._clock is None else self._clock.now()

    def _check(self, connection: Any) -> None:
        if not isinstance(connection, psycopg.Connection | psycopg.AsyncConnection):
            kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
            raise ValidationFailed(
                f"connection is a {kind}; expected {_EXPECTED} (SQLAlchemy has it as "
                "`connection.connection.driver_connection`)",
                field="connection",
                got=kind,
                expected=_EXPECTED,
            )
        if connection.closed:
            raise StoreUnavailable("the connection handed in is closed; nothing was done")
        if connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE:
            raise ValidationFailed(
                f"the connection handed in is in autocommit mode and outside of a transaction; expected {_EXPECTED}",
                field="connection",
                got="autocommit",
                expected=_EXPECTED,
            )


@contextmanager
def _told(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> Iterator[None]:
    """Turn the database's errors into ours."""
    try:
        yield
    except psycopg.Error as error:
        ours = not_done(error, connection.info.host or "the caller's server")
        again = "; roll your transaction back and try all of it again" if error.sqlstate in _CROSSED else ""
        raise StoreError(f"on the caller's connection: {ours}{again}", **ours.details) from error
