"""Which windows a schedule must have dealt with: worked out second by second, with no code of the engine.

A schedule's life is a list of spans, each with one rule of time. Within a span every instant that the rule names must
be in the store: as one run, or as part of one skipped row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from duly.core.run import Run, RunStatus
from tests.simulation.record import Record


@dataclass(frozen=True, slots=True)
class Rule:
    """Every ``step`` seconds of the minute (as cron means it) or of the epoch (as an interval does)."""

    step: int
    of_minute: bool

    @property
    def cron(self) -> str:
        return f"*/{self.step} * * * * *"

    def names(self, second: int) -> bool:
        return (second % 60 if self.of_minute else second) % self.step == 0


@dataclass(slots=True)
class Expected:
    """One schedule as people asked for it: spans (after, until, rule) in epoch ms; the last may be open."""

    key: str
    spans: list[tuple[int, int | None, Rule]] = field(default_factory=list)

    def begin(self, at: int, rule: Rule) -> None:
        self.spans.append((at, None, rule))

    def end(self, at: int) -> None:
        if self.spans and self.spans[-1][1] is None:
            after, _, rule = self.spans[-1]
            self.spans[-1] = (after, max(at, after), rule)

    @property
    def open(self) -> bool:
        return bool(self.spans) and self.spans[-1][1] is None

    @property
    def rule(self) -> Rule:
        return self.spans[-1][2]

    def windows(self) -> set[int]:
        """Every instant that must have been dealt with."""
        found: set[int] = set()
        for after, until, rule in self.spans:
            assert until is not None
            first = after // 1000 + 1
            found.update(second * 1000 for second in range(first, until // 1000 + 1) if rule.names(second))
        return found


def judge_windows(expected: Expected, runs: Iterable[Run], *, leapt_back: bool) -> list[str]:
    """What is wrong with what the store has of a schedule; nothing, if all is well."""
    wanted = expected.windows()
    fired: Counter[int] = Counter()
    skipped: Counter[int] = Counter()
    findings: list[str] = []
    ranges: list[tuple[int, int, int]] = []
    for run in runs:
        if run.kind != "window" or run.window_at is None:
            continue
        at = round(run.window_at.timestamp() * 1000)
        if run.status is not RunStatus.SKIPPED:
            fired[at] += 1
            continue
        since = at if run.since is None else round(run.since.timestamp() * 1000)
        ranges.append((since, at, run.window_count or 1))
    for since, until, count in ranges:
        covered = [window for window in wanted if since <= window <= until and window not in fired]
        skipped.update(covered)
        if len(covered) != count and not leapt_back:
            findings.append(f"{expected.key}: a skipped row of {count} windows covers {len(covered)}: {since}-{until}")
    findings += [f"{expected.key}: window {at} was missed" for at in sorted(wanted) if not fired[at] + skipped[at]]
    findings += [f"{expected.key}: window {at} was fired {n} times" for at, n in sorted(fired.items()) if n > 1]
    findings += [f"{expected.key}: window {at} was skipped {n} times" for at, n in sorted(skipped.items()) if n > 1]
    unknown = sorted(set(fired) - wanted)
    if not leapt_back:
        findings += [f"{expected.key}: window {at} is none of its own" for at in unknown]
    return findings


def judge_runs(runs: Sequence[Run], starts: Counter[tuple[str, int]], max_attempts: int) -> list[str]:
    """What is wrong with how runs were executed."""
    findings = [f"run {id} was begun {n} times under fence {f}" for (id, f), n in starts.items() if n > 1]
    newest: dict[str, int] = {}
    for run_id, fence in starts:
        newest[run_id] = max(newest.get(run_id, 0), fence)
    for run in runs:
        if run.status is RunStatus.SKIPPED:
            continue
        if not run.status.terminal:
            findings.append(f"run {run.id} is still {run.status.value}")
        if run.status is RunStatus.COMPLETED and newest.get(run.id) is None:
            findings.append(f"run {run.id} is completed and was never begun")
        if run.status is RunStatus.COMPLETED and run.fence < newest.get(run.id, 0):
            findings.append(f"run {run.id} was completed under fence {run.fence} after {newest[run.id]} was given out")
        if run.attempt > max_attempts:
            findings.append(f"run {run.id} was tried {run.attempt} times; {max_attempts} are allowed")
    return findings


def judge_ends(completed: Iterable[Run]) -> list[str]:
    """A handler answers its own fence: what was accepted must be the answer of the newest attempt."""
    return [
        f"run {run.id} is at fence {run.fence} and was completed by fence {run.result}"
        for run in completed
        if run.result != run.fence
    ]


def judge_calm(record: Record) -> list[str]:
    """Where no fault was, no run is begun again unless it failed, however wrong the clocks of instances are."""
    begun = Counter(run_id for run_id, _ in record.starts)
    return [
        f"run {run_id} was begun {n} times without a fault, and failed {record.failures[run_id]} times"
        for run_id, n in sorted(begun.items())
        if n > record.failures[run_id] + 1
    ]
