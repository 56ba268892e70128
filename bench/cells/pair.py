"""P11: two scheduler and worker processes against one.

CPU is not shown: of two processes, each waits a while to see that nothing more comes, and that is in its CPU time.
Drains are longer than in cell E, because two processes do not start at the same instant: where all is drained within a
second, their starts are most of what would be measured.
"""

from __future__ import annotations

from functools import partial

from bench.bench import Bench
from bench.cells.burst import burst
from bench.cells.queue import queue

BURST = ("per_s", "last_s", "p50_ms", "p99_ms", "missed", "doubled")
DRAIN = ("per_s", "missed", "doubled")
LONGER = 5


def run(bench: Bench) -> None:
    n, queued = bench.options.bursts[-1], LONGER * bench.options.queue
    for kind in bench.options.stores:
        for count in (1, 2):
            bursts = bench.repeat(partial(burst, bench, kind, "recurring", n, processes=count))
            bench.report.add("P11", f"duly/{kind}", f"recurring {n}, processes {count}", bursts, *BURST)
        for count in (1, 2):
            drains = bench.repeat(partial(queue, bench, kind, queued, processes=count))
            bench.report.add("P11", f"duly/{kind}", f"drain {queued}, processes {count}", drains, *DRAIN)
