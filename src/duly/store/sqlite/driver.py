"""The SQLite driver: one writer thread, a few reader threads, or everything inline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from os import PathLike, fspath
from typing import Any

import apsw

from duly.core.errors import StoreUnavailable
from duly.runtime.answering import call_on
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.presence import NoPresence, Presence
from duly.store.remembering import Remembered
from duly.store.sqlite.borrowed import run_on
from duly.store.sqlite.calls import Call
from duly.store.sqlite.checking import check_integrity
from duly.store.sqlite.checkpointer import Checkpointer
from duly.store.sqlite.connecting import (
    CHECKPOINTER_CACHE_KIB,
    MEMORY,
    READER_CACHE_KIB,
    WRITER_CACHE_KIB,
    connect,
    use_wal,
)
from duly.store.sqlite.errors import translate
from duly.store.sqlite.inline import Inline
from duly.store.sqlite.inspecting import find_warnings
from duly.store.sqlite.migrating import migrate, schema_version
from duly.store.sqlite.presence import LockedFiles
from duly.store.sqlite.readers import Readers
from duly.store.sqlite.remembering import check_not_vanished, read_beside, write_beside
from duly.store.sqlite.writer import Writer
from duly.store.statements import T, Transaction

HINTS = ("schedules", "runs", "events")
"""What a foreign commit may have changed: the file tells that somebody wrote, not what."""


class SqliteDriver:
    """Runs programs on a database file, which several processes may share.

    A call waits ``busy_timeout`` seconds for the file's lock and ``time_limit`` seconds in all. With ``inline``, and
    always for ``:memory:``, calls run in the calling thread and nothing is hinted.
    """

    name = "sqlite"
    fires_at_once = 1  # there is one writer

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        clock: Clock,
        inline: bool = False,
        busy_timeout: float = 5.0,
        time_limit: float = 30.0,
        readers: int = 2,
        chance: Chance | None = None,
    ) -> None:
        self.path = fspath(path)
        self._clock = clock
        self._inline_wanted = inline or self.path == MEMORY
        self._busy_timeout = busy_timeout
        self._time_limit = time_limit
        self._reader_count = readers
        self._chance = chance or Chance()
        self._files = None if self.path == MEMORY else LockedFiles(self.path)
        self.presence: Presence = self._files or NoPresence()
        self._inline: Inline | None = None
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: list[Callable[[str], None]] = []

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._inline_wanted:
            self._inline = Inline(self._prepare(), self.path, self._clock)
            return
        self._start(await asyncio.to_thread(self._prepare))

    def open_sync(self) -> None:
        if self._inline_wanted:
            self._inline = Inline(self._prepare(), self.path, self._clock)
        else:
            self._start(self._prepare())

    def _start(self, connection: apsw.Connection) -> None:
        checkpointer = Checkpointer(connection, partial(self._connect, CHECKPOINTER_CACHE_KIB))
        self._readers = Readers(self._connect_reader, self._reader_count, self.path, self._clock)
        self._writer = Writer(connection, checkpointer, self.path, self._clock)
        if self._listeners:
            self._writer.listen(self._tell)

    async def checks(self) -> list[str]:
        return [] if self.path == MEMORY else await asyncio.to_thread(find_warnings, self.path)

    async def close(self) -> None:
        if self._inline is not None:
            self.close_sync()
        else:
            await asyncio.to_thread(self.close_sync)

    def close_sync(self) -> None:
        inline, readers, writer = self._inline, self._readers, self._writer
        self._inline = self._readers = self._writer = None
        # The writer goes last: the last connection to close tidies the log away.
        for part in (inline, readers, writer):
            if part is not None:
                part.stop()
        if self._files is not None:
            self._files.leave_all()

    async def write(self, transaction: Transaction[T], *, due: int | None = None, engine: bool = False) -> T:
        if self._inline is not None:
            return self._inline.write(transaction)
        begin_at = None if due is None else self._moment_of(due)
        call = Call(transaction, writes=True, loop=asyncio.get_running_loop(), begin_at=begin_at)
        self._opened(self._writer).submit(call)
        return await call.wait(self._time_limit)

    async def read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        if self._inline is not None:
            return self._inline.read(transaction)
        call = Call(transaction, writes=False, loop=asyncio.get_running_loop())
        self._opened(self._readers).submit(call)
        return await call.wait(self._time_limit)

    def write_sync(self, transaction: Transaction[T]) -> T:
        if self._inline is not None:
            return self._inline.write(transaction)
        call = Call(transaction, writes=True, loop=None)
        self._opened(self._writer).submit(call)
        return call.wait_sync(self._time_limit)

    def read_sync(self, transaction: Transaction[T]) -> T:
        if self._inline is not None:
            return self._inline.read(transaction)
        call = Call(transaction, writes=False, loop=None)
        self._opened(self._readers).submit(call)
        return call.wait_sync(self._time_limit)

    async def write_on(self, connection: Any, transaction: Transaction[T]) -> T:
        """Run a program on an ``apsw.Connection`` to the same file, in the caller's transaction and thread."""
        return self.write_on_sync(connection, transaction)

    def write_on_sync(self, connection: Any, transaction: Transaction[T]) -> T:
        return run_on(connection, transaction, self.path, self._clock)

    def remembered(self) -> Remembered | None:
        return None if self.path == MEMORY else read_beside(self.path)

    def remember(self, seen: Remembered) -> None:
        if self.path != MEMORY:
            write_beside(self.path, seen)

    def hint(self, topic: str) -> None:
        """Nothing to do: other connections see each commit in the file itself."""

    def on_hint(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)
        if self._writer is not None:
            self._writer.listen(self._tell)

    def _tell(self) -> None:
        if self._loop is not None:
            for listener in self._listeners:
                for topic in HINTS:
                    call_on(self._loop, listener, topic)

    def _moment_of(self, due: int) -> float | None:
        """When to begin what is due in a moment: in twice the time that a wait may end late. None for at once."""
        wait = self._clock.until(due)
        return self._clock.steady() + wait if 0 < wait <= 2 * self._clock.slack else None

    def _prepare(self) -> apsw.Connection:
        """Open the writer's connection and set up the schema; a refused database is left as it was."""
        if self.path != MEMORY:
            check_not_vanished(self.path)
        connection = self._connect(WRITER_CACHE_KIB)
        try:
            if self.presence.dead():
                check_integrity(connection, self.path, self._clock)
            schema_version(connection, self.path)
            use_wal(connection, self.path)
            migrate(connection, self.path, self._clock, self._chance)
        except apsw.Error as error:
            connection.close()
            raise translate(error, self.path) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self, cache_kib: int) -> apsw.Connection:
        return connect(self.path, busy_timeout=self._busy_timeout, cache_kib=cache_kib)

    def _connect_reader(self) -> apsw.Connection:
        connection = self._connect(READER_CACHE_KIB)
        connection.pragma("query_only", True)
        return connection

    def _opened(self, threads: Any) -> Any:
        if threads is None:
            raise StoreUnavailable(f"the store on {self.path} is not open")
        return threads
