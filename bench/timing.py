"""Cron against cronsim, one question each: build the object and ask once.

    PYTHONPATH=src python bench/timing.py [--calls 2000] [--rounds 5]

Three rows per expression and zone, all in microseconds per call, the best of several interleaved rounds:

* ``next``, ``latest``: ``Cron(expr, zone).next_after(t)`` and ``.latest_at(t)`` with datetimes in and out, against
  ``next(CronSim(expr, t))`` and its reverse. Cron is shared by definition, so building it again is a lookup: that is
  how the engine meets it. cronsim has nothing to share and parses every time.
* ``next cold``: the same with all of our own parse caches emptied before each call, so that both parse. The zone's
  offsets stay known, as zoneinfo's do for cronsim.
* ``next ms``: the integer face on a Cron that is already there, as the engine uses it; for information, no ratio.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from zoneinfo import ZoneInfo

from cronsim import CronSim

from duly.core.timing import Cron, cron, days, fields, pattern, steps

EXPRESSIONS = ("* * * * *", "0 2 * * *", "0 0 29 2 *", "*/20 * * * * *")
ZONES = ("UTC", "America/New_York")
INSTANT = datetime(2026, 5, 5, 11, 22, 33, tzinfo=UTC)


def ask_next(expr: str, zone: str) -> object:
    return Cron(expr, zone).next_after(INSTANT)


def ask_latest(expr: str, zone: str) -> object:
    return Cron(expr, zone).latest_at(INSTANT)


def ask_cronsim(expr: str, instant: datetime, reverse: bool) -> object:
    return next(CronSim(expr, instant, reverse=reverse))


def best_us(calls: int, rounds: int, *asked: Callable[[], object]) -> list[float]:
    """The best round of each question, taken in turns so that a busy machine slows all of them alike."""
    best = [math.inf] * len(asked)
    for _ in range(rounds):
        for index, ask in enumerate(asked):
            began = perf_counter()
            for _ in range(calls):
                ask()
            best[index] = min(best[index], (perf_counter() - began) / calls * 1e6)
    return best


def forget_parsing() -> None:
    """Empty every cache between the text of an expression and its evaluator."""
    for cached in (
        cron._built,
        pattern.pattern_of,
        days.days_of,
        fields.parse_values,
        fields.parse_month_days,
        fields.parse_weekdays,
        steps.next_values,
        steps.last_values,
    ):
        cached.cache_clear()


def cold_us(calls: int, rounds: int, expr: str, zone: str) -> float:
    """The best round of building a Cron from text and asking once; emptying the caches is not counted."""
    best = math.inf
    for _ in range(rounds):
        spent = 0.0
        for _ in range(calls):
            forget_parsing()
            began = perf_counter()
            Cron(expr, zone).next_after(INSTANT)
            spent += perf_counter() - began
        best = min(best, spent / calls * 1e6)
    return best


def row(expr: str, zone: str, what: str, ours: float, theirs: float | None) -> None:
    ratio = f"{theirs:9.2f} {theirs / ours:7.1f}x" if theirs is not None else f"{'-':>9} {'-':>8}"
    print(f"{expr:<16} {zone:<17} {what:<10} {ours:9.2f} {ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'expression':<16} {'zone':<17} {'question':<10} {'duly us':>9} {'cronsim':>9} {'ratio':>8}")
    ratios: dict[str, list[float]] = {"next": [], "latest": [], "next cold": []}
    for zone in ZONES:
        local = INSTANT.astimezone(ZoneInfo(zone)) if zone != "UTC" else INSTANT
        for expr in EXPRESSIONS:
            ready, now_ms = Cron(expr, zone), int(INSTANT.timestamp() * 1000)
            next_us, their_next, latest_us, their_latest, ms_us = best_us(
                options.calls,
                options.rounds,
                partial(ask_next, expr, zone),
                partial(ask_cronsim, expr, local, False),
                partial(ask_latest, expr, zone),
                partial(ask_cronsim, expr, local, True),
                partial(ready.next_after_ms, now_ms),
            )
            cold = cold_us(options.calls // 4, options.rounds, expr, zone)
            row(expr, zone, "next", next_us, their_next)
            row(expr, zone, "latest", latest_us, their_latest)
            row(expr, zone, "next cold", cold, their_next)
            row(expr, zone, "next ms", ms_us, None)
            ratios["next"].append(their_next / next_us)
            ratios["latest"].append(their_latest / latest_us)
            ratios["next cold"].append(their_next / cold)
    for what, values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{what:<10} geometric mean {mean:6.1f}x, least {min(values):5.1f}x")


if __name__ == "__main__":
    main()
