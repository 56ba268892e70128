"""Health while the store goes away and comes back, and streams that would never end."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from duly import Duly
from duly.api.binding import bind
from duly.api.health import Health
from duly.api.server import Server as HttpServer
from duly.telemetry.metrics import Metrics
from tests.serve.serving import PATIENCE, Answer, Served
from tests.servers import Server, ServerAbsent, postgres_server

Serve = Callable[..., Served]


@pytest.fixture
def own_postgres() -> Iterator[Server]:
    try:
        with postgres_server() as server:
            yield server
    except ServerAbsent as absent:
        pytest.skip(f"server absent: postgres: {absent.reason}")


@pytest.mark.processes
@pytest.mark.timeout(300, func_only=True)
def test_a_store_that_is_lost_makes_it_unready_and_it_recovers_by_itself(serve: Serve, own_postgres: Server) -> None:
    served = serve("--demo", "--database-url", own_postgres.url, DULY_LEASE="3s", DULY_HEARTBEAT="1s").ready()
    served.until(lambda: served.runs(status="completed"), "work")
    own_postgres.kill()

    def lost() -> Answer | None:
        seen = served.ask("/readyz?verbose")
        return None if seen.json["checks"]["store"]["ok"] else seen

    detail = served.until(lost, "it to notice")
    assert detail is not None
    assert (detail.status, detail.json["code"]) == (503, "NOT_READY")
    assert served.status_of("/readyz") == 503
    assert served.ask("/livez").status == 200, "alive all the same: a restart would not help"
    metrics = served.ask("/metrics")
    assert metrics.status == 200
    assert b'duly_store_errors_total{kind="unavailable"}' in metrics.body
    assert b"duly_queue_depth" not in metrics.body, "what only the store knows is not guessed"
    own_postgres.start()
    served.until(lambda: served.status_of("/readyz") == 200, "it to recover")
    before = len(served.runs(status="completed"))
    served.until(lambda: len(served.runs(status="completed")) > before, "work to go on")
    assert served.end() == 0


@pytest.mark.processes
def test_what_is_asked_of_health_with_another_method_is_told_which_it_takes(serve: Serve) -> None:
    served = serve("--demo").ready()
    for path in ("/livez", "/readyz", "/healthz", "/version", "/metrics"):
        told = served.ask(path, {}, method="POST")
        assert (told.status, told.json["code"]) == (405, "METHOD_NOT_ALLOWED"), path
        assert set(told.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert served.end() == 0


DOZE = """
import asyncio, duly
from pathlib import Path

app = duly.Duly()

@app.job("doze")
async def doze() -> None:
    Path("dozing").touch()
    while not Path("woken").exists():
        await asyncio.sleep(0.05)
    Path("rested").touch()
"""


@pytest.mark.processes
@pytest.mark.timeout(300, func_only=True)
def test_ends_that_cannot_be_written_are_told_and_the_exit_code_says_so(
    serve: Serve, own_postgres: Server, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(DOZE)
    served = serve("--app", "shop:app", "--database-url", own_postgres.url, DULY_LEASE="8s", DULY_HEARTBEAT="1s")
    run = served.ready().ask("/api/v1/runs", {"jobType": "doze"}).json
    served.until((tmp_path / "dozing").exists, "the handler to begin")
    own_postgres.kill()
    (tmp_path / "woken").touch()
    served.until((tmp_path / "rested").exists, "the work to end")
    assert served.end() == 1
    assert f"1 ends of attempts could not be written; their runs are recovered as lost: {run['id']}" in served.said()


async def _forever() -> AsyncIterator[bytes]:
    yield b"event: hello\n\n"
    await asyncio.Event().wait()


async def _stream(request: Request) -> StreamingResponse:
    return StreamingResponse(_forever(), media_type="text/event-stream")


async def test_a_stream_with_its_client_attached_ends_at_once_when_the_server_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Duly("sqlite:///:memory:")
    listener = bind("127.0.0.1", 0)
    address = listener.getsockname()
    server = HttpServer(listener, Health(app, Metrics()), lambda: Starlette(routes=[Route("/stream", _stream)]))
    server.start()
    await server.load()
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
    await reader.readuntil(b"event: hello")
    monkeypatch.setattr(server._uvicorn.config, "timeout_graceful_shutdown", None)  # requests may take forever
    await asyncio.wait_for(server.stop(), PATIENCE)
    assert await asyncio.wait_for(reader.read(), PATIENCE) is not None, "and the client sees its end"
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8"])
def test_loopback_addresses_need_no_consent(host: str) -> None:
    listener = bind(host, 0)
    assert listener.getsockname()[1] > 0
    listener.close()


def test_a_bound_port_can_be_taken_by_nobody_else() -> None:
    listener = bind("127.0.0.1", 0)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(listener.getsockname())
    listener.close()
