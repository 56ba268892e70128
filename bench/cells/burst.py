"""A: everything due at one instant. Also P8 (much stored), P11 (two processes)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bench import history
from bench.bench import Bench
from bench.lags import first_starts, lag_figures
from bench.processes import ChildFailed

SHOWN = ("per_s", "last_s", "p50_ms", "p99_ms", "missed", "doubled", "cpu_us", "server_cpu_us", "grown_mb")


def run(bench: Bench) -> None:
    for kind in bench.options.stores:
        for n in bench.options.bursts:
            for label, settings in bench.settings_to_try():
                for shape in ("recurring", "oneshot"):
                    what = f"{shape} {n}{label}"
                    answers = bench.repeat(partial(burst, bench, kind, shape, n, settings=settings))
                    bench.report.add("A", f"duly/{kind}", what, answers, *SHOWN)


def burst(
    bench: Bench,
    kind: str,
    shape: str,
    n: int,
    *,
    settings: Mapping[str, Any] | None = None,
    stored: int = 0,
    processes: int = 1,
) -> dict[str, float]:
    """One burst on a store of its own: ``n`` due at one instant among ``stored`` others."""
    with bench.stores.store(kind, stored) as url:
        at = bench.fill_due(url, shape, n)
        servers = [
            bench.children.start(
                "serve",
                url=url,
                starts_to=str(bench.starts_file(number)),
                settings=dict(settings or {}),
                enough=n,
                from_at=at,
                server_pid=bench.stores.server_pid(kind),
            )
            for number in range(processes)
        ]
        answers = [server.answer() for server in servers]
        if not any(answer["ended"] for answer in answers):
            raise ChildFailed(f"burst {kind} {shape} {n}: nothing ended")
        if any(answer["late"] for answer in answers):
            bench.report.say(f"burst {kind} {shape} {n}: a process was not ready in time; read its lag with care")
        return _figures(bench, url, shape, n, at, answers)


def _figures(
    bench: Bench, url: str, shape: str, n: int, at: float, answers: list[dict[str, float]]
) -> dict[str, float]:
    first, again = first_starts(bench.read_starts(len(answers)))
    if shape == "recurring":
        rows, distinct = history.windows_completed(url, at, at + 0.001)
    else:
        rows, distinct = history.runs_completed(url)
    last = max(answer["last_at"] for answer in answers) - at
    return {
        "per_s": distinct / last,
        "last_s": last,
        **lag_figures(start - at for start in first.values()),
        "missed": n - distinct,
        "doubled": max(again, rows - distinct),
        "cpu_us": 1e6 * sum(answer["cpu_s"] for answer in answers) / n,
        "server_cpu_us": 1e6 * max(answer["server_cpu_s"] for answer in answers) / n,
        "grown_mb": max(answer["grown_mb"] for answer in answers),
    }
