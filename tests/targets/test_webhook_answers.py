"""``expect: ack`` on a webhook: 2xx only says that it came; the run ends by the receiver's word, or by its timeout."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from duly import Duly, Retry, RunStatus, Settings
from duly.api.application import application
from duly.client import AsyncClient
from duly.core.errors import LeaseLost
from tests.app.conftest import until
from tests.targets.conftest import SELDOM
from tests.targets.receiving import Came, Receiver

AT_ONCE = Retry(max_attempts=2, backoff="fixed", delay=0, jitter=0)
SETTINGS = Settings(webhook_allow=("127.0.0.1",), poll=0.05, heartbeat=0.5, lease=60)


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.stop()


@pytest_asyncio.fixture
async def app(tmp_path: Path, receiver: Receiver) -> AsyncIterator[Duly]:
    async with Duly(f"sqlite:///{tmp_path}/x.db", settings=SETTINGS) as app:
        yield app


@pytest_asyncio.fixture
async def client(app: Duly) -> AsyncIterator[AsyncClient]:
    transport = httpx2.ASGITransport(app=application(app))
    async with AsyncClient("http://localhost", transport=transport) as client:
        yield client


async def trigger(app: Duly, receiver: Receiver, **options: Any) -> str:
    words: dict[str, Any] = {"retry": AT_ONCE, "payload": {"n": 1}, **options}
    target = {"kind": "webhook", "url": receiver.url, "expect": "ack"}
    await app.schedules.create("hook", SELDOM, target=target, **words)
    return (await app.schedules.trigger("hook")).id


async def awaited(app: Duly, id: str) -> None:
    """Wait until the run has been delivered, and only its answer is missing."""

    async def dispatched() -> bool:
        run = await app.runs.get(id)
        return run is not None and run.status is RunStatus.DISPATCHED

    await until(dispatched)


def fence_of(came: Came) -> int:
    fence = json.loads(came.body)["fence"]
    assert came.headers["duly-fence"] == str(fence)
    return int(fence)


async def test_the_receiver_says_that_it_began_and_what_came_of_it(
    app: Duly, receiver: Receiver, client: AsyncClient
) -> None:
    id = await trigger(app, receiver)
    [came] = await receiver.until(1)
    await awaited(app, id)
    assert await client.runs.started(id, fence_of(came)) == {"runId": id, "status": "dispatched"}
    for _ in range(2):
        assert (await client.runs.completed(id, fence_of(came), {"sent": 3}))["status"] == "completed"
    assert (await client.runs.get(id))["result"] == {"sent": 3}
    assert len(receiver.came) == 1


async def test_an_answer_that_comes_before_the_delivery_is_written_down_counts(
    app: Duly, receiver: Receiver, client: AsyncClient
) -> None:
    """The receiver answers the run first, and the POST afterwards."""
    answered: list[asyncio.Task[Any]] = []

    def say(came: Came) -> bytes:
        answered.append(asyncio.ensure_future(client.runs.completed(came.id, fence_of(came))))
        return b"HTTP/1.1 202 x\r\ncontent-length: 0\r\n\r\n"

    receiver.say = say
    id = await trigger(app, receiver)
    assert (await app.runs.wait(id, timeout=30)).status is RunStatus.COMPLETED
    assert (await answered[0])["status"] == "completed"


async def test_a_failure_is_posted_again_under_a_new_fence_and_the_old_one_is_stale(
    app: Duly, receiver: Receiver, client: AsyncClient
) -> None:
    id = await trigger(app, receiver)
    [first] = await receiver.until(1)
    await awaited(app, id)
    await client.runs.failed(id, fence_of(first), "smtp is down")
    [_, second] = await receiver.until(2)
    await awaited(app, id)
    assert (first.id, second.id, fence_of(second)) == (id, id, fence_of(first) + 1)
    with pytest.raises(LeaseLost):
        await client.runs.completed(id, fence_of(first))
    assert (await client.runs.failed(id, fence_of(second), "still down"))["status"] == "failed"
    assert [one["id"] for one in (await client.runs.dead())["items"]] == [id]


async def test_a_fatal_failure_is_not_posted_again(app: Duly, receiver: Receiver, client: AsyncClient) -> None:
    id = await trigger(app, receiver)
    [came] = await receiver.until(1)
    await awaited(app, id)
    assert (await client.runs.failed(id, fence_of(came), "no such user", fatal=True))["status"] == "failed"
    assert len(receiver.came) == 1


async def test_silence_is_a_failure_by_the_timeout_and_is_tried_again(app: Duly, receiver: Receiver) -> None:
    id = await trigger(app, receiver, timeout=1)
    ended = await app.runs.wait(id, timeout=30)
    assert (ended.status, ended.reason, ended.attempt) == (RunStatus.FAILED, "timeout", 2)
    assert {one.id for one in receiver.came} == {id}


async def test_a_window_that_comes_while_the_answer_is_awaited_overlaps(
    app: Duly, receiver: Receiver, client: AsyncClient
) -> None:
    """As with a job of one's own: one run is open, so the next waits in line and goes when it is answered."""
    first = await trigger(app, receiver, overlap="queue", max_queued=5)
    [came] = await receiver.until(1)
    await awaited(app, first)
    second = (await app.schedules.trigger("hook")).id
    run = await app.runs.get(second)
    assert run is not None
    assert run.status is RunStatus.PENDING
    await client.runs.completed(first, fence_of(came))
    [_, later] = await receiver.until(2)
    assert later.id == second
