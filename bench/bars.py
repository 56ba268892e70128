"""The bars: each a ratio or a bound between figures of one run. What was not measured is left out."""

from __future__ import annotations

from bench.bench import Bench
from bench.cells.create import SLOW
from bench.cells.pair import LONGER
from bench.peering import beside
from bench.report import Ratio, Report, Row

Figure = tuple[str, str, str, str]
"""Cell, who, what, figure."""

PEERS = (
    ("P1", "A", "recurring", "bullmq-schedulers/redis", 3),
    ("P1", "A", "recurring", "apscheduler3/postgres", 8),
    ("P1", "A", "recurring", "pgqueuer-cron/postgres", None),
    ("P2", "A", "recurring", "apscheduler3/sqlite", 15),
    ("P2", "A", "oneshot", "huey/sqlite", None),
    ("P3", "A", "oneshot", "pgqueuer/postgres", 1),
    ("P3", "A", "oneshot", "bullmq/redis", None),
    ("P4", "B", "steady", "bullmq-schedulers/redis", 1),
    ("P9", "E", "drain", "pgqueuer/postgres", 1),
    ("P9", "E", "drain", "bullmq/redis", None),
    ("P9", "E", "drain", "huey/sqlite", 3),
    ("P10", "W", "two steps", "dbos/postgres", 10),
)
"""Bar, cell, what, peer, and how many times as fast duly should be; None where no bar is set."""


class Bars:
    """Looks figures up and keeps the comparisons."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def ratio(self, bar: str, what: str, over: Figure, under: Figure, least: float | None) -> None:
        """``over / under`` should be at least ``least``; None only shows it."""
        above, below = self._report.find(*over), self._report.find(*under)
        if above is not None and below is not None and below.median(under[3]):
            value = above.median(over[3]) / below.median(under[3])
            if least is None:
                self._keep(bar, what, value, "", None, above, below)
            else:
                self._keep(bar, what, value, f">= {least:g}", value >= least, above, below)

    def least(self, bar: str, what: str, figure: Figure, least: float) -> None:
        row = self._report.find(*figure)
        if row is not None:
            self._keep(bar, what, row.median(figure[3]), f">= {least:,g}", row.median(figure[3]) >= least, row)

    def most(self, bar: str, what: str, figure: Figure, most: float) -> None:
        row = self._report.find(*figure)
        if row is not None:
            self._keep(bar, what, row.median(figure[3]), f"<= {most:,g}", row.median(figure[3]) <= most, row)

    def _keep(self, bar: str, what: str, value: float, wanted: str, reached: bool | None, *rows: Row) -> None:
        self._report.ratios.append(Ratio(bar, what, value, wanted, reached, [row.load for row in rows]))


def compare(bench: Bench) -> None:
    """Fill the report's comparisons."""
    bars = Bars(bench.report)
    for question in ("next", "latest"):
        bars.least("T", f"cron {question}, times cronsim", ("T", "duly/cron", question, "times_cronsim"), 8)
        bars.least("T", f"cron {question}, the slowest expression", ("T", "duly/cron", question, "least"), 5)
    for kind in bench.options.stores:
        _bursts(bars, bench, kind)
        _steady(bars, kind)
        _create_and_idle(bars, bench, kind)
        _queue(bars, bench, kind)
        _growth_and_pair(bars, bench, kind)
    _peers(bars, bench)
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
            where = f"{n}{label}, {kind}"
            limit = ("F", f"limit/{kind}", f"full {n}", "per_s")
            if kind == "postgres":
                bars.ratio("P1", f"A recurring {where} / full limit", recurring, limit, 0.4)
            else:
                bars.least("P2", f"A recurring {where}", recurring, 12_000)
                bars.ratio("P2", f"A recurring {where} / full limit", recurring, limit, None)


