"""Spans leave over OTLP/HTTP as a collector reads them: a real exporter, a real receiver, the real messages."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from duly import Duly
from duly.testing import ManualClock

exporting = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter", reason="extra otel")
messages = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="extra otel")


class Collector(ThreadingHTTPServer):
    """Takes what an OTLP exporter posts, and keeps the spans."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.spans: list[Any] = []
        self.types: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"


class _Receive(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:  # the name is the protocol's
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers["content-encoding"] == "gzip":
            body = gzip.decompress(body)
        request = messages.ExportTraceServiceRequest.FromString(body)
        self.server.types.add(self.headers["content-type"])
        self.server.spans += [s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.serve_forever)
    thread.start()
    yield collector
    collector.shutdown()
    thread.join()
    collector.server_close()


async def test_the_spans_of_a_run_arrive_at_a_collector_as_one_trace(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporting.OTLPSpanExporter(endpoint=collector.url, timeout=60)))
    clock = ManualClock()
    app = Duly("sqlite:///:memory:", clock=clock, tracer_provider=provider)

    @app.job("work", cron="* * * * *")
    async def work() -> None: ...

    await app.start()
    try:
        await clock.advance(minutes=1, seconds=1)
        (run,) = (await app.runs.list(job="work")).items
    finally:
        await app.stop(grace=0)
    provider.shutdown()
    found = {span.name: span for span in collector.spans}
    assert {"duly.fire", "duly.attempt work"} <= found.keys()
    fire, attempt = found["duly.fire"], found["duly.attempt work"]
    assert fire.trace_id.hex() == attempt.trace_id.hex() == run.id.replace("-", "")
    assert attempt.parent_span_id == fire.span_id
    told = {one.key: one.value.string_value for one in attempt.attributes}
    assert run.id in told.values()
    assert collector.types == {"application/x-protobuf"}
