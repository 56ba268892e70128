"""What is counted with: buckets, and the numbers of each job up to a bound."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

MOST_JOBS: Final = 100
"""Jobs with numbers of their own: each is a handful of series in every scrape."""

OTHER: Final = "other"


class Histogram:
    """Counts per bucket; the last one has no upper bound."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class JobNumbers:
    """The attempts of one job: how many ended how, and how long they took together."""

    __slots__ = ("ended", "seconds", "timed")

    def __init__(self, outcomes: Iterable[type]) -> None:
        self.ended: dict[type, int] = dict.fromkeys(outcomes, 0)
        self.seconds = 0.0
        self.timed = 0

    def add_time(self, seconds: float) -> None:
        self.seconds += seconds
        self.timed += 1


class NumbersByJob:
    """Numbers for the first so many jobs that came, and one place for all that come after them."""

    def __init__(self, outcomes: Iterable[type], most: int = MOST_JOBS) -> None:
        self._outcomes = tuple(outcomes)
        self._most = most
        self._named: dict[str, JobNumbers] = {}
        self._other = JobNumbers(self._outcomes)

    def of(self, job: str) -> JobNumbers:
        """The numbers that this job adds to."""
        found = self._named.get(job)
        if found is not None:
            return found
        # A job that is called like the place for all the others shares it.
        if len(self._named) >= self._most or job == OTHER:
            return self._other
        numbers = self._named[job] = JobNumbers(self._outcomes)
        return numbers

    def __iter__(self) -> Iterator[tuple[str, JobNumbers]]:
        yield from sorted(self._named.items())
        if any(self._other.ended.values()):
            yield OTHER, self._other
