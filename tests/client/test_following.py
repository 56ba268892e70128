"""The stream as a client follows it: over breaks and refusals, without a loss or a double."""

import asyncio
import threading
from typing import Any

import pytest

from duly import Duly, Every
from duly.client import AsyncClient, Client
from duly.client.calls import Failure, Reply
from duly.client.following import Following
from duly.core.errors import ServerUnreachable, StoreUnavailable, ValidationFailed

BROKEN = Failure("reset by peer", sent=True)
PATIENCE = 60


def following(**words: Any) -> Following:
    return Following({}, words.pop("after", None), "http://x", words.pop("tries", 3))


def test_lines_become_events_and_the_place_moves_on() -> None:
    stream = following()
    assert "Last-Event-ID" not in stream.call.headers
    assert stream.take("retry: 500") is None
    for line in ("id: 7", "event: run.started", 'data: {"id": "7",', 'data: "type": "run.started"}'):
        assert stream.take(line) is None
    assert stream.take("") == {"id": "7", "type": "run.started"}
    assert stream.call.headers["Last-Event-ID"] == "7"
    for line in (": nothing new", "id: 9", ""):
        assert stream.take(line) is None
    assert stream.call.headers["Last-Event-ID"] == "9"
    assert stream.ended() == 0.5


def test_half_an_event_is_forgotten_when_the_connection_breaks() -> None:
    stream = following(after=4)
    for line in ("id: 5", 'data: {"id": "5"}', "", "event: x", 'data: {"id"'):
        stream.take(line)
    assert stream.failed(BROKEN) >= 2
    assert stream.call.headers["Last-Event-ID"] == "5"
    assert stream.take('data: {"id": "6"}') is None
    assert stream.take("") == {"id": "6"}


def test_who_never_got_through_gives_up_and_who_did_comes_back_for_ever() -> None:
    stream = following(tries=2)
    assert stream.failed(BROKEN) < 1
    with pytest.raises(ServerUnreachable):
        stream.failed(BROKEN)
    stream = following(tries=2)
    stream.take("retry: 100")
    waits = [stream.failed(BROKEN) for _ in range(20)]
    assert waits == sorted(waits)
    assert waits[-1] <= 30


def test_a_refusal_is_raised_and_a_busy_server_is_asked_again() -> None:
    refusal = Reply(422, {}, b'{"code": "VALIDATION_FAILED", "detail": "no"}')
    with pytest.raises(ValidationFailed):
        following().failed(refusal)
    busy = Reply(503, {"retry-after": "1"}, b'{"code": "STORE_UNAVAILABLE", "detail": "later"}')
    stream = following()
    assert stream.failed(busy) >= 1
    stream.failed(busy)
    with pytest.raises(StoreUnavailable):
        stream.failed(busy)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_both_clients_hear_what_happens(server_url: str, tmp_path: Any, kind: str) -> None:
    heard: list[dict[str, Any]] = []
    begun = threading.Event()

    def listen() -> None:
        with Client(server_url) as client:
            for event in client.events("schedule.created", "schedule.deleted", after=0):
                heard.append(event)
                begun.set()
                if event["type"] == "schedule.deleted":
                    return

    async def listen_async() -> None:
        async with AsyncClient(server_url) as client:
            async for event in client.events("schedule.created", "schedule.deleted", after=0):
                heard.append(event)
                begun.set()
                if event["type"] == "schedule.deleted":
                    return

    thread = threading.Thread(target=listen if kind == "sync" else lambda: asyncio.run(listen_async()))
    app = Duly(f"sqlite:///{tmp_path / 'served.db'}")

    async def watch() -> None:
        await app.open()
        await app._store.watch_events(lease_ms=60_000)
        await app.schedules.create("a", Every("1h"), job="x")
        await app.close()

    asyncio.run(watch())
    thread.start()
    assert begun.wait(PATIENCE)
    with Client(server_url) as other:
        other.schedules.delete("a")
    thread.join(PATIENCE)
    assert [(event["type"], event["scheduleKey"]) for event in heard if event["type"] != "stream.reset"] == [
        ("schedule.created", "a"),
        ("schedule.deleted", "a"),
    ]


def test_a_filter_that_is_refused_is_raised(server_url: str) -> None:
    with Client(server_url) as client, pytest.raises(ValidationFailed, match=r"run\.exploded"):
        next(iter(client.events("run.exploded")))