def _peers(bars: Bars, bench: Bench) -> None:
    """Each peer against duly doing the same in turn with it, never against duly at another time."""
    for bar, cell, what, peer, times in PEERS:
        sizes = {
            "A": [f"{what} {n}" for n in bench.options.bursts],
            "B": [f"{rate}/s" for rate in bench.options.rates],
            "E": [f"{what} {bench.options.queue}"],
            "W": [f"{what} {bench.options.queue // 10}"],
        }
        figure = "held_per_s" if cell == "B" else "per_s"
        for label in sizes[cell]:
            ours, theirs = (cell, beside(peer), label, figure), (cell, peer, label, figure)
            bars.ratio(bar, f"{cell} {label}, {beside(peer)}", ours, theirs, times)


def _steady(bars: Bars, kind: str) -> None:
    bars.most("P4", f"B 1000/s p99 ms, {kind}", ("B", f"duly/{kind}", "1000/s", "p99_ms"), 20)
    bars.least("P4", f"B 5000/s held, {kind}", ("B", f"duly/{kind}", "5000/s", "held_per_s"), 4950)
    bars.most("P4", f"B 5000/s p99 ms, {kind}", ("B", f"duly/{kind}", "5000/s", "p99_ms"), 100)


def _create_and_idle(bars: Bars, bench: Bench, kind: str) -> None:
    who = f"duly/{kind}"
    commits, creates = (("F", f"limit/{kind}", f"bare {what}", "per_s") for what in ("commits", "creates"))
    for stored in (10_000, 100_000, 1_000_000):
        what, where = f"{stored} stored", f"{stored} stored, {kind}"
        alone = ("C", who, what, "sequential_per_s")
        bars.least("P6", f"C bulk, {where}", ("C", who, what, "bulk_per_s"), 30_000)
        bars.ratio("P6", f"C 100 callers / one, {where}", ("C", who, what, "concurrent_per_s"), alone, 5)
        bars.ratio("P6", f"C one caller / bare commits, {where}", alone, commits, 0.8)
        bars.ratio("P6", f"C one caller / bare creates, {where}", alone, creates, None)
        bars.most("P5", f"D p50 ms, {where}", ("D", who, what, "p50_ms"), 3)
        bars.most("P5", f"D p99 ms, {where}", ("D", who, what, "p99_ms"), 10)
        bars.most("P7", f"D RSS MB, {where}", ("D", who, what, "rss_mb"), 80)
        bars.most("P7", f"D idle CPU %, {where}", ("D", who, what, "cpu_percent"), 0.5)
        bars.most("P7", f"D ready s, {where}", ("D", who, what, "ready_s"), 1)
    for what, least in (("commits", 0.8), ("creates", None)):
        alone, bare = ("C", who, SLOW, "sequential_per_s"), ("C", f"limit/{kind}", f"bare {what}, {SLOW}", "per_s")
        bars.ratio("P6", f"C one caller / bare {what}, {SLOW}, {kind}", alone, bare, least)


def _queue(bars: Bars, bench: Bench, kind: str) -> None:
    n = bench.options.queue
    limit = ("F", f"limit/{kind}", f"work {n}", "per_s")
    for label, _ in bench.settings_to_try():
        drained = ("E", f"duly/{kind}", f"drain {n}{label}", "per_s")
        bars.ratio("P9", f"E drain{label} / limit claim+settle, {kind}", drained, limit, None)


def _growth_and_pair(bars: Bars, bench: Bench, kind: str) -> None:
    who, stored = f"duly/{kind}", bench.options.stored
    n, rate = bench.options.bursts[0], bench.options.rates[-1]
    for what, figure in ((f"recurring {n}", "per_s"), (f"{rate}/s", "held_per_s")):
        few, many = ("P8", who, f"{what} among 1000", figure), ("P8", who, f"{what} among {stored}", figure)
        bars.ratio("P8", f"{what}, {stored} stored / 1000 stored, {kind}", many, few, 0.7)
    for what in (f"recurring {bench.options.bursts[-1]}", f"drain {LONGER * bench.options.queue}"):
        one, two = ("P11", who, f"{what}, processes 1", "per_s"), ("P11", who, f"{what}, processes 2", "per_s")
        bars.ratio("P11", f"{what}, two processes / one, {kind}", two, one, 1.3)
