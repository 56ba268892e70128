"""Fair shares: the keys of a queue are served in turn, however much each of them wants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
