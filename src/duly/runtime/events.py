"""The observer port: what the engine tells whoever wants to know. Observers never change what happens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from duly.core.audit import Finding
from duly.core.errors import StoreError
from duly.core.outside import what_it_takes
from duly.core.run import Claim, Failed, Outcome, RunStatus, SkippedWindows
from duly.core.switch import FiringState

log = logging.getLogger("duly.engine")

SKEW_MS = 2000
"""Clocks this far apart are worth a line."""

LATE_MS = 10_000
"""A fire this late is worth a line: an outage has ended, or the instances cannot keep up."""


SEND_RESULTS = ("confirmed", "failed", "unreached", "refused", "stopped")
"""What may become of a message to a target: the third is that nobody was there."""


class Attempted(Protocol):
    """An attempt that has come to its end."""

    @property
    def claim(self) -> Claim: ...
    @property
    def outcome(self) -> Outcome: ...


class LostInstance(Protocol):
    """An instance that was declared dead."""

    @property
    def session(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def pid(self) -> int: ...


class Observer:
    """Hears everything and does nothing; metrics, logs and streams override what they need.

    A method must be quick and must not raise; ``Observers`` shields the engine from one that does.
    """

    def windows_fired(self, runs: int, skipped: int, duplicates: int, lateness_ms: Sequence[int]) -> None: ...
    def windows_skipped(self, skips: Sequence[SkippedWindows]) -> None: ...
    def schedule_set_aside(self, schedule_id: str, error: str) -> None: ...
    def attempt_started(self, claim: Claim) -> None: ...
    def attempt_ended(self, claim: Claim, outcome: Outcome) -> None: ...
    def attempts_settled(
        self, attempts: Sequence[Attempted], ended: Mapping[str, RunStatus], lost: Sequence[str]
    ) -> None: ...
    def runs_ended(self, ended: Mapping[str, RunStatus]) -> None: ...
    def topics_unheard(self, runs: Sequence[tuple[str, str]]) -> None: ...
    def settlements_lost(self, run_ids: Sequence[str]) -> None: ...
    def settlements_abandoned(self, run_ids: Sequence[str]) -> None: ...
    def run_interrupted_often(self, run_id: str, times: int) -> None: ...
    def instance_lost(self, instance: LostInstance) -> None: ...
    def runs_recovered(self, sessions: Sequence[int], run_ids: Sequence[str]) -> None: ...
    def session_lost(self, session: int) -> None: ...
    def beat_failed(self, error: Exception) -> None: ...
    def lease_doubted(self, session: int) -> None: ...
    def clock_jumped(self, by_ms: int) -> None: ...
    def clock_skewed(self, by_ms: int) -> None: ...
    def jobs_unknown(self, jobs: Sequence[tuple[str, int]]) -> None: ...
    def firing_switched(self, state: FiringState) -> None: ...
    def store_restored(self, seen: int, found: int) -> None: ...
    def leadership_gained(self, name: str, term: int) -> None: ...
    def leadership_lost(self, name: str, term: int) -> None: ...
    def ballot_away(self, away: bool) -> None: ...
    def target_opened(self, name: str) -> None: ...
    def target_away(self, name: str, reason: str, seconds: float) -> None: ...
    def target_back(self, name: str) -> None: ...
    def messages_sent(self, target: str, results: Mapping[str, int], seconds: float) -> None: ...
    def schedules_owed(self, count: int, some: Sequence[str]) -> None: ...
    def audit_found(self, findings: Sequence[Finding]) -> None: ...
    def loop_failed(self, name: str, error: Exception) -> None: ...
    def store_called(self, kind: str, seconds: float, error: StoreError | None) -> None: ...


_EVENTS = [name for name in vars(Observer) if not name.startswith("_")]


class LogObserver(Observer):
    """Writes what an operator must see to the log; never payloads. What lasts is written once, when it begins."""

    def __init__(self) -> None:
        self._unknown: set[str] = set()
        self._stopped = False
        self._late = False
        self._owed = False
        self._skewed = False

    def windows_fired(self, runs: int, skipped: int, duplicates: int, lateness_ms: Sequence[int]) -> None:
        latest = max(lateness_ms, default=0)
        if latest > LATE_MS and not self._late:
            log.warning(
                "windows fire late, the oldest by %d s: %d runs and %d skipped in this batch; each keeps its own time",
                latest // 1000,
                runs,
                skipped,
            )
        if lateness_ms:
            self._late = latest > LATE_MS

    def schedule_set_aside(self, schedule_id: str, error: str) -> None:
        log.error("schedule %s set aside: %s", schedule_id, error, extra={"schedule_id": schedule_id})

    def attempt_ended(self, claim: Claim, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            last = outcome.fatal or claim.attempt >= claim.max_attempts
            log.log(
                logging.ERROR if last else logging.WARNING,
                "job %r run %s: attempt %d of %d failed: %s",
                claim.job,
                claim.id,
                claim.attempt,
                claim.max_attempts,
                outcome.error,
                exc_info=outcome.cause,
                extra={
                    "run_id": claim.id,
                    "attempt": claim.attempt,
                    "schedule_id": claim.schedule_id,
                    "schedule_key": claim.key,
                },
            )

    def settlements_lost(self, run_ids: Sequence[str]) -> None:
        log.warning("attempts lost their runs to newer ones: %s", ", ".join(run_ids))

    def settlements_abandoned(self, run_ids: Sequence[str]) -> None:
        log.error(
            "%d ends of attempts could not be written; their runs are recovered as lost: %s",
            len(run_ids),
            ", ".join(run_ids),
        )

    def run_interrupted_often(self, run_id: str, times: int) -> None:
        log.error(
            "run %s has been interrupted %d times by shutdowns or outages and has not ended; make it shorter, give"
            " shutdown_timeout more time, or set max_interruptions",
            run_id,
            times,
            extra={"run_id": run_id},
        )

    def instance_lost(self, instance: LostInstance) -> None:
        log.error(
            "instance %s (%s, pid %d, session %d) is lost: it stopped sending heartbeats, or its process ended",
            instance.name,
            instance.host,
            instance.pid,
            instance.session,
            extra={"instance": instance.name, "session": instance.session},
        )

    def runs_recovered(self, sessions: Sequence[int], run_ids: Sequence[str]) -> None:
        log.warning("dead sessions: %d; runs recovered: %s", len(sessions), ", ".join(run_ids) or "none")

    def session_lost(self, session: int) -> None:
        log.error("session %d was declared dead; opening a new one", session)

    def beat_failed(self, error: Exception) -> None:
        log.warning("heartbeat failed: %s", error)

    def lease_doubted(self, session: int) -> None:
        log.error(
            "session %d: no heartbeat has got through; its lease may be gone, and what runs is told to stop", session
        )

    def clock_jumped(self, by_ms: int) -> None:
        log.error("the clock jumped by %d ms; firing and recovery hold for one lease", by_ms)

    def clock_skewed(self, by_ms: int) -> None:
        skewed = abs(by_ms) > SKEW_MS
        if skewed and not self._skewed:
            log.warning(
                "the store's clock is %.1f s %s this machine's: schedules fire by the store's; let both follow a time"
                " server",
                abs(by_ms) / 1000,
                "ahead of" if by_ms > 0 else "behind",
            )
        elif self._skewed and not skewed:
            log.warning("the store's clock and this machine's agree again")
        self._skewed = skewed

    def jobs_unknown(self, jobs: Sequence[tuple[str, int]]) -> None:
        for job, runs in jobs:
            if job not in self._unknown:
                log.warning(
                    "no live worker knows job %r (runs that wait: %d); %s",
                    job,
                    runs,
                    what_it_takes(job) or "start one that has it (`duly worker --app MODULE:APP`), or correct the name",
                )
        self._unknown = {job for job, _ in jobs}

    def topics_unheard(self, runs: Sequence[tuple[str, str]]) -> None:
        for run_id, topic in runs:
            log.warning("run %s: nobody listens to topic %r; it ends without", run_id, topic, extra={"run_id": run_id})

    def firing_switched(self, state: FiringState) -> None:
        if state.paused:
            log.warning(
                "nothing fires: paused by %s: %s; `duly resume --all` or app.firing.resume(...) lets it go on",
                state.by or "somebody",
                state.reason or "no reason given",
            )
            self._stopped = True
        elif self._stopped:
            log.warning("firing goes on")
            self._stopped = False

    def store_restored(self, seen: int, found: int) -> None:
        log.error(
            "the store went back from tick %d to %d: restored from a backup; nothing fires until told", seen, found
        )

    def leadership_gained(self, name: str, term: int) -> None:
        log.warning("instance %s leads: it fires now, under term %d", name, term)

    def leadership_lost(self, name: str, term: int) -> None:
        log.warning("instance %s leads no more (term %d): it fires nothing until it does", name, term)

    def ballot_away(self, away: bool) -> None:
        if away:
            log.error("Redis does not answer: until it does, the lease in the database decides who leads")
        else:
            log.warning("Redis answers again, and decides who leads")

    def target_away(self, name: str, reason: str, seconds: float) -> None:
        log.error("target %r takes no messages: %s; its runs wait, the next try is in %g s", name, reason, seconds)

    def target_back(self, name: str) -> None:
        log.warning("target %r takes messages again", name)

    def schedules_owed(self, count: int, some: Sequence[str]) -> None:
        if count and not self._owed:
            log.error("%d schedules have not fired although it is time: %s ...", count, ", ".join(some))
        elif self._owed and not count:
            log.warning("no schedule is overdue any more")
        self._owed = count > 0

    def audit_found(self, findings: Sequence[Finding]) -> None:
        for found in findings:
            log.error(
                "audit: window %s %s: %s", found.window_key, found.fault, found.detail,
                extra={"schedule_id": found.schedule_id},
            )  # fmt: skip

    def loop_failed(self, name: str, error: Exception) -> None:
        log.error("%s failed: %s: %s", name, type(error).__name__, error)


class Observers(Observer):
    """Tells several observers; one that raises is logged and the others still hear it."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._listeners: dict[str, list[Callable[..., None]]] = {name: [] for name in _EVENTS}
        for observer in observers:
            self.add(observer)

    def add(self, observer: Observer) -> None:
        for name, listeners in self._listeners.items():
            # Only who overrides a method is called: two of them are on the path of every run.
            if getattr(type(observer), name) is not getattr(Observer, name):
                listeners.append(getattr(observer, name))

    def _tell(self, event: str, *values: object) -> None:
        for listener in self._listeners[event]:
            try:
                listener(*values)
            except Exception:
                log.exception("observer %s failed in %s", getattr(listener, "__qualname__", listener), event)

    def windows_fired(self, runs: int, skipped: int, duplicates: int, lateness_ms: Sequence[int]) -> None:
        self._tell("windows_fired", runs, skipped, duplicates, lateness_ms)

    def windows_skipped(self, skips: Sequence[SkippedWindows]) -> None:
        self._tell("windows_skipped", skips)

    def schedule_set_aside(self, schedule_id: str, error: str) -> None:
        self._tell("schedule_set_aside", schedule_id, error)

    def attempt_started(self, claim: Claim) -> None:
        self._tell("attempt_started", claim)

    def attempt_ended(self, claim: Claim, outcome: Outcome) -> None:
        self._tell("attempt_ended", claim, outcome)

    def attempts_settled(
        self, attempts: Sequence[Attempted], ended: Mapping[str, RunStatus], lost: Sequence[str]
    ) -> None:
        self._tell("attempts_settled", attempts, ended, lost)

    def runs_ended(self, ended: Mapping[str, RunStatus]) -> None:
        self._tell("runs_ended", ended)

    def topics_unheard(self, runs: Sequence[tuple[str, str]]) -> None:
        self._tell("topics_unheard", runs)

    def settlements_lost(self, run_ids: Sequence[str]) -> None:
        self._tell("settlements_lost", run_ids)

    def settlements_abandoned(self, run_ids: Sequence[str]) -> None:
        self._tell("settlements_abandoned", run_ids)

    def run_interrupted_often(self, run_id: str, times: int) -> None:
        self._tell("run_interrupted_often", run_id, times)

    def instance_lost(self, instance: LostInstance) -> None:
        self._tell("instance_lost", instance)

    def runs_recovered(self, sessions: Sequence[int], run_ids: Sequence[str]) -> None:
        self._tell("runs_recovered", sessions, run_ids)

    def session_lost(self, session: int) -> None:
        self._tell("session_lost", session)

    def beat_failed(self, error: Exception) -> None:
        self._tell("beat_failed", error)

    def lease_doubted(self, session: int) -> None:
        self._tell("lease_doubted", session)

    def clock_jumped(self, by_ms: int) -> None:
        self._tell("clock_jumped", by_ms)

    def clock_skewed(self, by_ms: int) -> None:
        self._tell("clock_skewed", by_ms)

    def jobs_unknown(self, jobs: Sequence[tuple[str, int]]) -> None:
        self._tell("jobs_unknown", jobs)

    def firing_switched(self, state: FiringState) -> None:
        self._tell("firing_switched", state)

    def store_restored(self, seen: int, found: int) -> None:
        self._tell("store_restored", seen, found)

    def leadership_gained(self, name: str, term: int) -> None:
        self._tell("leadership_gained", name, term)

    def leadership_lost(self, name: str, term: int) -> None:
        self._tell("leadership_lost", name, term)

    def ballot_away(self, away: bool) -> None:
        self._tell("ballot_away", away)

    def target_opened(self, name: str) -> None:
        self._tell("target_opened", name)

    def target_away(self, name: str, reason: str, seconds: float) -> None:
        self._tell("target_away", name, reason, seconds)

    def target_back(self, name: str) -> None:
        self._tell("target_back", name)

    def messages_sent(self, target: str, results: Mapping[str, int], seconds: float) -> None:
        self._tell("messages_sent", target, results, seconds)

    def schedules_owed(self, count: int, some: Sequence[str]) -> None:
        self._tell("schedules_owed", count, some)

    def audit_found(self, findings: Sequence[Finding]) -> None:
        self._tell("audit_found", findings)

    def loop_failed(self, name: str, error: Exception) -> None:
        self._tell("loop_failed", name, error)

    def store_called(self, kind: str, seconds: float, error: StoreError | None) -> None:
        self._tell("store_called", kind, seconds, error)
