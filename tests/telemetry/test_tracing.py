"""A trace goes from who asked, over the fire, to the attempts and their steps, across processes and restarts."""

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from duly import Cron, Duly, Retry, Settings, StepFailed, WorkflowContext
from duly.api.application import application
from duly.core.errors import ConfigurationError
from duly.core.run import Lost
from duly.engine.worker import _leaked
from duly.runtime.tracing import current_claim
from duly.store.values import Held
from duly.telemetry.logs import JsonFormatter
from duly.telemetry.tracing import OpenTelemetryTracing
from duly.testing import ManualClock
from tests.targets.memory import Memory

FROM_AFAR = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Traced:
    """An app in memory whose spans are kept."""

    def __init__(self, sampler: Any = None, **options: Any) -> None:
        self.clock = ManualClock()
        self.kept = InMemorySpanExporter()
        provider = TracerProvider(sampler=sampler) if sampler else TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.kept))
        self.provider = provider
        self.tracer = provider.get_tracer("shop")
        self.app = Duly("sqlite:///:memory:", clock=self.clock, tracer_provider=provider, **options)

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.kept.get_finished_spans() if span.name == name]

    def span(self, name: str) -> ReadableSpan:
        (found,) = self.spans(name)
        return found


@pytest.fixture
def traced() -> Traced:
    return Traced()


@pytest.fixture
async def app(traced: Traced) -> AsyncIterator[Duly]:
    yield traced.app
    await traced.app.stop(grace=0)


