"""The one writer of a process: calls that arrive while a commit is under way share the next one.

A drain is one ``BEGIN IMMEDIATE``, a savepoint per call, one ``COMMIT`` and so one fsync. A call that fails is rolled
back to its savepoint and told so; the others never notice. Between drains the writer looks whether somebody else
changed the file: ``PRAGMA data_version`` on this connection moves for foreign commits only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import apsw

from duly.core.errors import StoreUnavailable
from duly.runtime.clock import Clock
from duly.store.sqlite.calls import Call, answer
from duly.store.sqlite.checkpointer import Checkpointer
from duly.store.sqlite.connecting import Place
from duly.store.sqlite.errors import translate, translate_commit
from duly.store.sqlite.running import run

DRAIN_S = 0.015
"""A drain takes no further call after this long: others wait for the lock."""

WATCH_S = 0.1
CALM_WATCH_S = 0.25
"""How often the file is looked at for foreign commits while somebody listens; the latter where none came of late."""

CALM_AFTER_S = 30.0


class Writer:
    """Owns the write connection and the thread that uses it."""

    def __init__(self, connection: apsw.Connection, checkpointer: Checkpointer, path: str, clock: Clock) -> None:
        self._connection = connection
        self._checkpointer = checkpointer
        self._cursor = connection.cursor()
        self._path = path
        self._place = Place(connection, path)
        self._clock = clock
        self._queue: SimpleQueue[Call[Any] | None] = SimpleQueue()
        self._waiting: deque[Call[Any]] = deque()
        self._early: list[Call[Any]] = []
        self._stopping = False
        self._listener: Callable[[], None] | None = None
        self._seen = self._data_version()
        self._looked = clock.steady()
        self._foreign_at = -inf
        self._thread = Thread(target=self._main, name="duly-sqlite-writer", daemon=True)
        self._thread.start()

    def submit(self, call: Call[Any]) -> None:
        self._queue.put(call)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` on the writer's thread whenever somebody else has committed."""
        self._listener = listener
        self._queue.put(None)

    def stop(self) -> None:
        """End after the calls already submitted, close the connection, and wait for that."""
        self._stopping = True
        self._queue.put(None)
        self._thread.join()

    def _main(self) -> None:
        while True:
            stopping = self._stopping  # asked before: what is submitted before the stop is collected after it
            quiet = self._collect()
            if self._waiting:
                answer(self._drain())
            elif stopping:
                break
            self._checkpointer.tend()
            self._look(quiet)
        self._checkpointer.stop()
        self._connection.close()

    def _collect(self) -> bool:
        """Take what is queued and may begin, waiting for something if nothing is; answer whether nothing came."""
        block = not self._waiting and not self._stopping
        while True:
            try:
                call = self._queue.get(block, self._patience())
            except Empty:
                return not self._begin_early() and block
            if call is not None:
                (self._waiting if call.begin_at is None else self._early).append(call)
            block = False

    def _patience(self) -> float | None:
        """How long to wait for a call: until one that came early may begin, or the file is to be looked at."""
        moments = [call.begin_at - self._clock.steady() for call in self._early if call.begin_at is not None]
        if self._listener:
            moments.append(self._watch_s)
        return max(0.0, min(moments)) if moments else None

    def _begin_early(self) -> bool:
        """Let calls wait no longer that came early and may begin now; answer whether there were any."""
        if not self._early:
            return False
        at = self._clock.steady()
        ready = [call for call in self._early if self._stopping or call.begin_at is None or call.begin_at <= at]
        self._early = [call for call in self._early if call not in ready]
        self._waiting += ready
        return bool(ready)

    def _drain(self) -> list[Call[Any]]:
        """Run waiting calls in one transaction; answer those that have their answer."""
        taken: list[Call[Any]] = []
        try:
            self._place.check()
            self._cursor.execute("BEGIN IMMEDIATE")
        except (apsw.Error, StoreUnavailable) as error:
            return self._fail_waiting(error)
        alone = len(self._waiting) == 1
        began = self._clock.steady()
        while self._waiting and self._clock.steady() - began < DRAIN_S:
            call = self._waiting.popleft()
            if not call.take():
                continue
            taken.append(call)
            self._run(call, savepoint=not alone)
            if not self._connection.in_transaction:
                break
        if self._connection.in_transaction:
            self._commit(taken)
        elif not alone:
            self._fail(taken, lambda: StoreUnavailable(f"database {self._path}: the transaction was rolled back"))
        return taken

    def _run(self, call: Call[Any], *, savepoint: bool) -> None:
        cursor = self._cursor
        try:
            if savepoint:
                cursor.execute("SAVEPOINT call")
            call.succeed(run(cursor, call.transaction(self._clock.now()), self._path))
            if savepoint:
                cursor.execute("RELEASE call")
        except Exception as error:  # noqa: BLE001  # whatever one caller's program raises is that caller's
            call.fail(translate(error, self._path) if isinstance(error, apsw.Error) else error)
            self._undo("ROLLBACK TO call; RELEASE call" if savepoint else "ROLLBACK")

    def _undo(self, how: str) -> None:
        """Roll back, unless SQLite has done it already; what cannot be undone alone is undone with all the rest."""
        for statements in (how, "ROLLBACK"):
            if self._connection.in_transaction:
                with suppress(apsw.Error):
                    self._cursor.execute(statements)
                    return

    def _commit(self, taken: list[Call[Any]]) -> None:
        try:
            self._cursor.execute("COMMIT")
        except apsw.Error as error:
            reason = error
            self._undo("ROLLBACK")
            self._fail(taken, lambda: translate_commit(reason, self._path))

    def _fail(self, taken: list[Call[Any]], error: Callable[[], Exception]) -> None:
        for call in taken:
            if not call.failed:
                call.fail(error())

    def _fail_waiting(self, error: apsw.Error | StoreUnavailable) -> list[Call[Any]]:
        taken = [call for call in self._waiting if call.take()]
        self._waiting.clear()
        if isinstance(error, StoreUnavailable):
            self._fail(taken, lambda: StoreUnavailable(str(error), path=self._path))
        else:
            self._fail(taken, lambda: translate(error, self._path))
        return taken

    def _look(self, quiet: bool) -> None:
        """Tell the listener if somebody else has committed since the last look, a few times a second at most."""
        at = self._clock.steady()
        if self._listener is None or not (quiet or at - self._looked >= self._watch_s):
            return
        self._looked = at
        with suppress(apsw.Error):  # a hint may be lost
            seen = self._data_version()
            if seen != self._seen:
                self._seen, self._foreign_at = seen, at
                self._listener()

    @property
    def _watch_s(self) -> float:
        return WATCH_S if self._clock.steady() - self._foreign_at < CALM_AFTER_S else CALM_WATCH_S

    def _data_version(self) -> int:
        version: Any = self._cursor.execute("PRAGMA data_version").fetchall()[0][0]
        return int(version)
