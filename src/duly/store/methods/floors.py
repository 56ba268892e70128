"""Floors: where in a line the claims of some jobs begin, because all that is due before waits for others.

A line is walked from its head, and runs of jobs that the claimer does not know are passed over one by one. A few cost
nothing, but behind a backlog of other jobs every claim would pay for all of it. So a claim that has passed over many
keeps for a while where it came out, and the next ones of the same jobs begin there.

A run may come in below a floor: it was due long ago, and was let go or fired only now. It is found when the floor is
forgotten, ``LASTS_MS`` after it was made at the latest.
"""

from __future__ import annotations

from typing import NamedTuple

LASTS_MS = 5_000
"""How long a floor holds, and how long nobody looks for one where there was little to pass over."""

MARGIN_MS = 2_000
"""How far below now a floor stays: what was due a moment ago may not have been committed yet."""

WORTH = 1_000
"""How many runs a claim must have passed over."""

GROUND = 0
"""No run is due before."""

MOST = 10_000


class Place(NamedTuple):
    """A line, and the jobs that are looked for in it."""

    queue: str
    priority: int
    jobs: tuple[str, ...]


class _Floor(NamedTuple):
    at: int
    made_at: int


class Floors:
    """The floors that the claims of one store go by."""

    def __init__(self) -> None:
        self._kept: dict[Place, _Floor] = {}

    def of(self, place: Place, now: int) -> int | None:
        """Where to begin; None if nobody has looked lately, so begin at the ground and look."""
        floor = self._kept.get(place)
        return floor.at if floor is not None and 0 <= now - floor.made_at < LASTS_MS else None

    def keep(self, place: Place, at: int, now: int) -> None:
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[place] = _Floor(at, now)

    def forget(self) -> None:
        """Runs were let go that may have been due long ago: let the next claims see them."""
        self._kept.clear()
