"""Lanes of singleton keys: one row each, locked by whoever lets a run in, ends one, or lets the next one go.

The lock comes first and the count after it, so the count sees everything that was done under the lock before: of two
that race, the second one sees what the first one did. Several rows are locked in the order of their ids, after
cursors and before runs, so that nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from duly.core.errors import SingletonQueueFull
from duly.core.lane import Singleton
from duly.core.rules.lanes import Line, enter, free_places, move_up, worth_counting
from duly.core.run import Hold
from duly.store.statements import Program, batch, columns, group, query

FORGET_AFTER_MS = 60_000
"""How long a lane that nobody uses keeps its row."""


class Lane(NamedTuple):
    """A lane whose row this transaction has locked."""

    id: str
    max_running: int
    tickets: int


class Entrance:
    """One lane while a transaction lets runs in."""

    def __init__(self, lane: Lane, singleton: Singleton, line: Line) -> None:
        self._tickets = lane.tickets
        self._line = move_up(line, singleton.max_running)
        self.singleton = singleton
        self.lane = lane
        self.free = free_places(line, singleton.max_running)

    @property
    def row(self) -> tuple[str, int, int]:
        """The lane as this transaction leaves it."""
        return self.lane.id, self.singleton.max_running, self._tickets

    def enter(self) -> tuple[Hold, int]:
        """Let one more run in, or refuse it; answer whether it waits, and its number in the line."""
        entered = enter(self._line, self.singleton)
        if entered is None:
            raise SingletonQueueFull.behind(self.singleton)
        hold, self._line = entered
        self._tickets += 1
        return hold, self._tickets


def lock_lanes(ids: Collection[str]) -> Program[list[Lane]]:
    rows = yield query("lock_lanes", ids=sorted(ids))
    return [Lane(*row) for row in rows]


def lock_lanes_of(run_ids: Sequence[str]) -> Program[list[Lane]]:
    """Lock the lanes of singleton keys that runs are in; most are in none."""
    if not run_ids:
        return []
    rows = yield query("lanes_of", ids=sorted(run_ids))
    return (yield from lock_lanes([row[0] for row in rows])) if rows else []


def release_lines(lanes: Sequence[Lane]) -> Program[int]:
    """Let those go that wait for places that are free now; answer how many."""
    if not lanes:
        return 0
    lines = yield from _count([(lane.id, lane.max_running) for lane in lanes])
    free = [(lane.id, places) for lane in lanes if (places := free_places(lines[lane.id], lane.max_running))]
    return (yield from _release(free))


def open_entrances(now: int, wanted: Mapping[str, tuple[tuple[str, str], Singleton]]) -> Program[dict[str, Entrance]]:
    """Lock the lanes, by id with realm and terms, that runs are to enter; one that is not there is made."""
    rows = [(id, *realm, terms.key, terms.max_running) for id, (realm, terms) in sorted(wanted.items())]
    locked = yield batch("hold_lanes", columns(("id", "tenant", "owner", "key", "max_running"), rows), now=now)
    lanes = [Lane(*row) for row in locked]
    lines = yield from _count([(lane.id, worth_counting(wanted[lane.id][1])) for lane in lanes])
    return {lane.id: Entrance(lane, wanted[lane.id][1], lines[lane.id]) for lane in lanes}


def rejoin(ids: Collection[str]) -> Program[dict[str, Entrance]]:
    """Lock the lanes that redriven runs come back to: their line has no bound for these."""
    if not ids:
        return {}
    lanes = yield from lock_lanes(ids)
    terms = {lane.id: Singleton(key="", max_running=lane.max_running) for lane in lanes}
    lines = yield from _count([(lane.id, worth_counting(terms[lane.id])) for lane in lanes])
    return {lane.id: Entrance(lane, terms[lane.id], lines[lane.id]) for lane in lanes}


def close_entrances(entrances: Mapping[str, Entrance]) -> Program[None]:
    """Write down what was let in; where a lane became wider, let those go that waited before."""
    if not entrances:
        return
    rows = [entrance.row for entrance in entrances.values()]
    yield batch("write_lanes", columns(("id", "max_running", "tickets"), rows))
    yield from _release([(id, entrance.free) for id, entrance in entrances.items() if entrance.free])


def purge_keys(now: int, limit: int) -> Program[int]:
    """Forget keys that hold nobody up; see ``Keeping.purge_keys``."""
    purged = yield group(
        query("purge_lanes", before=now - FORGET_AFTER_MS, limit=limit),
        query("purge_uniques", now=now, limit=limit),
        query("purge_event_ids", now=now, limit=limit),
        query("purge_gatherings", before=now - FORGET_AFTER_MS, limit=limit),
    )
    return sum(map(len, purged))


def _count(lanes: Sequence[tuple[str, int]]) -> Program[dict[str, Line]]:
    if not lanes:
        return {}
    rows = yield batch("count_lanes", columns(("id", "most"), lanes))
    return {id: Line(in_lane, waiting) for id, in_lane, waiting in rows}


def _release(free: Sequence[tuple[str, int]]) -> Program[int]:
    if not free:
        return 0
    return len((yield batch("release_line", columns(("id", "free"), free))))
