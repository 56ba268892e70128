"""Counts what the engine does, in plain numbers: the hot path pays for an addition, a scrape for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from duly.core.audit import Fault, Finding
from duly.core.errors import OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.outside import RESERVED_NAME
from duly.core.run import (
    Cancelled,
    Claim,
    Completed,
    Continued,
    Dispatched,
    Failed,
    Interrupted,
    Lost,
    Outcome,
    Reason,
    Released,
    RunStatus,
    SkippedWindows,
    Snoozed,
    Suspended,
)
from duly.runtime.clock import Clock, SystemClock
from duly.runtime.events import SEND_RESULTS, LostInstance, Observer

from .numbers import ByName, Histogram, JobNumbers, TargetNumbers

LAG_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
DURATION_BUCKETS: Final = (0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
TIMEOUT_BUCKETS: Final = (0.1, 0.25, 0.5, 0.8, 0.9, 1.0)
DISPATCH_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)
STORE_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0)

_OUTCOMES: Final[Mapping[type, str]] = {
    Completed: "completed",
    Failed: "failed",
    Cancelled: "cancelled",
    Lost: "lost",
    Released: "released",
    Interrupted: "interrupted",
    Snoozed: "snoozed",
    Suspended: "suspended",
    Dispatched: "dispatched",
    Continued: "continued",
}
_ALWAYS: Final = (Completed, Failed)
"""Outcomes that are told of a job also while there are none: a rate needs a zero to begin with."""

SKIP_REASONS: Final = (
    Reason.MISSED, Reason.TOO_LATE, Reason.EXCLUDED, Reason.OVERLAP, Reason.QUEUE_FULL,
)  # fmt: skip


class Metrics(Observer):
    """The numbers of one process since it started.

    All on the event loop, but for failed heartbeats, which only ever add to a counter of their own.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._steady = (clock or SystemClock()).steady
        # By run alone: a tuple costs. Where one run has two attempts here the older is lost, and one time is wrong.
        self._started: dict[str, float] = {}
        self._ended: dict[type, int] = dict.fromkeys(_OUTCOMES, 0)
        self.fires: Counter[str] = Counter({"fired": 0, "skipped": 0, "duplicate": 0})
        self.skips: Counter[str] = Counter({reason.value: 0 for reason in SKIP_REASONS})
        self.runs: Counter[str] = Counter({status.value: 0 for status in RunStatus if status.terminal})
        self.store_errors: Counter[str] = Counter({"unavailable": 0, "unknown_outcome": 0, "refused": 0})
        self.loop_failures: Counter[str] = Counter()
        self.audit_findings: Counter[str] = Counter({fault.value: 0 for fault in Fault})
        self.owed = 0
        self.clock_offset = 0.0
        self.leads = False
        self.term = 0
        self.leader_changes = 0
        self.unheard = 0
        self.stale_writes = 0
        self.abandoned = 0
        self.recovered = 0
        self.interrupted_often = 0
        self.instances_lost = 0
        self.sessions_lost = 0
        self.set_aside = 0
        self.clock_jumps = 0
        self.leases_doubted = 0
        self.lag = Histogram(LAG_BUCKETS)
        self.duration = Histogram(DURATION_BUCKETS)
        self.timeout_share = Histogram(TIMEOUT_BUCKETS)
        self.store_calls = {kind: Histogram(STORE_BUCKETS) for kind in ("read", "write")}
        self.jobs = ByName(lambda: JobNumbers(_OUTCOMES))
        self.targets = ByName(lambda: TargetNumbers(DISPATCH_BUCKETS))
        self.webhooks: Counter[str] = Counter(dict.fromkeys(SEND_RESULTS, 0))

    @property
    def active(self) -> int:
        """Attempts in execution in this process."""
        return len(self._started)

    @property
    def attempts(self) -> dict[str, int]:
        """Attempts that ended in this process, by outcome."""
        return {_OUTCOMES[kind]: count for kind, count in self._ended.items()}

    @property
    def attempts_by_job(self) -> Iterator[tuple[str, dict[str, int], float, int]]:
        """Of each job: its attempts by outcome, how long they took together, and how many that were."""
        for name, job in self.jobs:
            ended = {_OUTCOMES[kind]: count for kind, count in job.ended.items() if count or kind in _ALWAYS}
            yield name, ended, job.seconds, job.timed

    @property
    def claims(self) -> int:
        return sum(self._ended.values()) + self.active

    def windows_fired(self, runs: int, skipped: int, duplicates: int, lateness_ms: Sequence[int]) -> None:
        fires = self.fires
        fires["fired"] += runs
        fires["skipped"] += skipped
        fires["duplicate"] += duplicates
        lag = self.lag
        for late in lateness_ms:
            lag.add(late / 1000)

    def windows_skipped(self, skips: Sequence[SkippedWindows]) -> None:
        for skip in skips:
            self.skips[skip.reason.value] += skip.windows

    def attempt_started(self, claim: Claim) -> None:
        self._started[claim.id] = self._steady()

    def attempt_ended(self, claim: Claim, outcome: Outcome) -> None:
        kind = type(outcome)
        self._ended[kind] += 1
        job = self.jobs.of(claim.job)
        job.ended[kind] += 1
        started = self._started.pop(claim.id, None)
        if started is not None:
            seconds = self._steady() - started
            self.duration.add(seconds)
            job.add_time(seconds)
            if claim.timeout_ms is not None:
                self.timeout_share.add(seconds * 1000 / claim.timeout_ms)

    def runs_ended(self, ended: Mapping[str, RunStatus]) -> None:
        self.runs.update(ended.values())

    def topics_unheard(self, runs: Sequence[tuple[str, str]]) -> None:
        self.unheard += len(runs)

    def settlements_lost(self, run_ids: Sequence[str]) -> None:
        self.stale_writes += len(run_ids)

    def settlements_abandoned(self, run_ids: Sequence[str]) -> None:
        self.abandoned += len(run_ids)

    def run_interrupted_often(self, run_id: str, times: int) -> None:
        self.interrupted_often += 1

    def instance_lost(self, instance: LostInstance) -> None:
        self.instances_lost += 1

    def runs_recovered(self, sessions: Sequence[int], run_ids: Sequence[str]) -> None:
        self.recovered += len(run_ids)

    def session_lost(self, session: int) -> None:
        self.sessions_lost += 1

    def lease_doubted(self, session: int) -> None:
        self.leases_doubted += 1

    def schedule_set_aside(self, schedule_id: str, error: str) -> None:
        self.set_aside += 1

    def clock_jumped(self, by_ms: int) -> None:
        self.clock_jumps += 1

    def leadership_gained(self, name: str, term: int) -> None:
        self.leader_changes += 1
        self.leads, self.term = True, term

    def leadership_lost(self, name: str, term: int) -> None:
        self.leads = False

    def target_opened(self, name: str) -> None:
        self.targets.of(name)  # a rate needs a zero to begin with

    def messages_sent(self, target: str, results: Mapping[str, int], seconds: float) -> None:
        numbers = self.targets.of(target)
        numbers.results.update(results)
        numbers.seconds.add(seconds)
        if target == RESERVED_NAME:
            self.webhooks.update(results)

    def target_away(self, name: str, reason: str, seconds: float) -> None:
        self.targets.of(name).away = True

    def target_back(self, name: str) -> None:
        self.targets.of(name).away = False

    def schedules_owed(self, count: int, some: Sequence[str]) -> None:
        self.owed = count

    def audit_found(self, findings: Sequence[Finding]) -> None:
        for found in findings:
            self.audit_findings[found.fault.value] += found.windows

    def clock_skewed(self, by_ms: int) -> None:
        self.clock_offset = by_ms / 1000

    def beat_failed(self, error: Exception) -> None:
        self.loop_failed("heartbeat", error)
        if isinstance(error, StoreError):  # beats have a thread and a way to the store of their own
            self._count_error(error)

    def loop_failed(self, name: str, error: Exception) -> None:
        self.loop_failures[name] += 1

    def store_called(self, kind: str, seconds: float, error: StoreError | None) -> None:
        self.store_calls[kind].add(seconds)
        if error is not None:
            self._count_error(error)

    def _count_error(self, error: StoreError) -> None:
        match error:
            case StoreUnavailable():
                self.store_errors["unavailable"] += 1
            case OutcomeUnknown():
                self.store_errors["unknown_outcome"] += 1
            case _:
                self.store_errors["refused"] += 1
