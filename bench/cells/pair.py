"""P11: two scheduler and worker processes against one."""

from __future__ import annotations

from functools import partial

from bench.bench import Bench
from bench.cells.burst import SHOWN as BURST_SHOWN
from bench.cells.burst import burst
from bench.cells.queue import DRAINED, queue


def run(bench: Bench) -> None:
    n, queued = bench.options.bursts[-1], bench.options.queue
    for kind in bench.options.stores:
        for count in (1, 2):
            bursts = bench.repeat(partial(burst, bench, kind, "recurring", n, processes=count))
            bench.report.add("P11", f"duly/{kind}", f"recurring {n}, processes {count}", bursts, *BURST_SHOWN)
        for count in (1, 2):
            drains = bench.repeat(partial(queue, bench, kind, queued, processes=count))
            bench.report.add("P11", f"duly/{kind}", f"drain {queued}, processes {count}", drains, *DRAINED)
