"""F: the machine's own limit, and the product's store without its engine."""

from __future__ import annotations

import time

from bench.bench import Bench

BATCHES = (500, 1000)
SHAPES = {"sqlite": ("fire", "full", "work"), "postgres": ("fire", "full", "fused", "work")}


def run(bench: Bench) -> None:
    for kind in bench.options.stores:
        _alone(bench, kind, "commits", "bare commits")
        _alone(bench, kind, "creates", "bare creates")
        for n in bench.options.bursts:
            for shape in SHAPES[kind]:
                _shape(bench, kind, shape, n)
            _store(bench, kind, n)


def _alone(bench: Bench, kind: str, inside: str, what: str) -> None:
    """One commit after another."""

    def measure() -> dict[str, float]:
        with bench.stores.store(kind) as url:
            return bench.children.run(inside, url=url, seconds=1.0 if bench.options.quick else 3.0)

    bench.report.add("F", f"limit/{kind}", what, bench.repeat(measure), "per_s")


def _shape(bench: Bench, kind: str, shape: str, n: int) -> None:
    """The better of the batch sizes: a limit is the most that can be had."""
    best: list[dict[str, float]] = []
    for batch in BATCHES:

        def measure(batch: int = batch) -> dict[str, float]:
            with bench.stores.store(kind) as url:
                return bench.children.run(f"limit_{kind}", url=url, shape=shape, n=n, batch=batch)

        answers = bench.repeat(measure)
        if not best or _middle(answers) > _middle(best):
            best = answers
    bench.report.add("F", f"limit/{kind}", f"{shape} {n}", best, "per_s")


def _store(bench: Bench, kind: str, n: int) -> None:
    def measure() -> dict[str, float]:
        with bench.stores.store(kind) as url:
            at = bench.fill_due(url, "recurring", n)
            time.sleep(max(0.0, at - time.time()))
            return bench.children.run("store_loop", url=url, server_pid=bench.stores.server_pid(kind))

    shown = ("per_s", "fire_us", "claim_us", "settle_us", "cpu_us", "server_cpu_us")
    bench.report.add("F", f"duly store/{kind}", f"full {n}", bench.repeat(measure), *shown, note="no engine, batch 500")


def _middle(answers: list[dict[str, float]]) -> float:
    return sorted(answer["per_s"] for answer in answers)[len(answers) // 2]
