"""``expect: ack``: a run ends when its receiver says so, over REST, with the fence that came with the message."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from duly import Duly, Retry, Settings
from duly.api.application import application
from tests.acceptance.rules import rule
from tests.api.conftest import client_of, sqlite_url
from tests.app.conftest import until
from tests.targets.conftest import SELDOM
from tests.targets.memory import Memory

ASK = {"kind": "queue", "name": "mail", "expect": "ack"}
SETTINGS = Settings(lease=60, heartbeat=0.5, poll=0.05, shutdown_timeout=2)
AT_ONCE = Retry(max_attempts=2, backoff="fixed", delay=0, jitter=0)


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
async def app(tmp_path: Path, memory: Memory) -> AsyncIterator[Duly]:
    app = Duly(sqlite_url(tmp_path), settings=SETTINGS, targets={"mail": memory.make()})
    async with app:
        await app.schedules.create("k", SELDOM, target=ASK, retry=AT_ONCE, payload={"n": 1})
        yield app


@pytest.fixture
async def api(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(application(app), "http://localhost/api/v1") as client:
        yield client


async def _delivered(app: Duly, memory: Memory) -> tuple[str, int]:
    """The id and the fence of the newest message, once its run awaits the answer."""
    sent = len(memory.messages)
    run = await app.schedules.trigger("k")
    await until(lambda: len(memory.messages) > sent)

    async def dispatched() -> bool:
        found = await app.runs.get(run.id)
        return found is not None and found.status == "dispatched"

    await until(dispatched)
    event = json.loads(memory.messages[-1].body)
    assert (event["id"], event["fence"]) == (run.id, 1)
    return run.id, event["fence"]


@rule("S4.40")
async def test_a_receiver_tells_that_it_began_and_what_came_of_it(
    app: Duly, api: httpx2.AsyncClient, memory: Memory
) -> None:
    id, fence = await _delivered(app, memory)
    begun = await api.post(f"/runs/{id}/started", json={"fence": fence})
    assert (begun.status_code, begun.json()) == (200, {"runId": id, "status": "dispatched"})
    for _ in range(2):
        done = await api.post(f"/runs/{id}/completed", json={"fence": fence, "result": {"sent": 3}})
        assert (done.status_code, done.json()) == (200, {"runId": id, "status": "completed"})
    assert (await api.get(f"/runs/{id}")).json()["result"] == {"sent": 3}
    late = await api.post(f"/runs/{id}/failed", json={"fence": fence, "error": "no"})
    assert (late.status_code, late.json()["code"]) == (409, "LEASE_LOST")


async def test_a_failure_is_delivered_again_and_the_old_fence_is_stale(
    app: Duly, api: httpx2.AsyncClient, memory: Memory
) -> None:
    id, fence = await _delivered(app, memory)
    failed = await api.post(f"/runs/{id}/failed", json={"fence": fence, "error": "smtp is down"})
    assert failed.status_code == 200
    await until(lambda: len(memory.messages) == 2)
    again = json.loads(memory.messages[1].body)
    assert (again["id"], again["fence"], again["data"]["attempt"]) == (id, 2, 2)
    stale = await api.post(f"/runs/{id}/completed", json={"fence": fence})
    assert (stale.status_code, stale.json()["code"], stale.json()["runId"]) == (409, "LEASE_LOST", id)
    dead = await api.post(f"/runs/{id}/failed", json={"fence": 2, "error": "smtp is down"})
    assert dead.json() == {"runId": id, "status": "failed"}
    assert [one["id"] for one in (await api.get("/dead-letters")).json()["items"]] == [id]


async def test_a_fatal_failure_is_not_delivered_again(app: Duly, api: httpx2.AsyncClient, memory: Memory) -> None:
    id, fence = await _delivered(app, memory)
    answer = await api.post(f"/runs/{id}/failed", json={"fence": fence, "error": "no such user", "fatal": True})
    assert answer.json()["status"] == "failed"
    assert len(memory.messages) == 1


@pytest.mark.parametrize(
    "verb, body, status",
    [
        ("completed", {}, 422),
        ("completed", {"fence": 0}, 422),
        ("completed", {"fence": "1"}, 422),
        ("completed", {"fence": 1, "more": 1}, 422),
        ("failed", {"fence": 1}, 422),
        ("failed", {"fence": 1, "error": ""}, 422),
        ("started", {"fence": 99}, 409),
        ("completed", {"fence": 2**63 - 1}, 409),
    ],
)
async def test_what_cannot_be_taken_changes_nothing(
    app: Duly, api: httpx2.AsyncClient, memory: Memory, verb: str, body: dict, status: int
) -> None:
    id, _ = await _delivered(app, memory)
    assert (await api.post(f"/runs/{id}/{verb}", json=body)).status_code == status
    assert (await api.get(f"/runs/{id}")).json()["status"] == "dispatched"
    assert (await api.post(f"/runs/019cc9a0-0000-7000-8000-000000000001/{verb}", json=body)).status_code in (404, 422)


async def test_a_receiver_that_never_answers_is_found_by_its_timeout(
    app: Duly, api: httpx2.AsyncClient, memory: Memory
) -> None:
    await app.schedules.update("k", timeout=3, retry=Retry(max_attempts=1))
    run = await app.schedules.trigger("k")
    ended = await app.runs.wait(run.id, timeout=30)
    assert (ended.status, ended.reason) == ("failed", "timeout")
    assert "did not answer within the timeout" in str(ended.error_message)
