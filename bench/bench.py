"""What every cell is given: the options, the stores, the children and the report."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.lags import Start
from bench.processes import ChildFailed, Children
from bench.report import Report
from bench.stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much to measure."""

    stores: Sequence[str] = ("sqlite", "postgres")
    peers: Sequence[str] = ()
    reps: int = 3
    stored: int = 1_000_000
    bursts: Sequence[int] = (5000, 20_000)
    rates: Sequence[int] = (1000, 5000, 8000)
    steady_s: float = 15.0
    idle_s: float = 20.0
    queue: int = 20_000
    quick: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One run of the benchmark."""

    options: Options
    stores: Stores
    children: Children
    report: Report
    folder: Path
    cache: Path

    def repeat(self, measure: Callable[[], dict[str, float]]) -> list[dict[str, float]]:
        """Measure as often as the options say."""
        return [measure() for _ in range(self.options.reps)]

    def settings_to_try(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The defaults, then those given on the command line."""
        yield "", {}
        if self.options.settings:
            yield (
                ", " + " ".join(f"{name}={value}" for name, value in self.options.settings.items()),
                self.options.settings,
            )

    def fill_due(self, url: str, kind: str, n: int, **more: Any) -> float:
        """Put ``n`` due at one instant into a store; answer the instant, which has not come yet."""
        at = float(math.ceil(time.time() + 4 + n / 1500))
        self.children.run("fill", url=url, kind=kind, n=n, at=at, **more)
        if time.time() > at - 1:
            raise ChildFailed(f"filling a store with {n} took longer than expected: the machine is too busy")
        return at

    def starts_file(self, number: int = 0) -> Path:
        return self.folder / f"starts-{number}.json"

    def read_starts(self, processes: int = 1) -> list[Start]:
        """What the handlers of the last measurement noted."""
        starts: list[Start] = []
        for number in range(processes):
            starts += [(run_id, at) for run_id, at in json.loads(self.starts_file(number).read_text())]
        return starts
