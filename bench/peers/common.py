"""Shared by the peers' scripts: fresh stores, lags and the answer, one JSON line.

Each script runs in an environment of its own, so nothing here needs more than the standard library and ``psql``.
``BENCH_PG`` is the URL of the server's administrative database, ``BENCH_DIR`` a scratch folder on a real disk.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PG = os.environ.get("BENCH_PG", "")
FOLDER = Path(os.environ.get("BENCH_DIR", "."))

Row = tuple[object, float, float]
"""A key, when it ran, when it was due (0 if the script knows)."""


def psql(statement: str) -> None:
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", PG, "-c", statement], check=True, capture_output=True)


def fresh_postgres(name: str) -> str:
    """Drop and make a database; answer its URL."""
    psql(f"drop database if exists {name} with (force)")
    psql(f"create database {name}")
    psql("checkpoint")
    return PG.rpartition("/")[0] + "/" + name


def fresh_sqlite(name: str) -> str:
    """The path of a database file that does not exist yet."""
    for file in FOLDER.glob(f"{name}.sqlite*"):
        file.unlink()
    return str(FOLDER / f"{name}.sqlite")


def percentile(ordered: list[float], percent: float) -> float:
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)] if ordered else 0.0


def lag_figures(lags: Iterable[float]) -> dict[str, float]:
    ordered = sorted(lags)
    names = {"p50_ms": 50, "p99_ms": 99, "max_ms": 100}
    return {name: 1000 * percentile(ordered, percent) for name, percent in names.items()}


def burst_figures(rows: list[Row], n: int, at: float, done: float | None = None) -> dict[str, float]:
    """The figures of cell A; ``done`` is when the store showed the last one finished, where that can be seen."""
    first: dict[object, float] = {}
    for key, ran_at, _ in rows:
        first[key] = min(ran_at, first.get(key, ran_at))
    last = (done or max(first.values(), default=at + 1e9)) - at
    return {
        "per_s": len(first) / last,
        "last_s": last,
        **lag_figures(ran_at - at for ran_at in first.values()),
        "missed": n - len(first),
        "doubled": len(rows) - len(first),
    }


def answer(figures: dict[str, float]) -> None:
    """Say it and leave at once: some peers do not like to stop."""
    print(json.dumps(figures), flush=True)
    sys.stdout.flush()
    os._exit(0)
