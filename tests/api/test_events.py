"""``GET /events``: what happens, once and in order, to whoever asked for it, and never more than fits."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from duly import Duly, Every
from duly.api import streaming
from duly.api.application import application
from duly.api.replies import Refused
from duly.app import feed
from duly.core.credential import Caller, Scope
from duly.core.errors import ValidationFailed
from duly.core.event import NAMES
from tests.api.streaming import PATIENCE, Listener, listening
from tests.store_choice import postgres_too


@pytest.fixture
def api(app: Duly) -> Any:
    return application(app)


@pytest.fixture
async def other(app: Duly) -> AsyncIterator[Duly]:
    """Another process on the same store."""
    other = Duly(app.url)
    await other.open()
    yield other
    await other.close()


async def make(app: Duly, *keys: str, **words: Any) -> None:
    for key in keys:
        await app.schedules.create(key, Every("1h"), job="work", **words)


async def keys(listener: Listener, count: int) -> list[str]:
    return [event["scheduleKey"] for event in await listener.events(count)]


async def test_an_event_is_told_as_it_happens(app: Duly, api: Any) -> None:
    async with listening(api) as listener:
        assert (listener.status, listener.headers["content-type"]) == (200, "text/event-stream")
        assert listener.headers["cache-control"] == "no-store"
        await make(app, "nightly", metadata={"owner_id": "ann", "tenant_id": "acme"})
        assert (await listener.until(b"\nevent: ")).startswith(b"id: ")
        event = await listener.event()
        schedule = await app.schedules.get("nightly")
        assert schedule is not None
        assert {**event, "id": "1", "at": ""} == {
            "id": "1",
            "type": "schedule.created",
            "at": "",
            "scheduleId": schedule.id,
            "scheduleKey": "nightly",
            "runId": None,
            "jobType": "work",
            "attemptNumber": None,
            "reason": None,
            "errorMessage": None,
            "ownerId": "ann",
            "tenantId": "acme",
        }


async def test_filters_leave_out_the_rest(app: Duly, api: Any) -> None:
    async with (
        listening(api, "type=schedule.paused,schedule.resumed") as by_type,
        listening(api, "scheduleId=b&type=schedule.paused") as by_key,
        listening(api, "jobType=other") as by_job,
        listening(api, "owner=ann") as by_owner,
        listening(api, "tenant=acme") as by_tenant,
    ):
        await make(app, "a")
        await make(app, "b", metadata={"owner_id": "ann"})
        await app.schedules.create("c", Every("1h"), job="other", metadata={"tenant_id": "acme"})
        for key in ("a", "b"):
            await app.schedules.pause(key, reason="r")
        assert [(e["scheduleKey"], e["reason"]) for e in await by_type.events(2)] == [("a", "r"), ("b", "r")]
        assert await keys(by_key, 1) == ["b"]
        assert await keys(by_job, 1) == await keys(by_tenant, 1) == ["c"]
        assert [event["type"] for event in await by_owner.events(2)] == ["schedule.created", "schedule.paused"]


async def test_who_is_no_admin_hears_of_their_own_only(app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from duly.api.auth.guard import Guard

    async def caller(*_: object) -> Caller:
        return Caller(name="k", scopes=frozenset({Scope.READ}), owner="ann", tenant="acme")

    monkeypatch.setattr(Guard, "caller", caller)
    async with listening(api) as hers, listening(api, "owner=bob") as his:
        monkeypatch.undo()
        await make(app, "x", metadata={"owner_id": "bob", "tenant_id": "acme"})
        await make(app, "y", metadata={"owner_id": "ann"})
        await make(app, "z", metadata={"owner_id": "ann", "tenant_id": "acme"})
        assert await keys(hers, 1) == ["z"]
        assert his.unread() == []


@postgres_too("a notification on another connection")
async def test_another_process_is_heard_and_two_listeners_hear_the_same(app: Duly, other: Duly, api: Any) -> None:
    async with listening(api) as one, listening(application(other)) as two:
        await make(app, "a")
        await make(other, "b", "c")
        await make(app, "d")
        first, second = await one.events(4), await two.events(4)
        assert first == second
        assert sorted(event["scheduleKey"] for event in first) == ["a", "b", "c", "d"]
        assert one.numbers == list(range(one.numbers[0], one.numbers[0] + len(one.numbers)))


@postgres_too("a notification on another connection")
async def test_who_comes_back_has_missed_nothing_and_hears_nothing_twice(app: Duly, other: Duly, api: Any) -> None:
    async with listening(api) as listener:
        await make(app, "a", "b")
        first = await listener.events(2)
    await make(other, "c", "d")
    for _ in range(2):
        async with listening(application(other), last_event_id=first[-1]["id"]) as again:
            assert sorted(await keys(again, 2)) == ["c", "d"]
    async with listening(api, "scheduleId=e", last_event_id=first[0]["id"]) as narrow:
        await make(app, "e")
        assert await keys(narrow, 1) == ["e"]


async def test_an_id_that_is_gone_or_of_another_store_is_answered_with_a_reset(app: Duly, api: Any) -> None:
    async with listening(api) as listener:
        await make(app, "a", "b")
        first, second = await listener.events(2)
        await app._store.purge_events(keep_ms=300_000, most=1, limit=10)
    app.events._feed._kept.clear()
    for given, reason in ((str(int(first["id"]) - 1), "too_old"), ("999999", "unknown")):
        async with listening(api, "scheduleId=none", last_event_id=given) as listener:
            told = await listener.event()
            assert (told["type"], told["reason"]) == ("stream.reset", reason)
            assert int(told["id"]) >= int(second["id"])


async def test_a_listener_that_does_not_read_costs_nothing_and_misses_nothing(
    app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PAGE", 5)
    monkeypatch.setattr(streaming, "SEND_WITHIN", 600)
    app.events._feed._kept = deque(maxlen=5)
    async with listening(api) as slow, listening(api) as quick:
        slow.pause()
        for n in range(30):
            await make(app, f"s{n}")
        assert await keys(quick, 30) == [f"s{n}" for n in range(30)]
        assert len(app.events._feed._kept) == 5
        slow.go_on()
        assert await keys(slow, 30) == [f"s{n}" for n in range(30)]


async def test_a_listener_that_is_too_far_behind_is_told_so(
    app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PAGE", 2)
    monkeypatch.setattr(streaming, "SEND_WITHIN", 600)
    app.events._feed._kept = deque(maxlen=2)
    async with listening(api) as slow, listening(api) as quick:
        slow.pause()
        await make(app, *(f"s{n}" for n in range(10)))
        await quick.events(10)
        await app._store.purge_events(keep_ms=300_000, most=2, limit=100)
        slow.go_on()
        heard = [await slow.event()]
        while heard[-1]["type"] != "stream.reset":
            heard.append(await slow.event())
        assert heard[-1]["reason"] == "too_old"
        await make(app, "after")
        assert await keys(slow, 1) == ["after"]


async def test_a_listener_that_never_reads_is_cut_off(app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "SEND_WITHIN", 0.01)
    async with listening(api) as listener:
        listener.pause()
        await make(app, "a")
        await asyncio.wait_for(listener.dropped.wait(), PATIENCE)
    assert not listener.over


async def test_silence_is_broken_by_a_heartbeat_that_carries_the_place(
    app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT", 0.05)
    async with listening(api, "scheduleId=none") as listener:
        await listener.until(b": nothing new\nid: ")
        first = int(await listener.until(b"\n\n"))
        await make(app, "a")
        async with asyncio.timeout(PATIENCE):
            while True:
                await listener.until(b": nothing new\nid: ")
                if int(await listener.until(b"\n\n")) > first:
                    break


async def test_the_server_ends_a_stream_when_it_stops(app: Duly, api: Any) -> None:
    async with listening(api) as listener:
        listener.leave()
        await listener.until(b": the stream ends\n\n")
        assert listener.over


async def test_a_stream_ends_with_its_app_and_in_good_order(app: Duly, api: Any) -> None:
    async with listening(api) as listener:
        await app.close()
        await listener.until(b"come back with Last-Event-ID\n\n: the stream ends\n\n")
        assert listener.over
    await app.open()


async def test_a_stream_ends_in_time_so_that_its_client_shows_its_key_again(
    app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "LONGEST", 0.01)
    monkeypatch.setattr(streaming, "HEARTBEAT", 0.02)
    async with listening(api) as listener:
        await listener.until(b": the stream ends\n\n")
        assert listener.over


async def test_h18_of_five_hundred_streams_that_nobody_reads_most_are_refused(
    app: Duly, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "SEND_WITHIN", 600)  # none is cut off before the last one has asked
    async with AsyncExitStack() as stack:
        for _ in range(streaming.MOST):
            (await stack.enter_async_context(listening(api))).pause()
        await make(app, "a")
        refused = [Listener() for _ in range(500 - streaming.MOST)]
        await asyncio.gather(*(api(scope_of(), one.receive, one.send) for one in refused))
        assert {one.status for one in refused} == {429}
        assert refused[0].headers["retry-after"] == str(streaming.RETRY_AFTER)
        assert (await refused[0].body())["type"] == "urn:duly:problem:rate-limited"


async def test_there_are_only_so_many_streams(app: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming.Streams.__init__, "__defaults__", (2, 1))
    api: Any = application(app)
    async with listening(api), listening(api):
        refused = Listener()
        await api(scope_of(), refused.receive, refused.send)
        assert (refused.status, (await refused.body())["code"]) == (429, "TOO_MANY_STREAMS")
    with streams(api).place("key"), pytest.raises(Refused), streams(api).place("key"):
        pass
    async with listening(api):
        pass


async def test_head_is_answered_and_bad_words_are_refused(app: Duly, api: Any) -> None:
    head = Listener()
    await api({**scope_of(), "method": "HEAD"}, head.receive, head.send)
    assert (head.status, head.over) == (200, True)
    for query, header, status in (
        ("type=run.exploded", None, 422),
        ("type=", None, 422),
        ("since=1", None, 422),
        ("", "abc", 400),
        ("", "-1", 400),
        ("", "9" * 40, 400),
    ):
        refused = Listener()
        await api(scope_of(query, header), refused.receive, refused.send)
        assert refused.status == status, query
    assert "expected some of " + ", ".join(NAMES) in (await refused_detail(api, "type=x"))


@postgres_too("a notification on another connection")
async def test_an_app_hears_the_fleet_too(app: Duly, other: Duly) -> None:
    heard: list[tuple[str, str | None]] = []

    async def listen() -> None:
        async for event in app.events.subscribe("schedule.created", after=0):
            heard.append((event.name, event.schedule_key))
            if len(heard) == 3:
                return

    await app._store.watch_events(lease_ms=60_000)
    await make(other, "a")
    task = asyncio.create_task(listen())
    await make(app, "b")
    await make(other, "c")
    await asyncio.wait_for(task, PATIENCE)
    assert heard == [("schedule.created", "a"), ("schedule.created", "b"), ("schedule.created", "c")]
    with pytest.raises(ValidationFailed, match=r"run\.exploded"):
        await anext(app.events.subscribe("run.exploded"))


async def test_nobody_listens_and_nothing_is_written(app: Duly, api: Any) -> None:
    await make(app, "a")
    read = await app._store.read_events(after=0, limit=10)
    assert (read.last, read.waiting) == (0, False)


async def refused_detail(api: Any, query: str) -> str:
    refused = Listener()
    await api(scope_of(query), refused.receive, refused.send)
    errors = (await refused.body())["errors"]
    return str(errors[0]["detail"])


def streams(api: Any) -> streaming.Streams:
    (endpoint,) = [route.endpoint for route in api.routes if getattr(route, "path", "") == "/api/v1/events"]
    found: streaming.Streams = endpoint._streams
    return found


def scope_of(query: str = "", last_event_id: str | None = None) -> dict[str, Any]:
    headers = [] if last_event_id is None else [(b"last-event-id", last_event_id.encode())]
    return {
        "type": "http",
        "method": "GET",
        "path": "/api/v1/events",
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1),
    }
