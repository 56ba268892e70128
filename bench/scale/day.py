"""The fires of one day, second by second, and what becomes of them in databases that carry so many a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from bench.scale.people import KINDS

DAY = 86_400
MONDAY = datetime(2027, 3, 1, tzinfo=UTC)
"""A Monday and the first of a month: the worst of days."""


@dataclass(frozen=True)
class Day:
    """Fires in each second of a day, and the seconds of work that they bring."""

    fires: list[float]
    work: list[float]

    def spread(self, seconds: int) -> Day:
        """The same with a jitter of up to so many seconds: each second's fires come evenly in those that follow."""
        return Day(_spread(self.fires, seconds), _spread(self.work, seconds))


def draw(schedules: int, sample: int, seed: int = 1) -> Day:
    """Draw ``sample`` schedules, let their own timings say when they fire, and count each for all it stands for."""
    luck = Random(seed)
    fires, work = [0.0] * DAY, [0.0] * DAY
    start, end = MONDAY - timedelta(milliseconds=1), MONDAY + timedelta(days=1, milliseconds=-1)
    for kind in KINDS:
        drawn = max(1, round(sample * kind.share / 100))
        weight = schedules * kind.share / 100 / drawn
        for _ in range(drawn):
            for window in kind.draw(luck).between(start, end):
                second = (window - MONDAY).seconds
                fires[second] += weight
                work[second] += weight * kind.seconds
    return Day(fires, work)


def lags(fires: Sequence[float], per_second: float) -> list[tuple[float, float]]:
    """How late each second's fires are, at worst, with how many they are, if so many a second can be fired."""
    found: list[tuple[float, float]] = []
    backlog = 0.0
    for arrived in fires:
        backlog += arrived
        if arrived:
            found.append((backlog / per_second, arrived))
        backlog = max(0.0, backlog - per_second)
    return found


def lag_at(found: Sequence[tuple[float, float]], share: float) -> float:
    """The lag that this share of all fires stays below."""
    wanted = share * sum(count for _, count in found)
    for lag, count in sorted(found):
        wanted -= count
        if wanted <= 0:
            return lag
    return 0.0


def databases(day: Day, per_second: float, allowed: float, share: float = 0.99) -> int:
    """The fewest databases, each with an equal part of the schedules, with which that share is late by no more."""
    low, high = 1, 1
    while lag_at(lags(day.fires, high * per_second), share) > allowed:
        low, high = high + 1, high * 2
    while low < high:
        middle = (low + high) // 2
        if lag_at(lags(day.fires, middle * per_second), share) > allowed:
            low = middle + 1
        else:
            high = middle
    return high


def workers(day: Day, allowed: float, concurrency: int) -> int:
    """The fewest processes of so many places each that get every second's work done within the allowed time."""
    window = max(1, round(allowed))
    busiest = max(sum(day.work[at : at + window]) for at in range(0, DAY, max(1, window // 4)))
    return max(1, -(-round(busiest / window) // concurrency))


def _spread(values: Sequence[float], seconds: int) -> list[float]:
    spread: list[float] = []
    total = sum(values[-seconds:])  # yesterday was such a day too
    for at, value in enumerate(values):
        total += value - values[at - seconds]
        spread.append(total / seconds)
    return spread
