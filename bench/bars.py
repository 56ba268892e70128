"""The bars: each a ratio or a bound between figures of one run. What was not measured is left out."""

from __future__ import annotations

from bench.bench import Bench
from bench.report import Ratio, Report, Row

Figure = tuple[str, str, str, str]
"""Cell, who, what, figure."""


class Bars:
    """Looks figures up and keeps the comparisons."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def ratio(self, bar: str, what: str, over: Figure, under: Figure, least: float) -> None:
        """``over / under`` should be at least ``least``."""
        above, below = self._report.find(*over), self._report.find(*under)
        if above is not None and below is not None and below.median(under[3]):
            value = above.median(over[3]) / below.median(under[3])
            self._keep(bar, what, value, f">= {least:g}", value >= least, above, below)

    def least(self, bar: str, what: str, figure: Figure, least: float) -> None:
        row = self._report.find(*figure)
        if row is not None:
            self._keep(bar, what, row.median(figure[3]), f">= {least:,g}", row.median(figure[3]) >= least, row)

    def most(self, bar: str, what: str, figure: Figure, most: float) -> None:
        row = self._report.find(*figure)
        if row is not None:
            self._keep(bar, what, row.median(figure[3]), f"<= {most:,g}", row.median(figure[3]) <= most, row)

    def _keep(self, bar: str, what: str, value: float, wanted: str, reached: bool, *rows: Row) -> None:
        self._report.ratios.append(Ratio(bar, what, value, wanted, reached, [row.load for row in rows]))


def compare(bench: Bench) -> None:
    """Fill the report's comparisons."""
    bars = Bars(bench.report)
    for kind in bench.options.stores:
        _bursts(bars, bench, kind)
        _steady(bars, kind)
        _create_and_idle(bars, bench, kind)
        _queue(bars, bench, kind)
        _growth_and_pair(bars, bench, kind)
    for kind in bench.options.stores:
        bars.most("P12", f"row writes per recurring run, {kind}", ("P12", f"duly/{kind}", "recurring", "rows"), 5)
        bars.most(
            "P12", f"index entries per recurring run, {kind}", ("P12", f"duly/{kind}", "recurring", "entries"), 10
        )


def _bursts(bars: Bars, bench: Bench, kind: str) -> None:
    who = f"duly/{kind}"
    for label, _ in bench.settings_to_try():
        for n in bench.options.bursts:
            recurring = ("A", who, f"recurring {n}{label}", "per_s")
            oneshot = ("A", who, f"oneshot {n}{label}", "per_s")
            where = f"{n}{label}, {kind}"
            if kind == "postgres":
                limit = ("F", "limit/postgres", f"full {n}", "per_s")
                bars.ratio("P1", f"A recurring {where} / full limit", recurring, limit, 0.4)
                peers = (("bullmq-schedulers/redis", 3), ("apscheduler3/postgres", 8), ("pgqueuer-cron/postgres", 1))
                for peer, times in peers:
                    bars.ratio(
                        "P1", f"A recurring {where} / {peer}", recurring, ("A", peer, f"recurring {n}", "per_s"), times
                    )
                for peer in ("pgqueuer/postgres", "bullmq/redis"):
                    bars.ratio("P3", f"A one-shot {where} / {peer}", oneshot, ("A", peer, f"oneshot {n}", "per_s"), 1)
            else:
                bars.least("P2", f"A recurring {where}", recurring, 12_000)
                bars.ratio(
                    "P2", f"A recurring {where} / full limit", recurring, ("F", "limit/sqlite", f"full {n}", "per_s"), 0
                )
                slow = ("A", "apscheduler3/sqlite", f"recurring {n}", "per_s")
                bars.ratio("P2", f"A recurring {where} / apscheduler3", recurring, slow, 15)
                bars.ratio(
                    "P2", f"A one-shot {where} / huey", oneshot, ("A", "huey/sqlite", f"oneshot {n}", "per_s"), 1
                )


def _steady(bars: Bars, kind: str) -> None:
    bars.most("P4", f"B 1000/s p99 ms, {kind}", ("B", f"duly/{kind}", "1000/s", "p99_ms"), 20)
    bars.least("P4", f"B 5000/s held, {kind}", ("B", f"duly/{kind}", "5000/s", "held_per_s"), 4950)
    bars.most("P4", f"B 5000/s p99 ms, {kind}", ("B", f"duly/{kind}", "5000/s", "p99_ms"), 100)


def _create_and_idle(bars: Bars, bench: Bench, kind: str) -> None:
    who = f"duly/{kind}"
    commits = ("F", f"limit/{kind}", "bare commits", "per_s")
    for stored in (10_000, 100_000, 1_000_000):
        what, where = f"{stored} stored", f"{stored} stored, {kind}"
        alone = ("C", who, what, "sequential_per_s")
        bars.least("P6", f"C bulk, {where}", ("C", who, what, "bulk_per_s"), 30_000)
        bars.ratio("P6", f"C 100 callers / one, {where}", ("C", who, what, "concurrent_per_s"), alone, 5)
        bars.ratio("P6", f"C one caller / bare commits, {where}", alone, commits, 0.8)
        bars.most("P5", f"D p50 ms, {where}", ("D", who, what, "p50_ms"), 3)
        bars.most("P5", f"D p99 ms, {where}", ("D", who, what, "p99_ms"), 10)
        bars.most("P7", f"D RSS MB, {where}", ("D", who, what, "rss_mb"), 80)
        bars.most("P7", f"D idle CPU %, {where}", ("D", who, what, "cpu_percent"), 0.5)
        bars.most("P7", f"D ready s, {where}", ("D", who, what, "ready_s"), 1)


def _queue(bars: Bars, bench: Bench, kind: str) -> None:
    n = bench.options.queue
    peers = {"postgres": (("pgqueuer/postgres", 1.0), ("bullmq/redis", 1.0)), "sqlite": (("huey/sqlite", 3.0),)}
    for label, _ in bench.settings_to_try():
        drained = ("E", f"duly/{kind}", f"drain {n}{label}", "per_s")
        bars.ratio(
            "P9",
            f"E drain{label} / limit claim+settle, {kind}",
            drained,
            ("F", f"limit/{kind}", f"work {n}", "per_s"),
            0,
        )
        for peer, times in peers[kind]:
            bars.ratio("P9", f"E drain{label}, {kind} / {peer}", drained, ("E", peer, f"drain {n}", "per_s"), times)


def _growth_and_pair(bars: Bars, bench: Bench, kind: str) -> None:
    who, stored = f"duly/{kind}", bench.options.stored
    n, rate = bench.options.bursts[0], bench.options.rates[-1]
    for what, figure in ((f"recurring {n}", "per_s"), (f"{rate}/s", "held_per_s")):
        few, many = ("P8", who, f"{what} among 1000", figure), ("P8", who, f"{what} among {stored}", figure)
        bars.ratio("P8", f"{what}, {stored} stored / 1000 stored, {kind}", many, few, 0.7)
    for what in (f"recurring {bench.options.bursts[-1]}", f"drain {bench.options.queue}"):
        one, two = ("P11", who, f"{what}, processes 1", "per_s"), ("P11", who, f"{what}, processes 2", "per_s")
        bars.ratio("P11", f"{what}, two processes / one, {kind}", two, one, 1.3)
