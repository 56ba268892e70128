"""Reads the arguments, runs the cells in order, prints the tables."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import machine
from bench.bars import compare
from bench.bench import Bench, Options
from bench.processes import ROOT, ChildFailed, Children
from bench.report import RATIO_HEAD, Report
from bench.stores import STORES, Stores

CELLS = {
    "T": "timing",
    "F": "limit",
    "A": "burst",
    "B": "steady",
    "C": "create",
    "D": "idle",
    "E": "queue",
    "M": "delivery",
    "W": "workflow",
    "K": "bulk",
    "R": "rest",
    "S": "surface",
    "V": "dashboard",
    "P8": "growth",
    "P11": "pair",
    "P12": "writes",
}
RESULTS = ROOT / "bench" / "RESULTS.md"


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for; 1 when a cell could not be measured."""
    given = _parser().parse_args(arguments)
    # A terminated run stops its servers and removes its folder, as an interrupted one does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="duly-bench-", dir=given.folder))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if given.profile:
            given.profile.mkdir(parents=True, exist_ok=True)
        children = Children(given.profile)
        stores = Stores(folder, children, stack)
        bench = Bench(
            options=_options(given), stores=stores, children=children, report=report, folder=folder, cache=given.cache
        )
        failed = [cell for cell in given.cells if not _measured(bench, cell)]
        if given.peers:
            failed += (
                []
                if _attempt(report, "peers", lambda: import_module("bench.peering").run(bench, given.cells))
                else ["peers"]
            )
        compare(bench)
        lines = machine.describe(ROOT, stores.postgres_version())
    if report.ratios:
        print("\n" + RATIO_HEAD)
        print("\n".join(ratio.text() for ratio in report.ratios))
    print("\n" + "\n".join(lines))
    if given.write and report.rows:
        report.append_to(RESULTS, [*lines, f"`scripts/bench {' '.join(arguments or sys.argv[1:])}`"])
    return 1 if failed else 0


def _measured(bench: Bench, cell: str) -> bool:
    run: Callable[[Bench], None] = import_module(f"bench.cells.{CELLS[cell]}").run
    return _attempt(bench.report, cell, lambda: run(bench))


def _attempt(report: Report, name: str, run: Callable[[], None]) -> bool:
    try:
        run()
    except ChildFailed as error:
        report.say(f"{name} could not be measured: {error}")
        return False
    return True


def _options(given: argparse.Namespace) -> Options:
    stores = STORES if given.store == "both" else (given.store,)
    chosen: dict[str, Any] = {
        "stores": stores,
        "peers": given.peers,
        "settings": dict(given.settings),
        "quick": given.quick,
    }
    if given.quick:
        chosen |= {"bursts": (1000,), "rates": (500,), "steady_s": 4.0, "idle_s": 4.0, "queue": 2000}
    named = {"bursts": given.burst, "rates": given.rate, "steady_s": given.seconds, "queue": given.queue}
    chosen |= {name: value for name, value in named.items() if value}
    reps = given.reps or (1 if given.quick else 3)
    stored = given.stored or (10_000 if given.quick else 1_000_000)
    return Options(reps=reps, stored=stored, **chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="Measure duly, the machine's limit and the peers.")
    parser.add_argument("--cells", type=_cells, default=list(CELLS), help=f"some of {','.join(CELLS)} (all)")
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--peers", type=_words, default=[], help="pgqueuer,apscheduler3,huey,dbos,bullmq")
    parser.add_argument("--stored", type=int, help="schedules that lie in the store (1,000,000)")
    parser.add_argument("--burst", type=_numbers, help="sizes of cell A (5000,20000)")
    parser.add_argument("--rate", type=_numbers, help="rates of cell B (1000,5000,8000)")
    parser.add_argument("--seconds", type=float, help="how long cell B lasts (15)")
    parser.add_argument("--queue", type=int, help="runs of cell E (20000)")
    parser.add_argument("--reps", type=int, help="repetitions (3)")
    parser.add_argument(
        "--settings", type=_settings, default={}, help="measured beside the defaults: concurrency=1000,…"
    )
    parser.add_argument("--quick", action="store_true", help="a small run, to see that everything works")
    parser.add_argument("--write", action="store_true", help="append the tables to bench/RESULTS.md")
    parser.add_argument("--profile", type=Path, help="folder for cProfile's view of every duly process")
    parser.add_argument("--folder", type=Path, help="where stores are made; on a real disk (the temporary folder)")
    cache = Path.home() / ".cache" / "duly-bench"
    parser.add_argument("--cache", type=Path, default=cache, help="where the peers are installed")
    return parser


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in _words(text))


def _cells(text: str) -> list[str]:
    unknown = [word for word in _words(text) if word not in CELLS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown {', '.join(unknown)}; expected some of {', '.join(CELLS)}")
    return _words(text)


def _settings(text: str) -> dict[str, float]:
    pairs = (word.partition("=") for word in _words(text))
    return {name: float(value) if "." in value else int(value) for name, _, value in pairs}
