"""Suspects, row by row: which of the runs that were lost before may be tried beside one another."""

from __future__ import annotations

import pytest

from duly.core.rules.suspects import NO_ROOM, Room, Suspect, choose


def waiting(*words: str) -> list[Suspect]:
    """Suspects by name; one whose name ends in ! is at its last attempt, with ? it was lost before that."""
    return [
        Suspect(word, attempt=2 if word.endswith("?") else 1, max_attempts=2 if word.endswith("!") else 9)
        for word in words
    ]


@pytest.mark.parametrize(
    "there, room, chosen, left",
    [
        (waiting(), Room(), [], Room()),
        (waiting("a", "b"), Room(0), [], Room(0)),
        (waiting("a", "b"), Room(-1, alone=False), [], Room(-1, alone=False)),
        (waiting("a", "b"), Room(1), ["a"], Room(0, alone=False)),
        (waiting("a", "b", "c"), Room(2, alone=False), ["a", "b"], Room(0, alone=False)),
        (waiting("a", "b"), Room(5), ["a", "b"], Room(3, alone=False)),
        (waiting("a!", "b"), Room(5), ["a!"], NO_ROOM),
        (waiting("a!", "b"), Room(5, alone=False), [], NO_ROOM),
        (waiting("a?", "b"), Room(5), ["a?"], NO_ROOM),
        (waiting("a", "b!", "c"), Room(5), ["a"], Room(4, alone=False)),
    ],
)
def test_who_may_be_tried_now(there: list[Suspect], room: Room, chosen: list[str], left: Room) -> None:
    assert choose(there, room) == (chosen, left)
