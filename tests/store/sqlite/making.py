"""Small programs for tests: each writes or reads one row of ``duly_tenants``."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from duly.store.sqlite import SqliteDriver
from duly.store.statements import Program, Transaction, query


def add(tenant: str, count: int = 1) -> Transaction[int]:
    """Adds to a tenant's slots, and answers them."""

    def transaction(now: int) -> Program[int]:
        rows = yield query("take_slots", tenant=tenant, count=count)
        return int(rows[0][0])

    return transaction


def add_then_raise(tenant: str, error: Exception) -> Transaction[int]:
    def transaction(now: int) -> Program[int]:
        yield query("take_slots", tenant=tenant, count=1)
        raise error

    return transaction


def add_what_is_refused(tenant: str) -> Transaction[int]:
    """Writes a row, then one that the table refuses."""

    def transaction(now: int) -> Program[int]:
        yield query("take_slots", tenant=tenant, count=1)
        yield query("take_slots", tenant=None, count=1)
        return 0

    return transaction


def nothing(now: int) -> Program[int]:
    """Touches nothing, and answers 7."""
    yield from ()
    return 7


class Gate:
    """Keeps a thread of the driver busy until it is opened."""

    def __init__(self) -> None:
        self._entered = threading.Event()
        self._opened = threading.Event()

    def transaction(self, now: int) -> Program[None]:
        self._entered.set()
        assert self._opened.wait(30)
        yield from ()

    def open(self) -> None:
        self._opened.set()

    def wait(self) -> None:
        """Wait until somebody is in the gate."""
        assert self._entered.wait(30)

    async def enter(self, call: Callable[[Transaction[None]], Any]) -> "asyncio.Task[None]":
        """Start a call that waits in the gate; answer when it is in."""
        task: asyncio.Task[None] = asyncio.ensure_future(call(self.transaction))
        await turn()
        await asyncio.to_thread(self.wait)
        return task


async def turn() -> None:
    """Let the loop turn once, so that the calls just made are in the driver's queue."""
    await asyncio.sleep(0)


def slots(path: Path | SqliteDriver) -> dict[str, int]:
    """What every tenant has, seen by a connection that has nothing to do with the driver."""
    connection = apsw.Connection(str(path.path if isinstance(path, SqliteDriver) else path))
    try:
        return dict(connection.execute("SELECT id, slots FROM duly_tenants").fetchall())  # type: ignore[arg-type]
    finally:
        connection.close()
