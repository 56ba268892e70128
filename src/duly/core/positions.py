"""Where a run stands in a list, newest first: by the instant that it is for, then by its id.

Most ids begin with that instant, and the primary key is the list. A run is undated whose id does not: one that its
caller named, a UUID of the caller's own, a redrive of an old window. The stores keep those in an index by the instant.
"""

from __future__ import annotations

from typing import NamedTuple

from .ids import is_id
from .run import RunKind

CEILING = "02000000-0000-0000-0000-000000000000"
"""No id from here on counts as dated (an instant from September 2039 on): nearly all ids that are hashes or random are
here, and a list need not step over them."""
_BY_WINDOW = (RunKind.WINDOW, RunKind.BACKFILL)


class Position(NamedTuple):
    """A place in the order of lists; a list goes down from it. Instant in epoch ms."""

    at: int
    id: str

    @property
    def bound(self) -> str:
        """The id below which the dated runs are that stand below this."""
        head = instant_of(self.id)
        if head == self.at:
            return min(self.id, CEILING)
        return min(_first_id(self.at + (head > self.at)), CEILING)

    @property
    def cursor(self) -> str:
        """What a client is given to go on from here: an id, where that says it all."""
        return self.id if instant_of(self.id) == self.at else f"{self.at}.{self.id}"


def position_of(id: str, kind: str, at: int) -> Position:
    """Where a run stands that is for an instant."""
    return Position(instant_of(id) if is_dated(id, kind, at) else at, id)


def is_dated(id: str, kind: str, at: int) -> bool:
    """Whether an id begins with the instant that its run is for, to the minute."""
    return id < CEILING and (kind in _BY_WINDOW or id[:8] == f"{at >> 16:08x}")


def read_position(cursor: str) -> Position | None:
    """Read a cursor back, also one that former versions gave out: an id; answer None for what is none."""
    at, dot, id = cursor.rpartition(".")
    if not is_id(id) or (dot and not (at.removeprefix("-").isdecimal() and at.isascii() and len(at) <= 16)):
        return None
    return Position(int(at) if dot else instant_of(id), id)


def instant_of(id: str) -> int:
    """What an id begins with, read as an instant."""
    return int(id[:8] + id[9:13], 16)


def _first_id(at: int) -> str:
    if at < 0:
        return "00000000-0000-0000-0000-000000000000"
    digits = f"{at:012x}"
    return f"{digits[:8]}-{digits[8:12]}-0000-0000-000000000000"
