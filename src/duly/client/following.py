"""The stream of events as a client follows it: what to ask for, what a line means, when to come back.

Nothing is sent here: both clients drive it. Its place is the id of the last event, so a connection that breaks costs
neither an event nor a double.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from .calls import Answer, Call, Failure, Reply
from .problems import read_reply
from .talking import LONGEST_WAIT, wait_before_next

PATH = "/api/v1/events"


class Following:
    """One reader's place in the stream."""

    def __init__(self, query: Mapping[str, str], after: str | int | None, place: str, tries: int) -> None:
        self._query = query
        self._last = None if after is None else str(after)
        self._place = place
        self._tries = tries
        self._failures = 0
        self._has_heard = False
        self._pause = 2.0
        self._data: list[str] = []

    @property
    def call(self) -> Call:
        """The next request."""
        headers = {"Accept": "text/event-stream"} | ({} if self._last is None else {"Last-Event-ID": self._last})
        return Call(method="GET", path=PATH, query=self._query, headers=headers, repeatable=True)

    def take(self, line: str) -> Answer | None:
        """Read a line; answer the event that it ends."""
        self._has_heard, self._failures = True, 0
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._last = value
        elif name == "data":
            self._data.append(value)
        elif name == "retry" and value.isdecimal():
            self._pause = int(value) / 1000
        elif not line and self._data:
            text, self._data = "\n".join(self._data), []
            event: Answer = json.loads(text)
            return event
        return None

    def ended(self) -> float:
        """The server ended the stream; answer the seconds until the next request."""
        self._data = []
        return self._pause

    def failed(self, reply: Reply | Failure) -> float:
        """It did not come about, or broke off: seconds until the next request, or the error if that is of no use."""
        self._data = []
        self._failures += 1
        wait = wait_before_next(self.call, reply, min(self._failures, 8))
        if wait is None or (not self._has_heard and self._failures >= self._tries):
            read_reply(self.call, reply, self._place)
            raise AssertionError("what is no stream is an error")
        return min(max(wait, self._pause if self._has_heard else 0.0), LONGEST_WAIT)
