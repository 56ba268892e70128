"""C: schedules created per second, with little and with much stored."""

from __future__ import annotations

from bench.bench import Bench

SIZES = (10_000, 100_000, 1_000_000)


def run(bench: Bench) -> None:
    sizes = [size for size in SIZES if size <= bench.options.stored]
    seconds = 1.0 if bench.options.quick else 3.0
    for kind in bench.options.stores:
        for size in sizes:

            def measure(kind: str = kind, size: int = size) -> dict[str, float]:
                with bench.stores.store(kind, size) as url:
                    return bench.children.run("create", url=url, seconds=seconds)

            shown = ("sequential_per_s", "concurrent_per_s", "bulk_per_s")
            bench.report.add("C", f"duly/{kind}", f"{size} stored", bench.repeat(measure), *shown)
