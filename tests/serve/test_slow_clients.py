"""Clients that are slow, silent, greedy or speak no HTTP: each is cut off, hears why, and costs the others nothing."""

import asyncio
import json
import resource
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from duly import Duly
from duly.api.application import application
from duly.api.binding import bind
from duly.api.connection import _PIECE, Connection
from duly.api.health import Health
from duly.api.limits import SPARE, Limits, connections_for
from duly.api.problems import CODES
from duly.api.server import Server
from duly.telemetry.metrics import Metrics
from tests.serve.serving import PATIENCE, Served

GET = b"GET /api/v1/schedules HTTP/1.1\r\nHost: localhost\r\n"
LIVE = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LONG = 600.0


def limits(**chosen: Any) -> Limits:
    """So long that a wait that is not meant would end the test."""
    return Limits(**{"header_timeout": LONG, "body_timeout": LONG, "keep_alive_timeout": LONG, **chosen})


Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@asynccontextmanager
async def serving(chosen: Limits, tmp_path: Path, application_: Any = None) -> AsyncIterator[Connect]:
    app = Duly(f"sqlite:////{tmp_path}/x.db")
    await app.open()
    listener = bind("127.0.0.1", 0)
    server = Server(listener, Health(app, Metrics()), lambda: application_ or application(app), chosen)
    address = listener.getsockname()
    server.start()
    await server.load()
    writers: list[asyncio.StreamWriter] = []

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*address, limit=2**22)
        writers.append(writer)
        return reader, writer

    try:
        yield connect
    finally:
        for writer in writers:
            writer.close()
        await server.stop()
        await app.close()


