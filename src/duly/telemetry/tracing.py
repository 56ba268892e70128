"""Traces for OpenTelemetry: create or enqueue, fire, attempt, step.

The trace of a run that a fire made has the run's own id, so every instance knows it and nothing is kept for it. Its
root, ``duly.fire``, lasts from the fire to the start of the first attempt and is linked to the span in which the
schedule was created: the two may lie months apart. A run that was enqueued to start at once goes on in the trace of
whoever enqueued it; one for later is linked to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, copy_context
from copy import copy
from hashlib import blake2b
from typing import Any, Final

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from duly.core.run import Claim, Failed, Lost, Outcome, RunKind
from duly.core.version import VERSION
from duly.runtime.clock import Clock
from duly.runtime.tracing import Words, within

SOON_MS: Final = 60_000
"""A run that was asked for no earlier than this before its time belongs to the trace of who asked."""

_w3c: Final = TraceContextTextMapPropagator()
_NS: Final = 1_000_000


class OpenTelemetryTracing:
    """Makes spans with the given provider, or with the one that the process has set up."""

    def __init__(self, clock: Clock, provider: Any = None) -> None:
        self._clock = clock
        self._provider = provider
        self._tracer: trace.Tracer | None = None
        self._roots: _Roots | None = None
        self._spans: dict[tuple[str, int], Span] = {}

    @contextmanager
    def asking(self, what: str, words: Words) -> Iterator[str | None]:
        with self._own().start_as_current_span(f"duly.{what}", kind=SpanKind.PRODUCER, attributes=_named(words)):
            yield _traceparent()

    def begin(self, claim: Claim) -> Context:
        words = _about(claim)
        parent, links = self._origin(claim)
        if parent is None:
            root = self._own_roots().start(claim, links, words)
            if claim.fence == 1:  # an instance that takes the run over knows of the root, and does not tell it again
                root.end(end_time=self._clock.now() * _NS)
            parent = trace.set_span_in_context(root)
        span = self._own().start_span(
            f"duly.attempt {claim.job}",
            parent,
            kind=SpanKind.CONSUMER,
            attributes=words | {"duly.attempt": claim.attempt},
        )
        self._spans[claim.id, claim.fence] = span
        claim.trace = _traceparent(trace.set_span_in_context(span))
        context = copy_context()
        context.run(contexts.attach, trace.set_span_in_context(span, parent))
        return within(self, context)

    def end(self, claim: Claim, outcome: Outcome) -> None:
        span = self._spans.pop((claim.id, claim.fence), None)
        if span is None:
            return
        span.set_attribute("duly.outcome", type(outcome).__name__.lower())
        if isinstance(outcome, Failed | Lost):
            # The kind of error and no more: what it says may quote a payload.
            span.set_status(Status(StatusCode.ERROR, outcome.error.partition(":")[0][:100]))
        span.end()

    @contextmanager
    def step(self, name: str, words: Words) -> Iterator[None]:
        with self._own().start_as_current_span(
            f"duly.step {name}", attributes=_named(words), record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    @contextmanager
    def arriving(self, headers: Mapping[str, str]) -> Iterator[None]:
        token = contexts.attach(_w3c.extract(headers))
        try:
            yield
        finally:
            contexts.detach(token)

    def _origin(self, claim: Claim) -> tuple[contexts.Context | None, list[Link]]:
        """The context in which the attempt goes on, or what it is linked to instead."""
        if claim.trace is None:
            return None, []
        asked = _w3c.extract({"traceparent": claim.trace}, contexts.Context())
        span = trace.get_current_span(asked).get_span_context()
        if not span.is_valid:
            return None, []
        if claim.kind == RunKind.DIRECT and (claim.window_at or 0) <= claim.fired_at + SOON_MS:
            return asked, []
        return None, [Link(span)]

    def _own(self) -> trace.Tracer:
        if self._tracer is None:
            provider = self._provider or trace.get_tracer_provider()
            self._tracer = provider.get_tracer("duly", VERSION)
        return self._tracer

    def _own_roots(self) -> _Roots:
        if self._roots is None:
            self._roots = _Roots(self._own())
        return self._roots


class _Roots:
    """Root spans whose ids follow from the run: whoever works for it finds the same trace."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer: Any = copy(tracer)
        self._ids: _Ids | None = None
        if hasattr(self._tracer, "id_generator"):
            self._ids = self._tracer.id_generator = _Ids(self._tracer.id_generator)

    def start(self, claim: Claim, links: list[Link], words: dict[str, Any]) -> Span:
        trace_id = int(claim.id.replace("-", ""), 16)
        span_id = int.from_bytes(blake2b(claim.id.encode(), digest_size=8, person=b"duly.fire").digest()) or 1
        if self._ids is None:
            # A tracer that keeps its ids to itself: the trace is the run's all the same, its root is nobody's span.
            known = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
            return NonRecordingSpan(known)
        self._ids.next = (trace_id, span_id)
        span: Span = self._tracer.start_span(
            "duly.fire", contexts.Context(), attributes=words, links=links, start_time=claim.fired_at * _NS
        )
        return span


class _Ids:
    """A generator of ids that answers those it was told."""

    def __init__(self, usual: Any) -> None:
        self._usual = usual
        self.next = (0, 0)

    def generate_trace_id(self) -> int:
        return self.next[0]

    def generate_span_id(self) -> int:
        return self.next[1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._usual, name)


def _traceparent(context: contexts.Context | None = None) -> str | None:
    carrier: dict[str, str] = {}
    _w3c.inject(carrier, context)
    return carrier.get("traceparent")


def _about(claim: Claim) -> dict[str, Any]:
    known: dict[str, str | int | None] = {
        "run_id": claim.id,
        "job": claim.job,
        "queue": claim.queue,
        "kind": str(claim.kind),
        "schedule_id": claim.schedule_id,
        "schedule_key": claim.key,
        "window": claim.window_key,
    }
    return _named({name: value for name, value in known.items() if value is not None})


def _named(words: Words) -> dict[str, Any]:
    return {f"duly.{name}": value for name, value in words.items()}
