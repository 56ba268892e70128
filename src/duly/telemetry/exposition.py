"""The numbers in Prometheus' words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry

from duly.core.version import VERSION
from duly.runtime.events import SEND_RESULTS
from duly.store.load import Load, Waits

from .metrics import Metrics
from .numbers import Histogram


class Exposition:
    """Writes the metrics of a process, and of the store as it was last counted."""

    def __init__(self, metrics: Metrics, *, store: str) -> None:
        self._collector = _Collector(metrics, store)
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self._collector)
        ProcessCollector(registry=self._registry)

    def text(self, load: Load | None, accept: str = "") -> tuple[bytes, str]:
        """The body and its content type. Without ``load`` what only the store knows is left out, not guessed."""
        self._collector.load = load
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _Collector(Collector):
    def __init__(self, metrics: Metrics, store: str) -> None:
        self._metrics = metrics
        self._store = store
        self.load: Load | None = None

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def collect(self) -> Iterator[Metric]:
        m = self._metrics
        yield _counters("duly_fires", "Windows dealt with by this process.", "outcome", m.fires)
        yield _counters("duly_skipped_windows", "Windows that policy dropped.", "reason", m.skips)
        yield _counters("duly_runs", "Runs that ended for good.", "outcome", m.runs)
        yield _counters("duly_attempts", "Attempts that ended in this process.", "outcome", m.attempts)
        yield _counters("duly_store_errors", "Calls to the store that failed.", "kind", m.store_errors)
        yield _counters("duly_loop_failures", "Passes of the engine's loops that failed.", "loop", m.loop_failures)
        yield CounterMetricFamily("duly_claims", "Runs that this process claimed and started.", m.claims)
        yield CounterMetricFamily("duly_stale_writes_rejected", "Ends of attempts that came too late.", m.stale_writes)
        yield CounterMetricFamily("duly_runs_unheard", "Runs of topics that nobody listens to.", m.unheard)
        yield CounterMetricFamily("duly_runs_recovered", "Runs taken from dead instances.", m.recovered)
        yield CounterMetricFamily(
            "duly_runs_interrupted_often",
            "Times a run was interrupted for the 20th, 40th, … time.",
            m.interrupted_often,
        )
        yield CounterMetricFamily("duly_instances_lost", "Instances that this one found dead.", m.instances_lost)
        yield CounterMetricFamily("duly_sessions_lost", "Times this process was declared dead.", m.sessions_lost)
        yield CounterMetricFamily("duly_leases_doubted", "Times no heartbeat got through in time.", m.leases_doubted)
        yield CounterMetricFamily("duly_schedules_set_aside", "Schedules that could not be fired.", m.set_aside)
        yield CounterMetricFamily("duly_clock_jumps", "Leaps of the clock that were noticed.", m.clock_jumps)
        yield _counters("duly_audit_findings", "Windows that the auditor found wrong.", "fault", m.audit_findings)
        yield GaugeMetricFamily("duly_clock_offset_seconds", "The store's clock ahead of this one's.", m.clock_offset)
        yield GaugeMetricFamily("duly_leader", "1 while this process leads, where one leader fires.", float(m.leads))
        yield GaugeMetricFamily("duly_leader_term", "The newest term under which this process led.", m.term)
        yield CounterMetricFamily("duly_leader_changes", "Times this process became the leader.", m.leader_changes)
        yield GaugeMetricFamily("duly_schedules_not_fired", "Schedules overdue to fire, up to 1000.", m.owed)
        yield GaugeMetricFamily("duly_attempts_active", "Attempts in execution in this process.", m.active)
        yield _histogram("duly_schedule_lag_seconds", "From the time to fire to the fire.", m.lag)
        yield _histogram("duly_run_duration_seconds", "How long attempts took.", m.duration)
        yield _histogram("duly_run_timeout_ratio", "How much of its timeout an attempt took.", m.timeout_share)
        yield from _of_jobs(m)
        yield from _of_targets(m)
        yield _calls(m)
        yield from self._of_store()
        info = GaugeMetricFamily("duly_build_info", "The version, always 1.", labels=("version", "store"))
        info.add_metric((VERSION, self._store), 1)
        yield info

    def _of_store(self) -> Iterator[Metric]:
        load = self.load
        if load is None:
            return
        yield GaugeMetricFamily("duly_firing_paused", "1 while the switch has stopped all firing.", load.firing_paused)
        yield GaugeMetricFamily("duly_due", "Schedules whose window is due and not fired yet, up to 10000.", load.due)
        depth = GaugeMetricFamily("duly_queue_depth", "Open runs by state, each up to 10000.", labels=("state",))
        for state, runs in (
            ("ready", load.ready),
            ("running", load.running),
            ("behind_another", load.in_lanes),
            ("unknown_job", load.of_unknown_jobs),
        ):
            depth.add_metric((state,), runs)
        yield depth
        if load.waits is not None:
            yield from _waiting(load.waits)


def _waiting(waits: Waits) -> Iterator[Metric]:
    for name, words, ms in (
        ("duly_due_oldest_seconds", "How long the window has waited that is due longest.", waits.due_ms),
        ("duly_queue_oldest_seconds", "How long the run has waited that could start longest.", waits.ready_ms),
        ("duly_outbox_oldest_seconds", "The same of those that go to a target.", waits.outbox_ms),
    ):
        yield GaugeMetricFamily(name, words, ms / 1000)
    yield GaugeMetricFamily("duly_dead_letters", "Runs that failed for good, up to 10000.", waits.dead)
    if waits.dead_rows is not None:
        yield GaugeMetricFamily("duly_dead_rows", "Rows that vacuum has still to sweep up.", waits.dead_rows)


def _of_jobs(metrics: Metrics) -> Iterator[Metric]:
    attempts = CounterMetricFamily("duly_job_attempts", "Attempts that ended, by job.", labels=("job_type", "outcome"))
    took = SummaryMetricFamily("duly_job_duration_seconds", "How long attempts took, by job.", labels=("job_type",))
    for job, ended, seconds, timed in metrics.attempts_by_job:
        for outcome, count in ended.items():
            attempts.add_metric((job, outcome), count)
        took.add_metric((job,), timed, seconds)
    yield attempts
    yield took


def _of_targets(metrics: Metrics) -> Iterator[Metric]:
    away = GaugeMetricFamily("duly_target_away", "1 while the breaker is open: nobody is there.", labels=("target",))
    sent = CounterMetricFamily("duly_messages", "Messages sent to targets.", labels=("target", "result"))
    took = HistogramMetricFamily("duly_dispatch_seconds", "How long a target took to answer.", labels=("target",))
    for target, numbers in metrics.targets:
        away.add_metric((target,), float(numbers.away))
        for result in SEND_RESULTS:
            sent.add_metric((target, result), numbers.results[result])
        took.add_metric((target,), _buckets(numbers.seconds), numbers.seconds.total)
    yield away
    yield sent
    yield took
    yield _counters("duly_webhook_attempts", "Attempts to post to webhooks.", "result", metrics.webhooks)


def _calls(metrics: Metrics) -> Metric:
    family = HistogramMetricFamily("duly_store_call_seconds", "How long calls to the store took.", labels=("kind",))
    for kind, histogram in metrics.store_calls.items():
        family.add_metric((kind,), _buckets(histogram), histogram.total)
    return family


def _counters(name: str, words: str, label: str, values: Mapping[str, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(name, words, labels=(label,))
    for value, count in sorted(values.items()):
        family.add_metric((value,), count)
    return family


def _histogram(name: str, words: str, histogram: Histogram) -> HistogramMetricFamily:
    return HistogramMetricFamily(name, words, buckets=_buckets(histogram), sum_value=histogram.total)


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    buckets, below = [], 0
    for bound, count in zip((*histogram.bounds, float("inf")), histogram.counts, strict=True):
        below += count
        buckets.append(("+Inf" if bound == float("inf") else str(bound), float(below)))
    return buckets
