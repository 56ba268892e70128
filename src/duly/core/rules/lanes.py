"""Lanes of singleton keys: who may go, who waits, and who is turned away."""

from __future__ import annotations

from dataclasses import dataclass

from duly.core.lane import Singleton
from duly.core.run import Hold


@dataclass(frozen=True, slots=True)
class Line:
    """How many runs have a place in the lane, and how many wait for one."""

    in_lane: int = 0
    waiting: int = 0


def enter(line: Line, singleton: Singleton) -> tuple[Hold, Line] | None:
    """Where one more run stands, never before one that waits, and the line with it; None if the line is full."""
    if not line.waiting and line.in_lane < singleton.max_running:
        return Hold.NONE, Line(line.in_lane + 1, 0)
    if singleton.max_queued is None or line.waiting < singleton.max_queued:
        return Hold.LANE, Line(line.in_lane, line.waiting + 1)
    return None


def free_places(line: Line, max_running: int) -> int:
    """How many of those that wait may go now."""
    return max(0, min(line.waiting, max_running - line.in_lane))


def move_up(line: Line, max_running: int) -> Line:
    """The line after those that may go have gone."""
    free = free_places(line, max_running)
    return Line(line.in_lane + free, line.waiting - free)


def worth_counting(singleton: Singleton) -> int:
    """How far to count those that wait: more of them change no answer, also after the lane was widened."""
    return singleton.max_running + (singleton.max_queued or 0) + 1
