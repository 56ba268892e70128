"""K: a pause of everything in the store by filter, while other schedules fire at a constant rate."""

from __future__ import annotations

from functools import partial

from bench.bench import Bench
from bench.lags import first_starts, lag_figures, window_of

SHOWN = ("paused", "seconds", "per_s", "longest_step_ms", "p50_ms", "p99_ms", "max_ms", "calm_p99_ms", "calm_max_ms")
STORED = 100_000
RATE = 100
CALM = 4.0
AFTER = 2.0


def run(bench: Bench) -> None:
    stored = min(STORED, bench.options.stored)
    for kind in bench.options.stores:
        answers = bench.repeat(partial(pause_all, bench, kind, stored))
        bench.report.add("K", f"duly/{kind}", f"{stored} stored, {RATE}/s firing", answers, *SHOWN)


def pause_all(bench: Bench, kind: str, stored: int) -> dict[str, float]:
    """Fire for a while in calm, then pause all the stock, and compare the lags of the fires."""
    with bench.stores.store(kind, stored) as url:
        at = bench.fill_due(url, "recurring", RATE, every_s=1, spread_s=1.0)
        begin = at + CALM
        pausing = bench.children.start("bulk", url=url, at=begin)
        # The one that fires is stopped well after the pause; a step or two of quiet does no harm.
        bench.children.run(
            "serve", url=url, starts_to=str(bench.starts_file()), from_at=at, until=begin + AFTER + stored / 2000
        )
        paused = pausing.answer()
        starts, _ = first_starts(bench.read_starts())
    began, ended = paused["began"], paused["ended"]
    calm = lag_figures(start - window_of(id) for id, start in starts.items() if at + 1 <= window_of(id) < begin)
    meanwhile = lag_figures(start - window_of(id) for id, start in starts.items() if began <= window_of(id) < ended)
    return {
        "paused": paused["paused"],
        "seconds": ended - began,
        "per_s": paused["paused"] / (ended - began),
        "longest_step_ms": paused["longest_s"] * 1000,
        **meanwhile,
        "calm_p99_ms": calm["p99_ms"],
        "calm_max_ms": calm["max_ms"],
    }
