"""Checkpoints beside the writer: what is in the log is moved into the database while commits go on.

Moving ten thousand pages takes a tenth of a second and more, and an automatic checkpoint would stop the writer for as
long. A thread of its own moves nearly all of them; the writer moves the last few itself, between two drains, because
the log can start anew only when nothing is left to move.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

import apsw

from duly.store.sqlite.connecting import CHECKPOINT_PAGES

MOST_PAGES = 16 * CHECKPOINT_PAGES
"""The length at which the writer moves everything itself: the log must not grow for ever."""

_FEW_PAGES = 300
_ROUNDS = 5


class Checkpointer:
    """Watches the writer's log, and keeps it short. All but the moving itself happens on the writer's thread."""

    def __init__(self, writer: apsw.Connection, connect: Callable[[], apsw.Connection]) -> None:
        self._writer = writer
        self._pages = 0
        self._moving = False
        self._moved = False
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._thread = Thread(target=self._main, args=(connect(),), name="duly-sqlite-checkpointer", daemon=True)
        writer.set_wal_hook(self._grown)  # in place of the automatic checkpoint
        self._thread.start()

    def tend(self) -> None:
        """Begin or end a move, if it is time; called between drains."""
        if self._moved or self._pages >= MOST_PAGES:
            self._moved = self._moving = False
            move(self._writer)
        elif self._pages >= CHECKPOINT_PAGES and not self._moving:
            self._moving = True
            self._asked.put(True)

    def stop(self) -> None:
        self._asked.put(False)
        self._thread.join()

    def _grown(self, connection: apsw.Connection, database: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _main(self, connection: apsw.Connection) -> None:
        while self._asked.get():
            for _ in range(_ROUNDS):
                moved = move(connection)
                if self._pages - moved < _FEW_PAGES:
                    break
            self._moved = True
        connection.close()


def move(connection: apsw.Connection) -> int:
    """Move into the database what no reader still needs in the log; answer how many pages of the log are moved."""
    with suppress(apsw.Error):  # another process is at it; or the disk is in trouble, and the next commit will tell
        _, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return moved
    return 0
