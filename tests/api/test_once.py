"""Idempotency-Key: asked again, a POST does nothing again and gets the first answer."""

import asyncio
from typing import Any

import httpx2
import pytest

from duly import Duly, Every
from duly.api.once import Once
from duly.api.operations import runs, schedules
from duly.api.replies import Refused, Reply
from duly.core.errors import StoreUnavailable
from duly.core.ids import is_uuid7
from tests.store_choice import postgres_too

BODY = {"name": "x", "cronExpression": "0 2 * * *", "jobType": "x"}
RUN = {"jobType": "x", "payload": {"a": 1}}


async def ask(api: httpx2.AsyncClient, path: str, body: Any, key: str = "k1") -> httpx2.Response:
    return await api.post(path, json=body, headers={"Idempotency-Key": key})


@pytest.mark.parametrize(("path", "body"), [("/schedules", BODY), ("/runs", RUN), ("/schedules/s/trigger", {})])
async def test_the_first_answer_is_given_again_byte_for_byte(
    api: httpx2.AsyncClient, app: Duly, path: str, body: Any
) -> None:
    await app.schedules.create("s", Every("1h"), job="x", overlap="allow")
    first = await ask(api, path, body)
    again = await ask(api, path, body)
    assert first.status_code in (201, 202)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    for name in ("location", "etag", "content-type"):
        assert again.headers.get(name) == first.headers.get(name)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert is_uuid7(first.json()["id"])
    assert len((await app.runs.list()).items) == (0 if path == "/schedules" else 1)
    assert len((await app.schedules.list()).items) == (2 if path == "/schedules" else 1)
    other = await ask(api, path, body, "k2")
    assert other.json()["id"] != first.json()["id"]


async def test_two_keys_are_refused_because_nobody_knows_which_is_meant(api: httpx2.AsyncClient) -> None:
    keys = [("Idempotency-Key", "mine"), ("Idempotency-Key", "the library's")]
    answer = await api.post("/runs", json=RUN, headers=keys)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_HEADER")
    assert answer.json()["detail"] == "Idempotency-Key is given twice; give it once"
    assert (await api.get("/runs")).json()["items"] == []


async def test_the_order_of_members_makes_no_other_request(api: httpx2.AsyncClient) -> None:
    first = await ask(api, "/runs", RUN)
    assert (await ask(api, "/runs", dict(reversed(RUN.items())))).content == first.content


async def test_another_request_with_the_same_key_is_refused(api: httpx2.AsyncClient) -> None:
    await ask(api, "/runs", RUN)
    for path, body in (("/runs", {**RUN, "payload": {"a": 2}}), ("/schedules", RUN)):
        answer = await ask(api, path, body)
        assert (answer.status_code, answer.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_a_refused_request_leaves_its_key_free(api: httpx2.AsyncClient) -> None:
    assert (await ask(api, "/schedules", {**BODY, "cronExpression": "x"})).status_code == 422
    assert (await ask(api, "/schedules", BODY)).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "\x01", "é"])
async def test_what_is_no_key_is_refused(api: httpx2.AsyncClient, key: str) -> None:
    answer = await api.post("/runs", json=RUN, headers=[(b"idempotency-key", key.encode("latin-1"))])
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_HEADER")


@pytest.mark.parametrize("path", ["/schedules", "/runs", "/schedules/s/trigger"])
@postgres_too("a transaction that fails")
async def test_it_happens_once_when_the_answer_could_not_be_kept(
    api: httpx2.AsyncClient, app: Duly, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash between the effect and its record."""

    async def lost(*_: object) -> None:
        raise StoreUnavailable("gone")

    await app.schedules.create("s", Every("1h"), job="x")
    body = {"/schedules": {**BODY, "key": "mine"}, "/runs": RUN}.get(path, {})
    with monkeypatch.context() as patch:
        patch.setattr(app.requests, "answered", lost)
        first = await ask(api, path, body)
    again = await ask(api, path, body)
    assert again.status_code == first.status_code in (201, 202)
    assert "idempotency-replayed" not in again.headers
    assert again.json()["id"] == first.json()["id"]
    assert len((await app.runs.list()).items) == (0 if path == "/schedules" else 1)


@postgres_too("two requests at once")
async def test_while_the_first_is_under_way_the_second_is_told_to_wait(app: Duly) -> None:
    once, reached, goes = Once(), asyncio.Event(), asyncio.Event()

    async def slow(id: str) -> Reply:
        reached.set()
        await goes.wait()
        return Reply({"id": id}, 202)

    first = asyncio.create_task(once(app.requests, b"k", "POST /runs", RUN, slow))
    await reached.wait()
    for body, code in ((RUN, "IDEMPOTENCY_KEY_IN_USE"), ({}, "IDEMPOTENCY_KEY_REUSED")):
        with pytest.raises(Refused) as refused:
            await once(app.requests, b"k", "POST /runs", body, slow)
        assert refused.value.problem["code"] == code
    goes.set()
    raw = (await first).raw
    assert (await once(app.requests, b"k", "POST /runs", RUN, slow)).raw == raw


async def test_the_operations_take_the_id_too(app: Duly) -> None:
    id = "019363a0-5c00-7d83-91f8-20a939dbcd79"
    for _ in range(2):
        assert (await schedules.create_schedule(app, {**BODY, "key": "a"}, id=id))["id"] == id
        assert (await runs.create_run(app, RUN, id=id))["id"] == id
