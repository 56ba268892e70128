"""Compares two descriptions of a surface by meaning and reports the differences in words.

A description is a tree of dictionaries. Its leaves are scalars, or lists whose order does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Tree = dict[str, Any]

TITLES = {
    "cli": "CLI", "events": "event", "messages": "message", "metrics": "metric", "python": "Python", "rest": "REST",
    "settings": "setting",
}  # fmt: skip
"""The name of each surface in a report."""

MAX_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that was added, removed or changed. The first name in ``path`` is the surface."""

    verb: str
    path: tuple[str, ...]
    old: Any = None
    new: Any = None


def differences(old: Tree, new: Tree, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield the changes that turn ``old`` into ``new``, ordered by name."""
    for name in sorted(old.keys() | new.keys()):
        here = (*path, name)
        if name not in new:
            yield Difference("removed", here, old=old[name])
        elif name not in old:
            yield Difference("added", here, new=new[name])
        else:
            yield from _compare(old[name], new[name], here)


def _compare(old: Any, new: Any, here: tuple[str, ...]) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from differences(old, new, here)
    elif isinstance(old, list) and isinstance(new, list):
        before, after = ({_text(item): item for item in items} for items in (old, new))
        yield from differences(before, after, here)
    elif old != new:
        yield Difference("changed", here, old, new)


def report(found: Sequence[Difference]) -> list[str]:
    """Return one line per difference; a difference that several operations or commands share is reported once."""
    lines: list[str] = []
    for same, group in groupby(sorted(found, key=_sort_key), key=_group_key):
        first, *others = group
        lines.append(f"{first.verb}: {' '.join((TITLES.get(first.path[0], first.path[0]), *first.path[1:]))}{same[-1]}")
        if others:
            lines.append(f"    also: {', '.join(other.path[1] for other in others)}")
    return lines


def _group_key(difference: Difference) -> tuple[Any, ...]:
    """Return the key under which equal differences are grouped; its last part is the text of the values."""
    tail = difference.path[2:]
    place = () if tail else difference.path[1:]
    return difference.verb, difference.path[0], place, tail, _values(difference)


def _sort_key(difference: Difference) -> tuple[Any, ...]:
    return (*_group_key(difference), difference.path)


def _values(difference: Difference) -> str:
    if difference.verb == "changed":
        return f" {_text(difference.old)} -> {_text(difference.new)}"
    value = difference.new if difference.verb == "added" else difference.old
    if value in ({}, [], difference.path[-1]):
        return ""
    if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
        return f" ({', '.join(value)})"[:MAX_SHOWN]
    if isinstance(value, dict):
        return f" ({', '.join(f'{name} {_text(item)}' for name, item in value.items())})"
    return f" ({_text(value)})"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
