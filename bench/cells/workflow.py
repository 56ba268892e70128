"""W: workflows of two trivial steps, run by one process."""

from __future__ import annotations

from functools import partial

from bench.bench import Bench

MEASURED = ("per_s", "steps_per_s", "wrong", "cpu_us", "server_cpu_us")


def run(bench: Bench) -> None:
    n = bench.options.queue // 10
    for kind in bench.options.stores:
        answers = bench.repeat(partial(workflows, bench, kind, n))
        bench.report.add("W", f"duly/{kind}", f"two steps {n}", answers, *MEASURED)


def workflows(bench: Bench, kind: str, n: int) -> dict[str, float]:
    with bench.stores.store(kind) as url:
        return dict(bench.children.run("workflows", url=url, n=n, server_pid=bench.stores.server_pid(kind)))
