"""C: schedules created per second, with little and with much stored, and where a sync takes longer."""

from __future__ import annotations

from functools import partial

from bench.bench import Bench
from bench.slow_disk import slow_postgres

SIZES = (10_000, 100_000, 1_000_000)
SLOW = "sync 2 ms"


def run(bench: Bench) -> None:
    for kind in bench.options.stores:
        for size in SIZES:
            if size <= bench.options.stored:
                _create(bench, kind, size)
        _slowly(bench, kind)


def _create(bench: Bench, kind: str, size: int) -> None:
    def measure() -> dict[str, float]:
        with bench.stores.store(kind, size) as url:
            return bench.children.run("create", url=url, seconds=_seconds(bench))

    shown = ("sequential_per_s", "concurrent_per_s", "bulk_per_s")
    bench.report.add("C", f"duly/{kind}", f"{size} stored", bench.repeat(measure), *shown)


def _slowly(bench: Bench, kind: str) -> None:
    """Bare commits, bare creates and duly's creates, all on the same slow disk."""

    def measure(inside: str) -> dict[str, float]:
        with bench.stores.store(kind) as url:
            if kind == "postgres":
                slow_postgres(url)
            return bench.children.run(inside, url=url, seconds=_seconds(bench), slow_sqlite=kind == "sqlite")

    for inside in ("commits", "creates"):
        bench.report.add(
            "C", f"limit/{kind}", f"bare {inside}, {SLOW}", bench.repeat(partial(measure, inside)), "per_s"
        )
    shown = ("sequential_per_s", "concurrent_per_s", "bulk_per_s")
    bench.report.add("C", f"duly/{kind}", SLOW, bench.repeat(partial(measure, "create")), *shown)


def _seconds(bench: Bench) -> float:
    return 1.0 if bench.options.quick else 3.0
