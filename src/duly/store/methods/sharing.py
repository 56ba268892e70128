"""Claims from fair queues: the keys are served in turn, from the one on that was served last.

Whoever claims here holds the queue's row, so nobody else walks at the same time. The walk probes an index once per key,
never once per run: a key with a million runs costs as much as one with a single run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duly.core.rules.fairness import after_key, in_turn, quota
from duly.store.statements import Program, query

from .gating import Gate

LEAST_WALK = 256
MOST_WALKS = 20


class _Walk(NamedTuple):
    """The keys that have due runs, in their turn; the last key looked at; and whether that was once round."""

    keys: list[str]
    last: str | None
    whole: bool


def choose_in_turn(line: Mapping[str, Any], gate: Gate, room: int) -> Program[list[str]]:
    """Choose up to ``room`` due runs of a line, each key in its turn; the gate remembers where to go on."""
    for _ in range(MOST_WALKS):
        walk = yield from _walk(line, gate.served, max(LEAST_WALK, 2 * room))
        turns = yield from _take_turns(line, gate, walk.keys, room)
        if turns:
            gate.served = turns[-1][0]
            return [run_id for _, run_id in turns]
        if walk.whole:
            break
        # So many keys without a run for us: the next claim goes on where this one gives up.
        gate.served = walk.last
    return []


def _walk(line: Mapping[str, Any], served: str | None, most: int) -> Program[_Walk]:
    place = {name: line[name] for name in ("queue", "priority", "now")}
    rows = yield query("fair_keys", **place, least=after_key(served), limit=most)
    whole = len(rows) < most
    if whole and served is not None:
        left = most - len(rows)
        others = yield query("fair_keys", **place, least=after_key(None), limit=left)
        again = [row for row in others if row[0] <= served]
        whole = len(again) < left
        rows = [*rows, *again]
    return _Walk([key for key, due in rows if due], rows[-1][0] if rows else None, whole)


def _take_turns(line: Mapping[str, Any], gate: Gate, keys: Sequence[str], room: int) -> Program[list[tuple[str, str]]]:
    """Let the keys take turns; where some have little, the others have more."""
    if not keys:
        return []
    name = "fair_heads_newest" if gate.queue.newest_first else "fair_heads"
    each = quota(room, len(keys))
    while True:
        waiting = yield query(name, **line, keys=list(keys), quota=each)
        turns = in_turn(keys, waiting, room)
        most_of_one = max(Counter(key for key, _ in waiting).values(), default=0)
        if len(turns) >= room or most_of_one < each:
            return turns
        each = min(room, each * 2)
