"""B: schedules firing at a constant rate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bench import history
from bench.bench import Bench
from bench.lags import first_starts, lag_figures, window_of

SHOWN = ("held_per_s", "p50_ms", "p99_ms", "max_ms", "missed", "doubled", "cpu_percent", "server_cpu_percent")
WARM_UP = 3.0
AFTER = 2.0


def run(bench: Bench) -> None:
    for kind in bench.options.stores:
        highest = 0
        for label, settings in bench.settings_to_try():
            for rate in bench.options.rates:
                answers = bench.repeat(partial(steady, bench, kind, rate, settings=settings))
                row = bench.report.add("B", f"duly/{kind}", f"{rate}/s{label}", answers, *SHOWN)
                if row.median("p99_ms") < 1000 and row.median("held_per_s") >= 0.99 * rate:
                    highest = max(highest, rate)
        bench.report.add("B", f"duly/{kind}", "highest rate held, p99 < 1 s", [{"per_s": float(highest)}], "per_s")


def steady(
    bench: Bench, kind: str, rate: int, *, settings: Mapping[str, Any] | None = None, stored: int = 0
) -> dict[str, float]:
    """``rate`` schedules, each every second, evenly spread over the second."""
    seconds = bench.options.steady_s
    with bench.stores.store(kind, stored) as url:
        at = bench.fill_due(url, "recurring", rate, every_s=1, spread_s=1.0)
        first = at + WARM_UP
        end = first + seconds
        answer = bench.children.run(
            "serve",
            url=url,
            starts_to=str(bench.starts_file()),
            settings=dict(settings or {}),
            from_at=at,
            until=end + AFTER,
            server_pid=bench.stores.server_pid(kind),
        )
        starts, again = first_starts(bench.read_starts())
        lags = [began - window_of(id) for id, began in starts.items() if first <= window_of(id) < end]
        rows, distinct = history.windows_completed(url, first, end)
    passed = WARM_UP + seconds + AFTER
    return {
        "held_per_s": distinct / seconds,
        **lag_figures(lags),
        "missed": rate * seconds - distinct,
        "doubled": max(again, rows - distinct),
        "cpu_percent": 100 * answer["cpu_s"] / passed,
        "server_cpu_percent": 100 * answer["server_cpu_s"] / passed,
    }
