"""Hints coming in: one connection that does nothing but LISTEN, on a thread of its own."""

from __future__ import annotations

import logging
import select
from collections.abc import Callable
from threading import Event, Thread

import psycopg

from duly.core.errors import StoreUnavailable
from duly.runtime.chance import Chance
from duly.store.postgres.address import Address
from duly.store.postgres.connections import Lent, connect, is_pooled

_LOOK_AGAIN_S = 20.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_log = logging.getLogger(__name__)


class Listener:
    """Hands every hint of another instance to ``deliver``; reconnects for as long as it takes.

    ``ready`` is set while the server would tell us. Behind a pooler there is nothing to listen to, and the thread ends.
    """

    def __init__(
        self, address: Address, channel: str, sender: str, deliver: Callable[[str], None], chance: Chance
    ) -> None:
        self.ready = Event()
        self._address = address
        self._channel = channel
        self._sender = sender
        self._deliver = deliver
        self._chance = chance
        self._closing = Event()
        self._lent: Lent | None = None
        self._thread = Thread(target=self._work, name="duly-postgres-listen", daemon=True)

    def start(self) -> None:
        try:
            self._thread.start()
        except RuntimeError as error:
            raise StoreUnavailable(f"the store has no thread to listen on: {error}") from error

    def close(self) -> None:
        """End the thread and its connection."""
        self._closing.set()
        lent = self._lent
        if lent is not None:
            lent.abort()
        self._thread.join()

    def _work(self) -> None:
        pause = _FIRST_PAUSE_S
        while not self._closing.is_set():
            try:
                if not self._listen():
                    return
            except (psycopg.Error, StoreUnavailable) as error:
                if not self._closing.is_set():
                    _log.info("hints are off for a while, polling goes on: %s", self._address.redact(str(error)))
            if self.ready.is_set():
                self.ready.clear()
                pause = _FIRST_PAUSE_S
            self._closing.wait(self._chance.spread(pause / 2, pause))
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _listen(self) -> bool:
        """Listen until the connection breaks; False if listening is of no use here."""
        connection = connect(self._address)
        try:
            if is_pooled(connection):
                _log.warning(
                    "a connection pooler stands before %s: no hints from other instances, only polling; "
                    "give listen_url, a direct connection, to have them",
                    self._address.name,
                )
                return False
            lent = self._lent = Lent(connection)
            lent.wire.run(f'LISTEN "{self._channel}"'.encode())
            self.ready.set()
            self._hand_out(lent)
            return True
        finally:
            self._lent = None
            connection.close()

    def _hand_out(self, lent: Lent) -> None:
        """Wait on the socket itself: psycopg's own wait looks around ten times a second."""
        pgconn = lent.connection.pgconn
        line = select.poll()
        line.register(pgconn.socket, select.POLLIN)
        while not self._closing.is_set():
            while (notice := pgconn.notifies()) is not None:
                sender, _, topic = notice.extra.decode().partition(" ")
                if sender != self._sender and topic:
                    self._deliver(topic)
            if line.poll(_LOOK_AGAIN_S * 1000):
                pgconn.consume_input()
            else:
                # Nothing for a while: a question finds out whether the line is still there.
                lent.wire.run(b"SELECT 1")
