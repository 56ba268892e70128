"""Fair shares: queues of one priority, and the keys of a queue, are served in turn, however much each of them wants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Sized
from hashlib import blake2b

LEAST_CODE_POINT = "\x01"


def after_key(served: str | None) -> str:
    """The least key that comes after the one served last; no key holds a NUL, so nothing lies between the two."""
    return "" if served is None else served + LEAST_CODE_POINT


def quota(room: int, keys: int) -> int:
    """How many runs of each key to look at, so that as many keys can fill the room."""
    return -(-room // keys)


def in_turn(keys: Sequence[str], waiting: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """Choose up to ``room`` of the waiting (key, run): the first of each key in the order of the keys, then the second.

    ``waiting`` are in the order in which each key wants its own served.
    """
    lines: dict[str, list[str]] = defaultdict(list)
    for key, run_id in waiting:
        lines[key].append(run_id)
    longest = max(map(len, lines.values()), default=0)
    turns = [(key, lines[key][turn]) for turn in range(longest) for key in keys if turn < len(lines[key])]
    return turns[:room]


def shuffled(queues: Iterable[str], seed: str) -> list[str]:
    """The queues in an order that is another one for every seed: where room is scarce, each comes first in its time."""
    return sorted(queues, key=lambda queue: blake2b(f"{seed}/{queue}".encode(), digest_size=8).digest())


def shares(queues: Sequence[str], room: int, taken: Sized) -> Iterator[tuple[str, int]]:
    """Share a claim's room among the queues of one priority: each in turn, with how much it may take.

    Each has an equal part of what is left for it and those after it; then whoever took all of its part has the rest.
    ``taken`` is what the claim has so far, and grows between the turns. A queue that is alone has one turn.
    """
    wanting: list[str] = []
    for turn, queue in enumerate(queues):
        before = len(taken)
        share = quota(room - before, len(queues) - turn)
        if share == 0:
            return
        yield queue, share
        if len(taken) - before == share:
            wanting.append(queue)
    for queue in wanting:
        if len(taken) < room:
            yield queue, room - len(taken)
