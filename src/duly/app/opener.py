"""Who opens the store of ``app.sync``, for how long, and what a fork means for it.

Neither SQLite nor libpq survives a fork: a child that used, or even closed, a connection of its parent could damage the
database or end the parent's session. So what was opened here is closed before the process forks, new calls wait until
the fork is over, and parent and child open their own when they need one. What could not be closed in time is never
touched by the child; one that inherits an open SQLite store can have none at all, because SQLite remembers per process
which locks it holds, and the child's would be none.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, local
from typing import Any

from duly.core.errors import ConfigurationError
from duly.store.direct import DirectDriver, run_direct
from duly.store.sql import SqlStore

from .audits import Audits
from .calendars import Calendars
from .credentials import Keys
from .events import Events
from .firing import Firing
from .importing import refuse_in_import
from .life import Life
from .operations import Operations
from .queues import Queues
from .runs import Runs
from .schedules import Schedules
from .webhooks import Webhooks
from .workflows import WorkflowRuns

CLOSE_WITHIN = 30.0
FORK_WITHIN = 5.0
Noun = Schedules | Runs | WorkflowRuns | Queues | Calendars | Operations | Firing | Events | Keys | Audits | Webhooks
Nouns = tuple[Schedules, Runs, WorkflowRuns, Queues, Calendars, Operations, Firing, Events, Keys, Audits, Webhooks]


class Opener:
    """Lends each noun of the app to one call at a time, on a store that is open in this process."""

    def __init__(
        self, life: Callable[[], Life], make: Callable[[], SqlStore], nouns: Callable[[SqlStore], Nouns]
    ) -> None:
        self._life = life
        self._make = make
        self._nouns = nouns
        self._changed = Condition()
        self._lent = 0
        self._forking = False
        self._inherited = False
        self._pid = os.getpid()
        self._shared: SqlStore | None = None
        self._own: SqlStore | None = None
        self._given_up: list[SqlStore] = []
        self._hooked = False
        self._kept = local()

    @contextmanager
    def lent(self, kind: type[Noun]) -> Iterator[Noun]:
        """The noun for one call; nothing is closed while it is lent."""
        with self._changed:
            # Else new calls would keep the store in use, and the fork would not wait for ever.
            self._changed.wait_for(lambda: not self._forking)
            self._notice_fork()
            store = self._store()
            self._lent += 1
        try:
            yield next(noun for noun in self._nouns_of_this_thread(store) if type(noun) is kind)
        finally:
            with self._changed:
                self._lent -= 1
                self._changed.notify_all()

    def _nouns_of_this_thread(self, store: SqlStore) -> Nouns:
        """They keep what they wait for, and threads must not share that."""
        kept: tuple[SqlStore, Nouns] | None = getattr(self._kept, "nouns", None)
        if kept is None or kept[0] is not store:
            kept = self._kept.nouns = (store, self._nouns(store))
        return kept[1]

    def open(self) -> None:
        """Open the store now instead of at the first call."""
        with self._changed:
            self._notice_fork()
            self._store()

    def close(self) -> None:
        """Close what was opened here, after the calls that are under way."""
        with self._changed:
            self._notice_fork()
            self._changed.wait_for(lambda: self._lent == 0, CLOSE_WITHIN)
            self._close_own()

    def _store(self) -> SqlStore:
        life = self._life()
        if life.is_open:
            if self._shared is None or self._shared.driver is not life.driver:
                self._shared = SqlStore(life.driver)
            return self._shared
        if self._own is None:
            refuse_in_import()
            if (life.is_inherited or self._inherited) and life.driver.name == "sqlite":
                raise ConfigurationError(
                    "this process was forked while the app was open, and SQLite cannot be used on both sides of a fork;"
                    " open the app after the fork"
                )
            own = self._make()
            store = SqlStore(DirectDriver(own.driver))
            run_direct(store.open())
            self._own = store
            self._hook()
        return self._own

    def _close_own(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            run_direct(own.close())

    def _hook(self) -> None:
        if not self._hooked:
            self._hooked = True
            this = weakref.ref(self)
            os.register_at_fork(
                before=_calling(this, Opener._before_fork),
                after_in_parent=_calling(this, Opener._after_fork),
                after_in_child=_calling(this, Opener._in_child),
            )
            atexit.register(_calling(this, Opener.close))

    def _before_fork(self) -> None:
        # Held until the fork is over, so that no other thread holds it in the child, where that thread is not.
        self._changed.acquire()
        self._forking = True
        if self._pid == os.getpid() and self._changed.wait_for(lambda: self._lent == 0, FORK_WITHIN):
            self._close_own()

    def _after_fork(self) -> None:
        self._forking = False
        self._changed.notify_all()
        self._changed.release()

    def _in_child(self) -> None:
        self._changed = Condition()
        self._forking = False
        self._notice_fork()

    def _notice_fork(self) -> None:
        """Leave behind what belongs to the parent: kept, so that nothing closes it."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._lent = 0
            self._given_up += [store for store in (self._own, self._shared) if store is not None]
            self._inherited = self._inherited or bool(self._given_up)
            self._own = self._shared = None


def _calling(this: weakref.ref[Opener], method: Callable[[Opener], None]) -> Callable[[], Any]:
    def call() -> None:
        opener = this()
        if opener is not None:
            method(opener)

    return call
