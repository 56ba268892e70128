"""Suspects: runs that were lost before, because their process died while it had them.

One of them may have killed it, and the others were only beside it. So suspects are tried few at a time, and one that
was lost again, or is on its last attempt, has no other suspect beside it: a run that kills its process costs the rest
two attempts at most, and never the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Suspect:
    """A run that was lost before and waits; ``attempt`` counts those it has had."""

    id: str
    attempt: int
    max_attempts: int

    @property
    def goes_alone(self) -> bool:
        return self.attempt > 1 or self.attempt + 1 >= self.max_attempts


@dataclass(frozen=True, slots=True)
class Room:
    """How many suspects a session may take; ``alone`` says that it has none, so one that goes alone may come."""

    most: int = 1
    alone: bool = True


ONE = Room()
NO_ROOM = Room(0, alone=False)


def choose(waiting: Sequence[Suspect], room: Room) -> tuple[list[str], Room]:
    """Choose from the suspects that wait, oldest first, and answer what room is left.

    Nobody overtakes one that goes alone: it waits until it can, and the rest behind it.
    """
    if not waiting or room.most <= 0:
        return [], room
    if waiting[0].goes_alone:
        return ([waiting[0].id] if room.alone else []), NO_ROOM
    taken = [one.id for one in takewhile(lambda one: not one.goes_alone, waiting[: room.most])]
    return taken, Room(room.most - len(taken), alone=False)
