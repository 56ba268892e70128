"""Strike fleets with faults and print what came of it: ``scripts/chaos --tier change|short|release``."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.chaos.judging import Figures
from tests.chaos.needs import missing
from tests.chaos.rows import ELSEWHERE, ROWS, TIERS, Row
from tests.chaos.trial import open_trial
from tests.servers import Server, postgres_server

COLUMNS = (
    ("row", "id"), ("store", "store"), ("fault", "fault"), ("reps", "repetitions"), ("expected", "expected"),
    ("fired", "fired"), ("skipped", "skipped"), ("doubled", "doubled"), ("missed", "missed"), ("runs", "runs"),
    ("zombie", "zombie_writes"), ("refused", "zombie_refused"), ("rec p50", "recovery_p50"),
    ("rec p99", "recovery_p99"), ("late max", "late_max"), ("s", "seconds"), ("verdict", "verdict"),
)  # fmt: skip


Wanted = list[tuple[Row, str, int]]
"""Rows with their store, and how often each is struck."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def strike(row: Row, store: str, repetitions: int, seed: str, shared: Server | None, scale: int) -> Figures:
    """One fleet, struck again and again, judged at the end."""
    assert row.strike is not None
    async with open_trial(row.setting, store, seed, shared, scale=scale) as trial:
        for _ in range(repetitions):
            await row.strike(trial)
            await trial.comes_to_rest()
            trial.figures.repetitions += 1
        if row.judge is not None:
            await row.judge(trial)
        await trial.judge()
        if trial.figures.findings:
            raise AssertionError("\n".join(trial.figures.findings[:20]))
        return trial.figures


def run_row(row: Row, store: str, repetitions: int, seed: str, shared: Server | None, tier: str) -> dict[str, Any]:
    """The row of the table; what goes wrong is its verdict, with the seed and where the evidence lies."""
    began = time.monotonic()
    answer: dict[str, Any] = {"id": row.id, "store": store, "fault": row.fault, "seed": seed, "tier": tier}
    answer |= {"at": datetime.now(UTC).isoformat(timespec="seconds"), "load": round(os.getloadavg()[0], 1)}
    reasons = [missing(need) for need in (*row.needs, *(["postgres"] if store == "postgres" else []))]
    if any(reasons):
        return answer | {"verdict": "NOT RUN", "why": "; ".join(reason for reason in reasons if reason)}
    try:
        if row.alone is not None:
            figures = asyncio.run(row.alone(random.Random(seed), repetitions))
        else:
            figures = asyncio.run(strike(row, store, repetitions, seed, shared, 10 if tier == "release" else 1))
    except Exception as error:  # noqa: BLE001 - a row that fails is a finding, and the others still run
        text = "".join(traceback.format_exception(error))
        say(f"--- {row.id} on {store}, seed {seed}: FAILED\n{text[-6000:]}")
        return answer | {"verdict": "FAILED", "why": text[-6000:], "seconds": round(time.monotonic() - began)}
    answer |= figures.as_json() | {"seconds": round(time.monotonic() - began), "verdict": "ok"}
    if row.late is not None and tier != "change" and (answer["late_max"] or 0) > row.late:
        why = f"late by {answer['late_max']} s; at most {row.late} s"
        if answer["load"] <= (os.cpu_count() or 1):
            answer |= {"verdict": "FAILED", "why": why}
        else:  # whose lateness it was cannot be told
            answer["remarks"] |= {"not judged on a busy machine": why}
    if figures.findings:
        answer |= {"verdict": "FAILED", "why": "\n".join(figures.findings[:20])}
    return answer


def table(rows: list[dict[str, Any]]) -> str:
    """The figures as a table that is also Markdown."""
    cells = [[title for title, _ in COLUMNS]]
    cells += [["" if row.get(key) is None else str(row[key]) for _, key in COLUMNS] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"{row['id']} on {row['store']} NOT RUN: {row['why']}" for row in rows if row["verdict"] == "NOT RUN"]
    notes += [f"{row['id']} on {row['store']}: {row['remarks']}" for row in rows if row.get("remarks")]
    return "\n".join([*lines, *notes])


