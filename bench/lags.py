"""Lags: from what handlers noted to percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Start = tuple[str, float]
"""A run id and the second, by the wall clock, at which its handler began."""


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest value that ``percent`` of the values do not exceed; NaN of nothing."""
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def lag_figures(lags: Iterable[float]) -> dict[str, float]:
    """p50, p99 and the largest, from seconds to milliseconds."""
    ordered = sorted(lags)
    named = {"p50_ms": percentile(ordered, 50), "p99_ms": percentile(ordered, 99), "max_ms": percentile(ordered, 100)}
    return {name: value * 1000 for name, value in named.items()}


def first_starts(starts: Iterable[Start]) -> tuple[dict[str, float], int]:
    """When each run began first, and how many times one began again."""
    first: dict[str, float] = {}
    again = 0
    for run_id, at in starts:
        if run_id in first:
            again += 1
        first[run_id] = min(at, first.get(run_id, at))
    return first, again


def window_of(run_id: str) -> float:
    """The instant, in seconds, that a window's run id begins with."""
    return int(run_id.replace("-", "")[:12], 16) / 1000
