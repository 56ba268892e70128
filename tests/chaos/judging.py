"""The verdict over one trial: what was expected, what the store has, what the ledger saw. No code of the engine."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from duly.core.run import Run, RunStatus
from tests.simulation.oracle import Expected, judge_windows

Lines = Sequence[dict[str, Any]]


@dataclass
class Figures:
    """What a row of the table says."""

    repetitions: int = 0
    expected: int = 0
    fired: int = 0
    skipped: int = 0
    doubled: int = 0
    missed: int = 0
    runs: int = 0
    zombie_writes: int = 0
    zombie_refused: int = 0
    recoveries: list[float] = field(default_factory=list)
    lateness: list[float] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    remarks: dict[str, Any] = field(default_factory=dict)

    def add(self, other: Figures) -> None:
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, dict):
                mine.update(value)
            else:
                setattr(self, name, mine + value)

    def as_json(self) -> dict[str, Any]:
        """Everything but the single latenesses; recoveries stay, so that those of several runs can be added up."""
        found = asdict(self)
        recoveries, lateness = found["recoveries"], found.pop("lateness")
        return found | {
            "recoveries": [round(seconds, 3) for seconds in recoveries],
            "recovery_p50": percentile(recoveries, 50),
            "recovery_p99": percentile(recoveries, 99),
            "late_p50": percentile(lateness, 50),
            "late_max": percentile(lateness, 100),
        }


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that so many in a hundred do not exceed."""
    if not values:
        return None
    return round(sorted(values)[max(0, math.ceil(len(values) * share / 100) - 1)], 3)


def judge_schedule(expected: Expected, runs: Sequence[Run], starts: Lines, *, leapt: bool) -> Figures:
    """I1, I2: every expected window is one run or lies in one skipped row, and there is no other."""
    wanted = expected.windows()
    mine = [run for run in runs if run.kind == "window" and run.window_at is not None]
    fired = Counter(_ms(run) for run in mine if run.status is not RunStatus.SKIPPED)
    findings = judge_windows(expected, runs, leapt_back=leapt)
    missed = sum("was missed" in finding for finding in findings)
    return Figures(
        expected=len(wanted),
        fired=len(fired),
        skipped=len(wanted) - len(wanted & set(fired)) - missed,
        doubled=sum(count - 1 for count in fired.values()),
        missed=missed,
        findings=findings,
        lateness=_lateness(expected.key, starts),
    )


def _lateness(key: str, starts: Lines) -> list[float]:
    """Seconds from each window to the moment at which a handler first began it, by the ledger's clock."""
    first: dict[int, float] = {}
    for line in starts:
        schedule, _, window = (line.get("window") or "").removeprefix("sched:").rpartition(":")
        if schedule == key:
            first.setdefault(int(window), line["at"])
    return [at - window / 1000 for window, at in first.items()]


def judge_runs(runs: Iterable[Run], lines: Lines, *, may_fail: bool) -> Figures:
    """I3 to I7: acknowledged runs have ended, each once, by the newest attempt that was begun."""
    begun: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        if line["event"] == "start":
            begun[line["run"]].append(line["fence"])
    findings = [f"run {id}: a fence was begun twice or went back: {begun[id]}" for id in wrong_starts(lines)]
    accepted: dict[str, str] = {}
    count = 0
    for run in runs:
        if run.status is RunStatus.SKIPPED:
            continue
        count += 1
        if not run.status.terminal:
            findings.append(f"run {run.id} of {run.job} is still {run.status.value}")
        elif run.status is not RunStatus.COMPLETED and not may_fail:
            findings.append(f"run {run.id} of {run.job} is {run.status.value}: {run.error_message}")
        if isinstance(run.result, str) and run.result.startswith("fence "):
            accepted[run.id] = run.result
            if begun[run.id] and run.result != f"fence {max(begun[run.id])}":
                findings.append(f"run {run.id} was ended by {run.result}; begun were {begun[run.id]}")
    zombies = zombie_ends(lines)
    refused = [(run_id, fence) for run_id, fence in zombies if accepted.get(run_id) != f"fence {fence}"]
    return Figures(runs=count, zombie_writes=len(zombies), zombie_refused=len(refused), findings=findings)


def wrong_starts(lines: Lines) -> list[str]:
    """Runs of which a claim was begun twice, or an attempt taken up after a newer one had begun.

    An attempt that was taken up before that and comes to its handler late stood still between the two: nobody can
    prevent it, and what it writes is a zombie's.
    """
    begun: dict[str, set[int]] = defaultdict(set)
    in_time: set[tuple[str, int]] = set()
    wrong: dict[str, None] = {}
    for line in lines:
        if line["event"] not in ("taken", "start"):
            continue
        run, fence = line["run"], line["fence"]
        newest = max(begun[run], default=0)
        if line["event"] == "taken":
            in_time |= {(run, fence)} if fence > newest else set()
            continue
        if fence in begun[run] or (fence < newest and (run, fence) not in in_time):
            wrong[run] = None
        begun[run].add(fence)
    return list(wrong)


def zombie_ends(lines: Lines) -> list[tuple[str, int]]:
    """Attempts that came to their end, and so to a write, after a newer attempt of the run had begun."""
    newest: dict[str, int] = {}
    found = []
    for line in lines:
        if line["event"] == "start":
            newest[line["run"]] = max(newest.get(line["run"], 0), line["fence"])
        elif line["event"] == "end" and line["fence"] < newest.get(line["run"], 0):
            found.append((line["run"], line["fence"]))
    return found


def judge_ledger(lines: Lines) -> list[str]:
    """I6: no window was worked off as two runs, whatever the store says now."""
    runs_of: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        if line["event"] == "start" and line.get("window"):
            runs_of[line["window"]].add(line["run"])
    return [f"window {window} was begun as {len(ids)} runs" for window, ids in runs_of.items() if len(ids) > 1]


def judge_steps(flows: Iterable[Run], lines: Lines) -> list[str]:
    """I8: each step has one recorded result, and whoever came later saw that one."""
    done: dict[tuple[str, str], set[str]] = defaultdict(set)
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in lines:
        if line["event"] == "step":
            done[line["run"], line["step"]].add(line["token"])
            if line["seen"] is not None:
                before = {"refine": "gather", "send": "refine"}[line["step"]]
                seen[line["run"], before].add(line["seen"])
    findings = []
    for run in flows:
        if run.status is not RunStatus.COMPLETED:
            continue
        for step, token in zip(("gather", "refine", "send"), run.result, strict=True):
            if token not in done[run.id, step]:
                findings.append(f"workflow {run.id}: step {step} has a result that nobody made: {token}")
            if seen[run.id, step] - {token}:
                findings.append(f"workflow {run.id}: a replay saw another result of {step}: {seen[run.id, step]}")
    return findings


def _ms(run: Run) -> int:
    assert run.window_at is not None
    return round(run.window_at.timestamp() * 1000)
