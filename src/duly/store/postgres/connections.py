"""Connections: opened when needed, lent to one thread at a time, thrown away when they break."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from threading import Lock
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow, tuple_row

from duly.core.errors import StoreUnavailable
from duly.store.postgres.address import Address
from duly.store.postgres.wire import Wire

Connection = psycopg.Connection[TupleRow]
_PREPARE_AFTER = 2


class Lent:
    """One connection while it is lent.

    ``committing`` is set by whoever sends the COMMIT of a write; ``warnings`` collects what the server warned of.
    """

    __slots__ = ("committing", "connection", "warnings", "wire")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.wire = Wire(connection)
        self.committing = False
        self.warnings: list[str] = []
        connection.add_notice_handler(self._on_notice)

    @property
    def broken(self) -> bool:
        return self.connection.closed

    def abort(self) -> None:
        """Wake the thread that is blocked in this connection, from another one; it gets an error."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.connection.fileno())) as wire:
            wire.shutdown(socket.SHUT_RDWR)

    def end_transaction(self) -> None:
        """Roll back what is still open; close a connection of which that is not certain."""
        status = self.connection.info.transaction_status
        if status == TransactionStatus.IDLE:
            return
        try:
            if status == TransactionStatus.ACTIVE:
                self.close()
            elif not self.broken:
                self.wire.run(b"ROLLBACK")
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        with suppress(psycopg.Error, OSError):
            self.connection.close()

    def _on_notice(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self.warnings.append(notice.message_primary or "a warning")


class Connections:
    """Idle connections, the last used on top. At most ``keep`` stay open; who needs one more gets it for a while."""

    def __init__(self, address: Address, *, keep: int, prepare: bool | None) -> None:
        self.address = address
        self.prepare = prepare if prepare is not None else address.prepare
        self._keep = keep
        self._idle: list[Lent] = []
        self._lock = Lock()
        self._closed = False

    def take(self) -> Lent:
        """Lend a connection to the calling thread, or raise StoreUnavailable."""
        with self._lock:
            if self._closed:
                raise StoreUnavailable(f"the store at {self.address.name} is closed")
            if self._idle:
                lent = self._idle.pop()
                lent.committing = False
                return lent
        return Lent(self._connect())

    def give_back(self, lent: Lent) -> None:
        """Keep a connection that is between transactions; close it if it is broken or there are enough.

        One that was lent while statements were still prepared is closed too: those may be another's by now.
        """
        outdated = self.prepare is False and lent.connection.prepare_threshold is not None
        with self._lock:
            if not (lent.broken or outdated or self._closed or len(self._idle) >= self._keep):
                self._idle.append(lent)
                return
        lent.close()

    def forget_idle(self) -> None:
        """Throw away the idle ones: what broke one connection mostly broke all."""
        with self._lock:
            idle, self._idle = self._idle, []
        for lent in idle:
            lent.close()

    def stop_preparing(self) -> None:
        """Use no prepared statements from now on: something between us and the server loses them."""
        self.prepare = False
        self.forget_idle()

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self.forget_idle()

    def _connect(self) -> Connection:
        connection = connect(self.address)
        try:
            if self.prepare is None:
                self.prepare = not is_pooled(connection)
        except psycopg.Error as error:
            connection.close()
            raise _unreachable(self.address, error) from error
        connection.prepare_threshold = _PREPARE_AFTER if self.prepare else None
        return connection


def connect(address: Address, **more: Any) -> Connection:
    """Open one connection in autocommit mode, or raise StoreUnavailable."""
    try:
        return psycopg.connect(**(address.parameters | more), autocommit=True, row_factory=tuple_row)
    except psycopg.Error as error:
        raise _unreachable(address, error) from None


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler such as PgBouncer stands in between: it hands out process ids that are not the server's."""
    row = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    return row is not None and row[0] != connection.info.backend_pid


def _unreachable(address: Address, error: psycopg.Error) -> StoreUnavailable:
    text = address.redact(str(error)).strip() or type(error).__name__
    return StoreUnavailable(f"cannot connect to PostgreSQL at {address.name}: {text}", sqlstate=error.sqlstate)
