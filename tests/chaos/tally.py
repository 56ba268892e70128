"""Add up what several runs of the fault matrix kept, and print it as a table of Markdown.

``python -m tests.chaos.tally docs/figures/*.json`` reads what ``scripts/chaos --json`` and ``scripts/patroni --json``
wrote.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.chaos.judging import percentile

Told = dict[str, Any]
SUMMED = ("repetitions", "expected", "fired", "skipped", "doubled", "missed", "runs", "zombie_writes", "zombie_refused")
MESSAGES = ("messages", "came again", "did not come")
GROUPS = "FPSTNLB"
HEAD = (
    "row", "store", "fault", "strikes", "windows expected", "fired", "skipped", "doubled", "missed", "runs",
    "zombie writes, refused", "recovery p50, p99 (s)", "latest start (s)",
)  # fmt: skip


def add_up(runs: Iterable[Told]) -> list[Told]:
    """One row per fault and store, of the runs that went well; the others stand in ``failures``."""
    grouped: dict[tuple[str, str], list[Told]] = defaultdict(list)
    for run in runs:
        if run["verdict"] != "NOT RUN":
            grouped[run["id"], run["store"]].append(run)
    return [_added(mine) for mine in sorted(grouped.values(), key=_place)]


def _place(mine: Sequence[Told]) -> tuple[int, str, str]:
    return GROUPS.find(mine[0]["id"][0]), mine[0]["id"], mine[0]["store"]


def _added(mine: Sequence[Told]) -> Told:
    good = [run for run in mine if run["verdict"] == "ok"]
    sums = {name: sum(run.get(name) or 0 for run in good) for name in SUMMED}
    late = [run["late_max"] for run in good if run.get("late_max") is not None]
    p50, p99 = _recovery(good)
    return {
        **{name: mine[-1][name] for name in ("id", "store", "fault")},
        **sums,
        "recovery_p50": p50,
        "recovery_p99": p99,
        "late_max": max(late, default=None),
        **{name: _told(good, name) for name in MESSAGES},
        "loads": [run["load"] for run in good if "load" in run],
        "failures": [str(run.get("why", "")).strip().splitlines()[-1:] for run in mine if run["verdict"] == "FAILED"],
    }


def _told(good: Sequence[Told], name: str) -> int | None:
    """What judges of messages counted; None for a fault that has nothing to do with any."""
    found = [run["remarks"][name] for run in good if name in run.get("remarks", {})]
    return sum(found) if found else None


def _recovery(good: Sequence[Told]) -> tuple[float | None, float | None]:
    """Percentiles over all that recovered; of runs that kept only their own, the median and the worst of those."""
    if all("recoveries" in run for run in good):
        recoveries = [seconds for run in good for seconds in run["recoveries"]]
        return percentile(recoveries, 50), percentile(recoveries, 99)
    p50 = [run["recovery_p50"] for run in good if run.get("recovery_p50") is not None]
    p99 = [run["recovery_p99"] for run in good if run.get("recovery_p99") is not None]
    return (statistics.median(p50) if p50 else None), max(p99, default=None)


def table(rows: Sequence[Told]) -> str:
    lines = [HEAD, ("---",) * len(HEAD)]
    lines += [_cells(row) for row in rows if row["repetitions"] and row["messages"] is None]
    whole = [row for row in rows if row["expected"]]
    total = {name: sum(row[name] for row in whole) for name in SUMMED}
    lines.append(_cells({"id": "all with windows", "store": "", "fault": "", "late_max": None, **total}))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def table_of_messages(rows: Sequence[Told]) -> str:
    """The rows of brokers: what was committed, what came again, what did not come."""
    head = ("row", "store", "fault", "strikes", "messages", "again", "missing", "recovery p50, p99 (s)")
    lines = [head, ("---",) * len(head)]
    for row in rows:
        if row["messages"] is not None:
            counts = [f"{row[name]:,}" for name in ("repetitions", *MESSAGES)]
            lines.append((row["id"], row["store"], row["fault"], *counts, _recovered(row)))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _recovered(row: Told) -> str:
    times = (row.get("recovery_p50"), row.get("recovery_p99"))
    return "-" if None in times else ", ".join(f"{seconds:.1f}" for seconds in times)


def _cells(row: Told) -> tuple[str, ...]:
    windows = [f"{row[name]:,}" if row["expected"] else "-" for name in SUMMED[1:6]]
    zombies = f"{row['zombie_writes']}, {row['zombie_refused']}" if row["zombie_writes"] else "-"
    late = "-" if row["late_max"] is None else f"{row['late_max']:.1f}"
    runs = f"{row['runs']:,}" if row["runs"] else "-"
    return (
        row["id"],
        row["store"],
        row["fault"],
        str(row["repetitions"]),
        *windows,
        runs,
        zombies,
        _recovered(row),
        late,
    )


def notes(rows: Sequence[Told]) -> list[str]:
    """Which runs failed, whatever became of it, and how busy the machine was."""
    told = [f"{row['id']} on {row['store']} failed: {why}" for row in rows for (why,) in row["failures"]]
    loads = [load for row in rows for load in row["loads"]]
    return [*told, *([f"load average {min(loads)} to {max(loads)}"] if loads else [])]


def main(paths: Sequence[str]) -> int:
    if not paths:
        raise SystemExit("no files given; expected what scripts/chaos --json FILE wrote")
    rows = add_up(run for path in paths for run in json.loads(Path(path).read_text()))
    sys.stdout.write("\n".join([table(rows), "", table_of_messages(rows), "", *notes(rows)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