@pytest.fixture
async def hurry(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the clock that the server counts by forward, so that no wait of a test is short enough to end by itself."""
    loop = asyncio.get_running_loop()
    time_of, ahead = loop.time, 0.0

    def forward(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    monkeypatch.setattr(loop, "time", lambda: time_of() + ahead)
    return forward


async def told(reader: asyncio.StreamReader) -> tuple[int, dict[str, Any]]:
    """One answer: its status and its document."""
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode().lower()
    length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length"))
    body = await asyncio.wait_for(reader.readexactly(length), PATIENCE)
    status = int(head.split()[1])
    if status >= 400:
        assert "content-type: application/problem+json" in head
        document = json.loads(body)
        assert document["status"] == status == CODES[document["code"]][0].status
        assert f"x-request-id: {document['requestId']}" in head
        return status, document
    return status, json.loads(body) if body.startswith(b"{") else {}


async def ended(reader: asyncio.StreamReader) -> bytes:
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionError:
        return b""


REFUSED = {
    "not HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03hello", 400, "INVALID_REQUEST"),
    "a control character in a header": (GET + b"X: a\x00b\r\n\r\n", 400, "INVALID_REQUEST"),
    "two hosts": (GET + b"Host: other\r\n\r\n", 400, "INVALID_REQUEST"),
    "two lengths": (POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "INVALID_REQUEST"),
    "a length and chunks": (
        POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
        "INVALID_REQUEST",
    ),
    "a chunk without a size": (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400, "INVALID_REQUEST"),
    "a path of bytes": ("GET /\xe9 HTTP/1.1\r\nHost: x\r\n\r\n".encode("latin-1"), 400, "INVALID_REQUEST"),
    "one huge header": (GET + b"X: " + b"a" * 40_000, 431, "HEADERS_TOO_LARGE"),
    "many headers": (GET + b"".join(b"X-%d: 1\r\n" % n for n in range(2000)) + b"\r\n", 431, "HEADERS_TOO_LARGE"),
    "a long address": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "URI_TOO_LONG"),
    "a long query": (b"GET /livez?" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "URI_TOO_LONG"),
    "a body that says it is large": (POST + b"Content-Length: 1048577\r\n\r\n" + b"x" * 999, 413, "PAYLOAD_TOO_LARGE"),
    "a body without an end": (
        POST + b"Transfer-Encoding: chunked\r\n\r\n10000\r\n" + b"x" * 2**16 + b"\r\n100000\r\n" + b"x" * 2**20,
        413,
        "PAYLOAD_TOO_LARGE",
    ),
    "a body where none belongs": (
        b"PATCH /api/v1/schedules HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
        405,
        "METHOD_NOT_ALLOWED",
    ),
}  # fmt: skip


async def test_what_is_refused_is_told_in_a_problem_and_the_connection_ends(tmp_path: Path) -> None:
    async with serving(limits(), tmp_path) as connect:
        for name, (sent, status, code) in REFUSED.items():
            reader, writer = await connect()
            writer.write(sent)
            answer = await told(reader)
            assert (answer[0], answer[1]["code"]) == (status, code), name
            assert await ended(reader) == b"", name


async def test_a_head_of_sixteen_kib_is_read_and_upgrades_are_not_made(tmp_path: Path) -> None:
    async with serving(limits(), tmp_path) as connect:
        reader, writer = await connect()
        writer.write(GET + b"X: " + b"a" * 15_000 + b"\r\n\r\n")
        assert (await told(reader))[0] == 200
        writer.write(GET + b"Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n")
        assert (await told(reader))[0] == 200
        assert await ended(reader) == b""


async def test_half_a_head_is_408_and_silence_is_only_closed(tmp_path: Path, hurry: Callable[[float], None]) -> None:
    async with serving(limits(), tmp_path) as connect:
        slow, silent, trickling, quick = [await connect() for _ in range(4)]
        slow[1].write(GET)
        for byte in GET[:2]:
            trickling[1].write(bytes([byte]))
            quick[1].write(LIVE)
            assert (await told(quick[0]))[0] == 200, "by now the server has read what the others sent"
            hurry(LONG / 2 + 1)
        assert (await told(slow[0]))[1]["code"] == "REQUEST_TIMEOUT"
        assert (await told(trickling[0]))[0] == 408, "bytes that trickle in buy no time"
        assert await ended(slow[0]) == await ended(silent[0]) == b""


async def test_half_a_body_is_408_and_nothing_was_stored(tmp_path: Path) -> None:
    async with serving(limits(body_timeout=0.2), tmp_path) as connect:
        reader, writer = await connect()
        writer.write(POST + b"Content-Length: 20\r\n\r\n" + b'{"jobType": "x"')
        assert (await told(reader))[1]["code"] == "REQUEST_TIMEOUT"
        assert await ended(reader) == b""
        reader, writer = await connect()
        writer.write(b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await told(reader))[1]["items"] == []


async def test_an_idle_connection_is_closed_and_one_in_use_is_not(
    tmp_path: Path, hurry: Callable[[float], None]
) -> None:
    async with serving(limits(keep_alive_timeout=100), tmp_path) as connect:
        idle, used = await connect(), await connect()
        idle[1].write(LIVE)
        assert (await told(idle[0]))[0] == 200
        for _ in range(2):
            used[1].write(LIVE)
            assert (await told(used[0]))[0] == 200
            hurry(51)
        assert await ended(idle[0]) == b""
        used[1].write(LIVE)
        assert (await told(used[0]))[0] == 200, "it has outlived the idle one"
        hurry(101)
        assert await ended(used[0]) == b""


async def test_a_reader_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    sent, cut_off = 0, asyncio.Event()

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        nonlocal sent
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.create_task(_gone(receive))
        while not gone.done():
            await send({"type": "http.response.body", "body": b"x" * 2**16, "more_body": True})
            sent += 2**16
            await asyncio.sleep(0)
        cut_off.set()

    async def _gone(receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async with serving(limits(send_timeout=0.2), tmp_path, endless) as connect:
        _, writer = await connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(GET + b"\r\n")
        await asyncio.wait_for(cut_off.wait(), PATIENCE)
    assert sent < 2**26, "what nobody reads is not kept"


async def test_requests_sent_ahead_are_answered_in_order_and_few_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[int, int]] = []
    hold = Connection._hold

    def watched(self: Connection) -> None:
        hold(self)
        held.append((len(self.pipeline), len(self._unparsed)))

    monkeypatch.setattr(Connection, "_hold", watched)

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        body, more = scope["query_string"], True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        await asyncio.sleep(0)
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    count = 1000
    async with serving(limits(), tmp_path, echo) as connect:
        reader, writer = await connect()
        for number in range(count):
            writer.write(b"POST /?%d HTTP/1.1\r\nContent-Length: 3000\r\n\r\n" % number + b"y" * 3000)
            writer.write(b"GET / HTTP/1.1\r\n\r\n" * 5)
        for number in range(count):
            for expected in (b"%d" % number + b"y" * 3000, *[b""] * 5):
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                assert await reader.readexactly(length) == expected
        writer.write(LIVE + b"garbage\r\n\r\n")
        assert (await told(reader))[0] == 200, "what came before the garbage is answered"
        assert await ended(reader) == b""
    assert max(requests for requests, _ in held) < _PIECE / 18
    assert max(size for _, size in held) <= 2**18, "one read of the socket, while megabytes are there"


async def test_when_there_are_too_many_whoever_waits_longest_makes_room(tmp_path: Path) -> None:
    async with serving(limits(max_connections=8), tmp_path) as connect:
        silent = [await connect() for _ in range(8)]
        await asyncio.sleep(0)
        for _ in range(20):
            reader, writer = await connect()
            writer.write(LIVE)
            assert (await told(reader))[0] == 200
        assert await ended(silent[0][0]) == b""


async def test_when_all_are_at_work_a_few_more_may_ask_about_health(tmp_path: Path) -> None:
    release, at_work = asyncio.Event(), asyncio.Semaphore(0)

    async def held(scope: Any, receive: Any, send: Any) -> None:
        at_work.release()
        await release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async with serving(limits(max_connections=4), tmp_path, held) as connect:
        busy = [await connect() for _ in range(4)]
        for _, writer in busy:
            writer.write(GET + b"\r\n")
        for _ in busy:
            await asyncio.wait_for(at_work.acquire(), PATIENCE)
        reader, writer = await connect()
        writer.write(LIVE)
        assert (await told(reader))[0] == 200
        assert await ended(reader) == b""
        reader, writer = await connect()
        writer.write(GET + b"X-Request-ID: mine-7\r\n\r\n")
        status, document = await told(reader)
        assert (status, document["code"], document["requestId"]) == (503, "TOO_MANY_CONNECTIONS", "mine-7")
        more = [await connect() for _ in range(SPARE + 8)]
        for _, writer in more:
            writer.write(GET + b"\r\n")
        heard = [(await ended(reader))[:12] for reader, _ in more]
        assert set(heard) == {b"", b"HTTP/1.1 503"}, "and one that waits makes room there too"
        release.set()
        assert [(await told(reader))[0] for reader, _ in busy] == [200] * 4, "who was at work is not disturbed"


def test_no_more_connections_than_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    for had, wanted, given in [
        ((1024, 4096), 1000, 1000),
        ((1024, 1024), 1000, 792),
        ((2000, 4096), 1000, 1000),
        ((100, 100), 1000, 16),
        ((1024, resource.RLIM_INFINITY), 5000, 5000),
    ]:
        monkeypatch.setattr(resource, "getrlimit", lambda _, had=had: had)
        assert connections_for(wanted) == given
    assert asked == [(1232, 4096), (1024, 1024), (100, 100), (5232, resource.RLIM_INFINITY)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("slow")
    served = Served(folder, DULY_API_HEADER_TIMEOUT="15", DULY_API_BODY_TIMEOUT="15").ready()
    served.ask("/api/v1/schedules")
    yield served
    served.close()


def open_socket(served: Served) -> socket.socket:
    host, _, port = served.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def memory(served: Served) -> int:
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.processes
def test_h06_two_hundred_slow_heads_and_bodies_leave_health_alone(served: Served) -> None:
    before = memory(served)
    slow: list[socket.socket] = []
    for number in range(400):
        slow.append(open_socket(served))
        slow[-1].sendall(GET if number % 2 else POST + b"Content-Length: 900000\r\n\r\n" + b" " * 9000)
    assert served.ask("/livez").status == served.ask("/readyz").status == 200
    assert served.ask("/api/v1/schedules").status == 200
    slow[-1].setblocking(False)
    with pytest.raises(BlockingIOError):
        slow[-1].recv(1)  # we were answered while the server still waits for them, not after their time
    slow[-1].settimeout(PATIENCE)
    for one in slow:
        with closing(one):
            assert one.recv(64).startswith(b"HTTP/1.1 408")
    assert memory(served) - before < 50_000_000
    assert served.ask("/livez").status == 200


@pytest.mark.processes
def test_h17_fifty_thousand_requests_ahead_cost_no_memory(served: Served) -> None:
    before = memory(served)
    with closing(open_socket(served)) as one:
        one.setblocking(False)
        unsent = memoryview((GET + b"\r\n") * 50_000)
        give_up_at = time.monotonic() + 1
        while unsent and time.monotonic() < give_up_at:
            try:
                unsent = unsent[one.send(unsent) :]
            except BlockingIOError:
                served.let_pass(0.01)  # nobody reads the answers, so nobody reads the requests
        assert served.ask("/livez").status == served.ask("/readyz").status == 200
        assert memory(served) - before < 50_000_000
    assert served.ask("/api/v1/schedules").status == 200
