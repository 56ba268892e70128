"""What a store promises to whoever follows what happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from duly.core.event import Event


@dataclass(frozen=True, slots=True)
class Watched:
    """How far the events go: the newest number given, and the newest that is gone. See ``Watching.watch_events``."""

    last: int
    gone: int
    settled: bool


@dataclass(frozen=True, slots=True)
class Events:
    """Some events in their order; ``waiting`` means that others have no number yet."""

    events: Sequence[Event]
    last: int
    gone: int
    waiting: bool = False


class Watching(Protocol):
    async def watch_events(self, *, lease_ms: int) -> Watched:
        """Let what happens be told for so long; call it again in time to go on.

        Other stores on the database begin to tell a moment later. When all of them do, an event ``stream.reset`` says
        so: what happened before it in this time of watching may not have been told.
        """
        ...

    async def number_events(self, *, limit: int) -> int:
        """Give numbers to up to ``limit`` events that have none; without one an event is not read."""
        ...

    async def read_events(self, *, after: int, limit: int) -> Events:
        """Answer up to ``limit`` events after a number, in their order, which is the order of their commits."""
        ...

    async def purge_events(self, *, keep_ms: int, most: int, limit: int) -> int:
        """Forget up to ``limit`` events that are older than that, or more than ``most`` back; answer how many."""
        ...
