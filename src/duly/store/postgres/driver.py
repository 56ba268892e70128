"""The driver: transactions on a few threads, one connection each, so that fire, claim and settle overlap.

Synchronous connections on threads, because they are faster than asynchronous ones, let a thread without an event loop
use the same text, and have the shape of the SQLite driver. The engine has threads of its own, because a few callers who
wait for one locked schedule take all the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from duly.runtime.answering import call_on
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.postgres.address import read_address
from duly.store.postgres.borrowed import Borrowed
from duly.store.postgres.checking import find_warnings
from duly.store.postgres.connections import Connections
from duly.store.postgres.hinting import Hinter, channel_of
from duly.store.postgres.limits import Limits
from duly.store.postgres.listening import Listener
from duly.store.postgres.migrating import prepare_schema
from duly.store.postgres.texts import as_statement, load_transactions
from duly.store.postgres.transactions import Transactions
from duly.store.presence import NoPresence, Presence
from duly.store.remembering import Remembered
from duly.store.statements import T, Transaction
from duly.store.threads import Threads

_HINT_WITHIN_S = 2.0


class PostgresDriver:
    """Runs programs on PostgreSQL; keeps no state in a session, so a pooler in transaction mode may stand in between.

    ``connections`` bounds the transactions of the engine that run at once, and apart from them those of callers; a
    synchronous caller runs on its own thread and gets a connection of its own. ``prepare`` None prepares statements
    unless a pooler is noticed. ``listen_url`` is a direct connection for hints; the schema of the store is that of
    ``url``. ``clock`` replaces the server's, for tests.
    """

    name = "postgres"
    fires_at_once = 2  # one plans while the server writes the other

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        chance: Chance | None = None,
        connections: int = 4,
        prepare: bool | None = None,
        migrate: bool = False,
        listen_url: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.presence: Presence = NoPresence()
        self._limits = limits or Limits()
        self._chance = chance or Chance()
        self._migrate = migrate
        self._address = read_address(url, self._limits)
        self._listen_address = read_address(listen_url, self._limits) if listen_url else self._address
        self._hints_apart = listen_url is not None
        self._clock = clock
        self._most = connections
        self._prepare = prepare
        self._sender = f"{self._chance.session():x}"
        self._make_ready()
        self._channel = channel_of(self._address.schema)
        self._notify = as_statement(load_transactions()["notify"])
        self._listeners: list[Callable[[str], None]] = []
        self._listener: Listener | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def _make_ready(self) -> None:
        """Make what a close uses up; nothing is connected yet."""
        self._connections = Connections(self._address, keep=2 * self._most + 1, prepare=self._prepare)
        self._transactions = Transactions(self._connections, self._limits, self._clock, self._chance)
        self._borrowed = Borrowed(self._transactions.statements, self._clock)
        self._engine_threads = Threads(self._most, "duly-postgres-engine")
        self._threads = Threads(self._most, "duly-postgres")
        self._hinter = Hinter(self._send_hints, self._sender)
        self._closed = False

    def __repr__(self) -> str:
        return f"PostgresDriver({self._address.name!r})"

    async def open(self) -> None:
        """Connect; set up an empty database, check any other; start to listen if somebody asked for hints."""
        self._loop = asyncio.get_running_loop()
        if self._closed:
            self._make_ready()
        await self._threads.run(self._check_in)
        self._listen()

    def open_sync(self) -> None:
        """Connect and set up or check the schema, for a caller that has no event loop."""
        if self._closed:
            self._make_ready()
        self._check_in()

    def _check_in(self) -> None:
        limits = self._limits
        self._transactions.run(
            lambda lent: prepare_schema(lent.connection, limits, self._address.schema, migrate=self._migrate),
            limits.migration,
        )

    async def checks(self) -> list[str]:
        """Say what about this server weakens a promise; an empty list is good."""
        look = partial(find_warnings, hints_apart=self._hints_apart)
        return await self._threads.run(
            lambda: self._transactions.run(lambda lent: look(lent.connection), self._limits.operation)
        )

    async def close(self) -> None:
        """Let what has begun come to its end, then close every connection."""
        await asyncio.to_thread(self.close_sync)

    def close_sync(self) -> None:
        self._hinter.close()
        if self._listener is not None:
            self._listener.close()
        self._threads.close()
        self._engine_threads.close()
        self._connections.close()
        self._transactions.close()
        self._listeners, self._listener, self._loop = [], None, None
        self._closed = True

    async def write(self, transaction: Transaction[T], *, due: int | None = None, engine: bool = False) -> T:
        threads = self._engine_threads if engine else self._threads
        return await threads.run(partial(self._transactions.write, transaction, due, self._transactions.steady()))

    async def read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        threads = self._engine_threads if engine else self._threads
        return await threads.run(partial(self._transactions.read, transaction, self._transactions.steady()))

    def write_sync(self, transaction: Transaction[T]) -> T:
        return self._transactions.write(transaction)

    def read_sync(self, transaction: Transaction[T]) -> T:
        return self._transactions.read(transaction)

    async def write_on(self, connection: Any, transaction: Transaction[T]) -> T:
        return await self._borrowed.write_on(connection, transaction)

    def write_on_sync(self, connection: Any, transaction: Transaction[T]) -> T:
        return self._borrowed.write_on_sync(connection, transaction)

    def remembered(self) -> Remembered | None:
        return None  # the database tells by its home whether it was restored from a dump

    def remember(self, seen: Remembered) -> None: ...

    def hint(self, topic: str) -> None:
        self._hinter.hint(topic)

    def on_hint(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)
        if self._loop is not None:
            self._listen()

    def _send_hints(self, hints: str) -> None:
        values = {"channel": self._channel, "hints": hints}
        ask = (self._notify, [values[name] for name in self._notify.names])
        seconds = min(_HINT_WITHIN_S, self._limits.operation)
        self._transactions.run(lambda lent: lent.wire.ask(ask), seconds)

    def _listen(self) -> None:
        if self._listeners and self._listener is None:
            listener = Listener(self._listen_address, self._channel, self._sender, self._deliver, self._chance)
            listener.start()
            self._listener = listener

    def _deliver(self, topic: str) -> None:
        """Called on the listener's thread."""
        loop = self._loop
        if loop is None:
            return
        for listener in self._listeners:
            call_on(loop, listener, topic)
