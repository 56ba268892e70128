"""Hints going out: a topic changed, said on a thread of its own, at most once in a while."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from threading import Condition, Thread

from duly.core.errors import DulyError
from duly.store.postgres.arrays import encode_array

LEAST_PAUSE_S = 0.05
_LONGEST_CHANNEL = 63
"""Bytes: PostgreSQL refuses longer names."""


def channel_of(schema: str) -> str:
    """Return the channel of NOTIFY for the hints of stores in this schema; no two schemas share one."""
    channel = f"duly.{schema}"
    if len(channel) <= _LONGEST_CHANNEL:
        return channel
    digest = blake2b(schema.encode(), digest_size=8).hexdigest()
    return f"{channel[: _LONGEST_CHANNEL - len(digest) - 1]}.{digest}"  # no schema has a dot in its name


class Hinter:
    """Gathers topics and sends each at most once per pause. What cannot be sent is dropped: polling finds it."""

    def __init__(self, send: Callable[[str], None], sender: str) -> None:
        self._send = send
        self._sender = sender
        self._changed = Condition()
        self._topics: set[str] = set()
        self._thread: Thread | None = None
        self._closed = False

    def hint(self, topic: str) -> None:
        """Send a topic some time soon; never blocks and never raises."""
        with self._changed:
            if self._closed or topic in self._topics:
                return
            if self._thread is None:
                self._thread = self._started()
            if self._thread is not None:
                self._topics.add(topic)
                self._changed.notify()

    def close(self) -> None:
        """Send nothing more; wait for what is being sent."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _started(self) -> Thread | None:
        """The thread that sends; None where the machine has none to give, and the next hint asks again."""
        thread = Thread(target=self._work, name="duly-postgres-hints", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return None
        return thread

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._topics or self._closed)
                if self._closed:
                    return
                topics, self._topics = self._topics, set()
            with suppress(DulyError):
                self._send(encode_array([f"{self._sender} {topic}" for topic in sorted(topics)]))
            with self._changed:
                self._changed.wait_for(lambda: self._closed, LEAST_PAUSE_S)