def chosen(arguments: argparse.Namespace) -> Wanted:
    """The rows to strike, with their stores and how often."""
    named = [name.strip() for name in (arguments.rows or "").split(",") if name.strip()]
    unknown = set(named) - {row.id for row in ROWS}
    if unknown:
        raise SystemExit(f"--rows names {', '.join(sorted(unknown))}; there are {', '.join(row.id for row in ROWS)}")
    found = []
    for row in ROWS:
        if named and row.id not in named:
            continue
        stores = row.stores if named else row.stores_in(arguments.tier)
        times = arguments.repeat or (row.repetitions(arguments.tier) or (1 if named else 0))
        found += [(row, store, times) for store in stores if times and arguments.store in (None, store)]
    return found


def one_by_one(wanted: Wanted, seed: str, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Strike row after row, those that need no server of their own on one that they share."""
    with ExitStack() as stack:
        shared = None
        if any(store == "postgres" for _, store, _ in wanted) and missing("postgres") is None:
            shared = stack.enter_context(postgres_server())
        for row, store, times in wanted:
            say(f"{row.id} {store}: {row.fault}, {times} times")
            yield run_row(row, store, times, f"{seed}/{row.id}/{store}", shared, arguments.tier)


def in_lanes(wanted: Wanted, seed: str, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Strike several rows at once, each from a process of its own with servers of its own."""

    def strike_apart(row: Row, store: str, times: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="duly-lane-") as folder:
            kept = Path(folder) / "json"
            words = ["--tier", arguments.tier, "--rows", row.id, "--store", store, "--repeat", str(times)]
            command = [sys.executable, "-m", "tests.chaos", *words, "--seed", seed, "--json", str(kept)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if kept.exists():
                answer: dict[str, Any] = json.loads(kept.read_text())[0]
            else:
                answer = {"id": row.id, "store": store, "fault": row.fault, "verdict": "FAILED", "why": done.stderr}
        if answer["verdict"] == "FAILED":
            say(done.stdout + done.stderr)
        return answer

    with ThreadPoolExecutor(arguments.lanes) as pool:
        waiting = [pool.submit(strike_apart, *one) for one in wanted]
        for future in as_completed(waiting):
            yield future.result()


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--tier", choices=TIERS, default="change", help="how much: minutes, an hour, a day")
    parser.add_argument("--rows", help="only these: F01,P03")
    parser.add_argument("--store", choices=("postgres", "sqlite"), help="only this store")
    parser.add_argument("--repeat", type=int, help="so many strikes per row instead of the tier's")
    parser.add_argument("--lanes", type=int, default=1, help="so many rows at once: they wait more than they work")
    parser.add_argument("--seed", default=None, help="the same draws again")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--list", action="store_true", help="say which rows there are, and strike nothing")
    arguments = parser.parse_args()
    if arguments.list:
        for row in ROWS:
            counts = ", ".join(f"{tier} {row.repetitions(tier)}" for tier in TIERS)
            say(f"{row.id:5} {row.fault:45} {'+'.join(row.stores):16} {counts}")
        return 0
    logging.getLogger("duly").setLevel(logging.ERROR)
    seed = arguments.seed or str(random.randrange(10**6))
    say(f"seed {seed}")
    began = time.monotonic()
    strikes = in_lanes if arguments.lanes > 1 else one_by_one
    done: list[dict[str, Any]] = []
    for answer in strikes(chosen(arguments), seed, arguments):
        done.append(answer)
        say(f"{answer['id']} {answer['store']}: {answer['verdict']} in {answer.get('seconds', 0)} s")
        if arguments.json:  # after every row: a tier that is ended early has told what it knew
            arguments.json.write_text(json.dumps(done, indent=1, default=str) + "\n")
    say(table(done))
    for id, where in ELSEWHERE.items():
        say(f"{id} is not a row of this table: {where}")
    required = set(os.environ.get("DULY_TEST_REQUIRE", "").split(","))
    bad = [row for row in done if row["verdict"] == "FAILED"]
    bad += [row for row in done if row["verdict"] == "NOT RUN" and row["store"] in required]
    absent = sum(row["verdict"] == "NOT RUN" for row in done)
    minutes, load = (time.monotonic() - began) / 60, os.getloadavg()[0]
    say(f"{len(done)} rows, {len(bad)} failed, {absent} not run; {minutes:.0f} minutes, load average {load:.1f}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
