"""Readers: a few threads with a connection each, beside the writer and never in its way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

import apsw

from duly.runtime.clock import Clock
from duly.store.sqlite.calls import Call, answer
from duly.store.sqlite.connecting import Place
from duly.store.sqlite.errors import translate
from duly.store.sqlite.running import run

LOOK_EVERY = 50_000
"""After how many steps of SQLite's machine a read looks whether its caller has given up."""


class Readers:
    """Runs reads, each in a snapshot of its own."""

    def __init__(self, connect: Callable[[], apsw.Connection], count: int, path: str, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._queue: SimpleQueue[Call[Any] | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._main, args=(connect(),), name=f"duly-sqlite-reader-{number}", daemon=True)
            for number in range(1, count + 1)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Call[Any]) -> None:
        self._queue.put(call)

    def stop(self) -> None:
        """End after the calls already submitted, close the connections, and wait for that."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _main(self, connection: apsw.Connection) -> None:
        place = Place(connection, self._path)
        while (call := self._queue.get()) is not None:
            if call.take():
                connection.set_progress_handler(partial(getattr, call, "abandoned"), LOOK_EVERY)
                read(connection, place, call, self._path, self._clock)
                answer([call])
        connection.close()


def read(connection: apsw.Connection, place: Place, call: Call[Any], path: str, clock: Clock) -> None:
    """Run a call that only reads, all of it on one snapshot."""
    cursor = connection.cursor()
    try:
        place.check()
        cursor.execute("BEGIN")
        call.succeed(run(cursor, call.transaction(clock.now()), path))
    except Exception as error:  # noqa: BLE001  # whatever a caller's program raises is that caller's
        call.fail(translate(error, path) if isinstance(error, apsw.Error) else error)
    finally:
        if connection.in_transaction:
            cursor.execute("ROLLBACK")
