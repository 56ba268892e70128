"""What is counted with: buckets, and the numbers of each job and each target up to a bound."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, Generic, TypeVar

MOST_NAMES: Final = 100
"""Jobs, or targets, with numbers of their own: each is a handful of series in every scrape."""

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


class TargetNumbers:
    """The messages to one target: how many were answered how, how long each send took, and whether nobody is there."""

    __slots__ = ("away", "results", "seconds")

    def __init__(self, buckets: Sequence[float]) -> None:
        self.results: Counter[str] = Counter()
        self.seconds = Histogram(buckets)
        self.away = False


N = TypeVar("N")


class ByName(Generic[N]):
    """Numbers for the first so many names that came, and one place for all that come after them."""

    def __init__(self, make: Callable[[], N], most: int = MOST_NAMES) -> None:
        self._make = make
        self._most = most
        self._named: dict[str, N] = {}
        self._other: N | None = None

    def of(self, name: str) -> N:
        """The numbers that this name adds to."""
        found = self._named.get(name)
        if found is not None:
            return found
        # One that is called like the place for all the others shares it.
        if len(self._named) >= self._most or name == OTHER:
            if self._other is None:
                self._other = self._make()
            return self._other
        numbers = self._named[name] = self._make()
        return numbers

    def __iter__(self) -> Iterator[tuple[str, N]]:
        yield from sorted(self._named.items(), key=itemgetter(0))
        if self._other is not None:
            yield OTHER, self._other