def ids(span: ReadableSpan | trace.Span) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def parent(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


async def test_a_fire_has_its_run_s_trace_and_is_linked_to_the_create(traced: Traced, app: Duly) -> None:
    inside: list[int] = []

    @app.job("report")
    async def report() -> None:
        inside.append(trace.get_current_span().get_span_context().span_id)

    await app.start()
    with traced.tracer.start_as_current_span("request") as request:
        await app.schedules.create("nightly", Cron("* * * * *"), job="report")
    created = traced.span("duly.create")
    assert (ids(created)[0], parent(created)) == ids(request), "who creates is in the request's trace"
    await traced.clock.advance(seconds=60)
    (run,) = (await app.runs.list()).items
    fire, attempt = traced.span("duly.fire"), traced.span("duly.attempt report")
    assert ids(fire)[0] == ids(attempt)[0] == int(run.id.replace("-", ""), 16)
    assert parent(fire) is None
    assert parent(attempt) == ids(fire)[1]
    assert [ids_of_link(link) for link in fire.links] == [ids(created)]
    assert inside == [ids(attempt)[1]], "what the handler does belongs to its attempt"
    assert fire.attributes is not None
    assert fire.attributes["duly.schedule_key"] == "nightly"
    assert fire.attributes["duly.window"] == run.window_key
    assert attempt.attributes is not None
    assert attempt.attributes["duly.outcome"] == "completed"


def ids_of_link(link: trace.Link) -> tuple[int, int]:
    return link.context.trace_id, link.context.span_id


async def test_all_attempts_at_a_run_are_in_one_trace_with_one_root(traced: Traced, app: Duly) -> None:
    @app.job("flaky", retry=Retry(max_attempts=2, delay=1, jitter=0), cron="* * * * *")
    async def flaky() -> None:
        raise ValueError("card 4111 1111 1111 1111 was refused")

    await app.start()
    await traced.clock.advance(seconds=65)
    first, second = traced.spans("duly.attempt flaky")
    root = traced.span("duly.fire")
    assert parent(first) == parent(second) == ids(root)[1]
    assert ids(first)[0] == ids(second)[0] == ids(root)[0]
    assert first.status.status_code is trace.StatusCode.ERROR
    assert first.status.description == "ValueError"
    told = "".join(span.to_json() for span in traced.kept.get_finished_spans())
    assert "refused" not in told
    assert "4111 1111" not in told, "with its blank it is no part of an id"


def test_another_instance_goes_on_in_the_same_trace() -> None:
    run_id = "019b8b74-1800-7d1f-9bc5-20cc364a353a"
    spans: list[ReadableSpan] = []
    for fence, instance in enumerate((Traced(), Traced()), start=1):
        tracing = OpenTelemetryTracing(instance.clock, instance.provider)
        claim = replace(_leaked(Held(run_id, fence, False)), job="flaky")
        tracing.begin(claim)
        tracing.end(claim, Lost("its process died"))
        spans += instance.kept.get_finished_spans()
    assert sorted(span.name for span in spans) == ["duly.attempt flaky", "duly.attempt flaky", "duly.fire"]
    assert {ids(span)[0] for span in spans} == {int(run_id.replace("-", ""), 16)}
    (root,) = (span for span in spans if span.name == "duly.fire")
    assert {parent(span) for span in spans if span is not root} == {ids(root)[1]}


async def test_a_run_enqueued_for_now_goes_on_in_the_trace_of_who_asked_and_one_for_later_is_linked(
    traced: Traced, app: Duly
) -> None:
    @app.job("send")
    def send() -> str | None:
        claim = current_claim.get()
        return None if claim is None else claim.trace

    await app.start()
    with traced.tracer.start_as_current_span("request") as request:
        now = await app.enqueue("send")
        later = await app.enqueue("send", run_at=_in(traced.clock, hours=2))
    done = await app.runs.wait(now.id, timeout=5)
    asked, asked_later = traced.spans("duly.enqueue")
    attempt = traced.span("duly.attempt send")
    assert ids(attempt)[0] == ids(request)[0]
    assert parent(attempt) == ids(asked)[1]
    assert done.result == f"00-{ids(attempt)[0]:032x}-{ids(attempt)[1]:016x}-03", "also in a thread"
    traced.clock.move(hours=2)
    await app.runs.wait(later.id, timeout=5)
    root = traced.span("duly.fire")
    assert ids(root)[0] == int(later.id.replace("-", ""), 16)
    assert [ids_of_link(link) for link in root.links] == [ids(asked_later)]


def _in(clock: ManualClock, *, hours: int) -> datetime:
    return datetime.fromtimestamp(clock.now() / 1000, UTC) + timedelta(hours=hours)


async def test_the_steps_of_a_workflow_are_spans_below_its_attempt(traced: Traced, app: Duly) -> None:
    async def gather() -> int:
        return 3

    def broken() -> None:
        raise LookupError("secret")

    @app.workflow("daily", version="1")
    async def daily(ctx: WorkflowContext, input: Any) -> Any:
        rows = await ctx.step("gather", gather)
        try:
            await ctx.step("broken", broken, retry=Retry(max_attempts=1))
        except StepFailed:
            return rows

    await app.start()
    run = await app.workflows.start("daily", {})
    await traced.clock.settle()
    done = await app.runs.wait(run.id, timeout=5)
    assert done.result == 3
    attempt = next(span for span in traced.kept.get_finished_spans() if span.name.startswith("duly.attempt"))
    step, failed = traced.span("duly.step gather"), traced.span("duly.step broken")
    assert parent(step) == parent(failed) == ids(attempt)[1]
    assert step.status.status_code is trace.StatusCode.UNSET
    assert (failed.status.status_code, failed.status.description) == (trace.StatusCode.ERROR, "LookupError")


async def test_a_delivered_message_carries_the_trace_of_its_delivery() -> None:
    memory, plain = Memory(), Memory()
    traced = Traced(targets={"mail": memory.make()})
    target = {"kind": "queue", "name": "mail"}
    async with traced.app:
        await traced.app.schedules.create("nightly", Cron("* * * * *"), target=target)
        await traced.clock.advance(seconds=61)
    (message,) = memory.messages
    (attempt,) = (span for span in traced.kept.get_finished_spans() if span.name.startswith("duly.attempt"))
    assert ids(attempt)[0] == int(message.id.replace("-", ""), 16)
    assert message.headers["traceparent"] == f"00-{ids(attempt)[0]:032x}-{ids(attempt)[1]:016x}-03"
    clock = ManualClock()
    async with Duly("sqlite:///:memory:", clock=clock, targets={"mail": plain.make()}) as untraced:
        await untraced.schedules.create("nightly", Cron("* * * * *"), target=target)
        await clock.advance(seconds=61)
    assert "traceparent" not in plain.messages[0].headers


async def test_a_request_over_rest_goes_on_in_its_caller_s_trace(traced: Traced, app: Duly) -> None:
    await app.open()
    transport = httpx2.ASGITransport(app=application(app))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1") as client:
        for header in (FROM_AFAR, "00-" + "x" * 9000, "00-0-0-00", "\x01", ""):
            body = {"name": "n", "cronExpression": "0 2 * * *", "jobType": "x"}
            answer = await client.post("/schedules", json=body, headers=[(b"traceparent", header.encode())])
            assert answer.status_code == 201, answer.text
    first, *others = traced.spans("duly.create")
    assert f"{ids(first)[0]:032x}" == FROM_AFAR.split("-")[1]
    assert len({ids(span)[0] for span in others}) == 4, "what is no context begins a trace of its own"
    await app.close()


async def test_the_sampler_of_the_process_decides_and_nothing_costs_where_nobody_traces() -> None:
    traced = Traced(ParentBased(TraceIdRatioBased(0)))

    @traced.app.job("report", cron="* * * * *")
    async def report() -> None: ...

    async with traced.app:
        await traced.clock.advance(seconds=61)
        assert len((await traced.app.runs.list()).items) == 1
        assert traced.kept.get_finished_spans() == ()
        assert not traced.app._tracing._spans  # type: ignore[union-attr]
    plain = Duly("sqlite:///:memory:")
    assert plain._tracing is None
    with pytest.raises(ConfigurationError, match="setting tracing is 'yes'"):
        Settings(tracing="yes")  # type: ignore[arg-type]


async def test_a_line_that_a_handler_logs_says_for_what_and_in_which_trace(traced: Traced, app: Duly) -> None:
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Kept()
    handler.setFormatter(JsonFormatter("worker-7"))
    log = logging.getLogger("shop.reports")
    log.addHandler(handler)

    @app.job("report", cron="* * * * *")
    def report() -> None:
        log.warning("in a thread\n\x1b[2J%s", "\x9b\u2028", extra={"payload": {"card": "of Ann's"}})

    try:
        await app.start()
        await traced.clock.advance(seconds=60)
        (run,) = (await app.runs.list()).items
        await app.runs.wait(run.id, timeout=5)
    finally:
        log.removeHandler(handler)
    (line,) = lines
    assert "Ann" not in line
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 or letter == "\u2028" for letter in line)
    event = json.loads(line)
    attempt = traced.span("duly.attempt report")
    assert (event["run_id"], event["schedule_key"], event["attempt"]) == (run.id, "report", 1)
    assert (event["worker_id"], event["schedule_id"]) == ("worker-7", run.schedule_id)
    assert (event["trace_id"], event["span_id"]) == (f"{ids(attempt)[0]:032x}", f"{ids(attempt)[1]:016x}")
