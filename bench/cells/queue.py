"""E: runs enqueued and drained by one worker process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bench import history
from bench.bench import Bench
from bench.lags import first_starts
from bench.processes import ChildFailed

ENQUEUED = ("sequential_per_s", "concurrent_per_s", "bulk_per_s")
DRAINED = ("per_s", "missed", "doubled", "cpu_us", "server_cpu_us")


def run(bench: Bench) -> None:
    n = bench.options.queue
    for kind in bench.options.stores:
        for label, settings in bench.settings_to_try():
            answers = bench.repeat(partial(queue, bench, kind, n, settings=settings))
            if not label:
                bench.report.add("E", f"duly/{kind}", f"enqueue {n}", answers, *ENQUEUED)
            bench.report.add("E", f"duly/{kind}", f"drain {n}{label}", answers, *DRAINED)


def queue(
    bench: Bench, kind: str, n: int, *, settings: Mapping[str, Any] | None = None, processes: int = 1
) -> dict[str, float]:
    """Enqueue ``n`` runs, then start the workers: the clock runs from before they start to the last end."""
    with bench.stores.store(kind) as url:
        enqueued = bench.children.run("enqueue", url=url, n=n)
        workers = [
            bench.children.start(
                "serve",
                url=url,
                starts_to=str(bench.starts_file(number)),
                settings=dict(settings or {}),
                roles=("worker",),
                enough=n,
                server_pid=bench.stores.server_pid(kind),
            )
            for number in range(processes)
        ]
        answers = [worker.answer() for worker in workers]
        if not any(answer["ended"] for answer in answers):
            raise ChildFailed(f"queue {kind} {n}: nothing ended")
        _, again = first_starts(bench.read_starts(processes))
        rows, distinct = history.runs_completed(url)
    passed = max(answer["last_at"] for answer in answers) - min(answer["from_at"] for answer in answers)
    return {
        **enqueued,
        "per_s": distinct / passed,
        "missed": n - distinct,
        "doubled": max(again, rows - distinct),
        "cpu_us": 1e6 * sum(answer["cpu_s"] for answer in answers) / n,
        "server_cpu_us": 1e6 * max(answer["server_cpu_s"] for answer in answers) / n,
    }
