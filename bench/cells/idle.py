"""D: what a process costs while nothing is due, and the lag of a single due schedule."""

from __future__ import annotations

import time

from bench.bench import Bench

SHOWN = ("ready_s", "spawn_to_ready_s", "rss_mb", "cpu_percent", "server_cpu_percent", "p50_ms", "p99_ms", "max_ms")


def run(bench: Bench) -> None:
    for kind in bench.options.stores:
        for size in sorted({min(100_000, bench.options.stored), bench.options.stored}):

            def measure(kind: str = kind, size: int = size) -> dict[str, float]:
                with bench.stores.store(kind, size) as url:
                    return bench.children.run(
                        "idle",
                        url=url,
                        spawned_at=time.time(),
                        idle_s=bench.options.idle_s,
                        server_pid=bench.stores.server_pid(kind),
                    )

            bench.report.add("D", f"duly/{kind}", f"{size} stored", bench.repeat(measure), *SHOWN)
