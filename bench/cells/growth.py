"""P8: the same due work among a thousand, ten times as many, and so on up to very many stored schedules."""

from __future__ import annotations

from functools import partial

from bench.bench import Bench
from bench.cells.burst import SHOWN as BURST_SHOWN
from bench.cells.burst import burst
from bench.cells.steady import SHOWN as STEADY_SHOWN
from bench.cells.steady import steady

FEW = 1000


def run(bench: Bench) -> None:
    n, rate = bench.options.bursts[0], bench.options.rates[-1]
    for kind in bench.options.stores:
        for size in sizes(bench.options.stored):
            bursts = bench.repeat(partial(burst, bench, kind, "recurring", n, stored=size))
            bench.report.add("P8", f"duly/{kind}", f"recurring {n} among {size}", bursts, *BURST_SHOWN)
        for size in (FEW, bench.options.stored):
            held = bench.repeat(partial(steady, bench, kind, rate, stored=size))
            bench.report.add("P8", f"duly/{kind}", f"{rate}/s among {size}", held, *STEADY_SHOWN)


def sizes(most: int) -> list[int]:
    """From a few, ten times as many each time, up to the most."""
    found = [FEW]
    while found[-1] * 10 < most:
        found.append(found[-1] * 10)
    return found if most <= FEW else [*found, most]
