"""Runs over HTTP, with a worker in the same process."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from duly import Duly, Every, Fatal, RunContext
from duly.api.answers import run_answer
from duly.api.application import application
from duly.core.errors import PayloadUnreadable
from tests.acceptance.rules import rule
from tests.api.conftest import client_of
from tests.app.conftest import QUICK, until

UNKNOWN = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
async def app(url: str) -> AsyncIterator[Duly]:
    app = Duly(url, settings=QUICK)

    @app.job("echo")
    async def echo(payload: object) -> object:
        return payload

    @app.job("boom")
    async def boom() -> None:
        raise Fatal("no use")

    @app.job("shaky")
    async def shaky() -> None:
        raise OSError("refused")

    @app.job("slow")
    async def slow(run: RunContext) -> None:
        await run.wait_cancelled()

    @app.job("typed")
    async def typed(user: int) -> int:
        return user

    async with app:
        yield app


@pytest.fixture
async def api(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(application(app), "http://localhost/api/v1") as client:
        yield client


async def test_a_run_is_stored_runs_and_is_found(api: httpx2.AsyncClient, app: Duly) -> None:
    answer = await api.post("/runs", json={"jobType": "echo", "payload": {"user": 42}, "priority": 5, "maxAttempts": 2})
    run = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (202, f"/api/v1/runs/{run['id']}")
    assert (run["kind"], run["scheduleId"], run["windowKey"], run["maxAttempts"]) == ("direct", None, None, 2)
    await app.runs.wait(run["id"], timeout=20)
    done = (await api.get(f"/runs/{run['id']}")).json()
    assert (done["status"], done["result"], done["payload"]) == ("completed", {"user": 42}, {"user": 42})
    assert done["durationMs"] >= 0
    assert datetime.fromisoformat(done["startedAt"]) <= datetime.fromisoformat(done["completedAt"])
    assert (done["attemptNumber"], done["priority"], done["instance"] is None) == (1, 5, False)


async def test_lists_narrow_and_leave_payloads_out(api: httpx2.AsyncClient, app: Duly) -> None:
    for job in ("echo", "boom"):
        await app.runs.wait((await api.post("/runs", json={"jobType": job})).json()["id"], timeout=20)
    both = (await api.get("/runs")).json()["items"]
    assert {item["jobType"] for item in both} == {"echo", "boom"}
    assert all("payload" not in item for item in both)
    assert {item["jobType"]: item["result"] for item in both} == {"echo": {}, "boom": None}
    (failed,) = (await api.get("/runs", params={"status": "failed"})).json()["items"]
    assert (failed["jobType"], failed["errorMessage"], failed["reason"]) == ("boom", "Fatal: no use", "fatal")
    (echo,) = (await api.get("/runs", params={"jobType": "echo"})).json()["items"]
    assert echo["status"] == "completed"
    assert (await api.get("/runs", params={"scheduleId": "no-such-key"})).json()["items"] == []
    assert (await api.get("/runs", params={"scheduleId": UNKNOWN})).json()["items"] == []


async def test_a_later_run_waits_and_can_be_cancelled(api: httpx2.AsyncClient) -> None:
    run = (await api.post("/runs", json={"jobType": "echo", "runAt": "2099-01-01T00:00:00+01:00"})).json()
    assert (run["scheduledAt"], run["status"]) == ("2098-12-31T23:00:00Z", "pending")
    for _ in range(2):
        cancelled = await api.post(f"/runs/{run['id']}/cancel")
        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")


async def test_a_running_one_is_told_to_stop(api: httpx2.AsyncClient, app: Duly) -> None:
    run = (await api.post("/runs", json={"jobType": "slow"})).json()

    async def running() -> bool:
        return bool((await api.get(f"/runs/{run['id']}")).json()["status"] == "running")

    await until(running)
    assert (await api.post(f"/runs/{run['id']}/cancel")).json()["cancelRequested"] is True
    assert (await app.runs.wait(run["id"], timeout=20)).status == "cancelled"


async def test_a_payload_that_the_job_cannot_take_is_refused(api: httpx2.AsyncClient) -> None:
    answer = await api.post("/runs", json={"jobType": "typed", "payload": {"user": "x"}})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/payload")
    body = {"name": "x", "everyMs": 60_000, "jobType": "typed", "jobPayload": {"user": "x"}}
    answer = await api.post("/schedules", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/jobPayload")


@rule("S2.15", "S2.17", "S2.18", "S3.22", "S4.32")
async def test_what_came_of_the_newest_window_is_told(api: httpx2.AsyncClient) -> None:
    body = {"key": "k", "onceAt": "2000-01-01T00:00:00Z", "onPast": "fire", "jobType": "boom"}
    assert (await api.post("/schedules", json=body)).status_code == 201

    async def failed() -> bool:
        return bool((await api.get("/schedules/k")).json()["status"] == "failed")

    await until(failed)
    shown = (await api.get("/schedules/k")).json()
    assert (shown["attempts"], shown["lastError"]) == (1, "Fatal: no use")
    assert datetime.fromisoformat(shown["firedAt"]) >= datetime.fromisoformat(shown["lastFiredAt"])
    (run,) = (await api.get("/schedules/k/executions", params={"status": "failed"})).json()["items"]
    assert run["windowKey"] == "sched:k:946684800000"
    assert (await api.get("/runs/sched:k:946684800000")).json()["id"] == run["id"]


async def test_a_client_that_leaves_does_no_harm(app: Duly) -> None:
    served = application(app)
    body = b'{"jobType": "echo"}'
    scope = {
        "type": "http", "method": "POST", "path": "/api/v1/runs", "query_string": b"", "root_path": "",
        "client": ("127.0.0.1", 1),
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
    }  # fmt: skip
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    parts = iter([{"type": "http.request", "body": body[:5], "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> object:
        return next(parts)

    await served(dict(scope), receive, send)  # type: ignore[arg-type]
    assert sent == []
    assert (await app.runs.list()).items == []

    async def whole() -> object:
        return {"type": "http.request", "body": body, "more_body": False}

    async def broken(message: object) -> None:
        raise OSError("the socket is gone")

    with pytest.raises(OSError, match="the socket is gone"):
        await served(dict(scope), whole, broken)  # type: ignore[arg-type]
    (run,) = (await app.runs.list()).items
    assert (await app.runs.wait(run.id, timeout=20)).status == "completed"
    await asyncio.wait_for(app.runs.get(run.id), 20)


async def test_runs_wait_for_a_singleton_key_and_one_too_many_is_refused(api: httpx2.AsyncClient) -> None:
    body = {"jobType": "import", "singleton": "warehouse-7", "maxRunning": 1, "maxQueued": 1}
    assert [(await api.post("/runs", json=body)).status_code for _ in range(2)] == [202, 202]
    answer = await api.post("/runs", json=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "SINGLETON_QUEUE_FULL")
    assert "maxQueued" in answer.json()["detail"]
    assert len((await api.get("/runs")).json()["items"]) == 2


async def test_a_unique_key_answers_the_run_that_has_it_or_refuses(api: httpx2.AsyncClient) -> None:
    body = {"jobType": "digest", "unique": "digest-42", "uniqueFor": "24h"}
    first = (await api.post("/runs", json=body)).json()
    again = await api.post("/runs", json=body | {"payload": {"other": True}, "uniqueFor": 3.5})
    assert (again.status_code, again.json()) == (202, first)
    refused = await api.post("/runs", json=body | {"onConflict": "refuse"})
    assert refused.status_code == 409
    assert (refused.json()["code"], refused.json()["existingId"]) == ("UNIQUE_KEY_IN_USE", first["id"])


@pytest.mark.parametrize(
    ("words", "pointer"),
    [
        ({"singleton": ""}, "/singleton"),
        ({"singleton": "k", "maxRunning": 0}, "/maxRunning"),
        ({"singleton": "k", "maxQueued": "3"}, "/maxQueued"),
        ({"singleton": "k", "runAt": "2099-01-01T00:00:00Z"}, "/runAt"),
        ({"maxQueued": 3}, "/maxQueued"),
        ({"unique": "k", "uniqueFor": "soon"}, "/uniqueFor"),
        ({"unique": "k", "uniqueFor": -1}, "/uniqueFor"),
        ({"unique": "k", "onConflict": "ignore"}, "/onConflict"),
        ({"onConflict": "refuse"}, "/onConflict"),
    ],
)
async def test_a_bad_key_is_refused_by_pointer(api: httpx2.AsyncClient, words: dict[str, Any], pointer: str) -> None:
    answer = await api.post("/runs", json={"jobType": "digest", **words})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert (await api.get("/runs")).json()["items"] == []


async def test_a_result_that_cannot_be_read_leaves_the_rest_of_a_list_alone(app: Duly) -> None:
    run = replace(await app.enqueue("echo"), result_json="$duly1$lost$AAAA$run")
    assert run_answer(run, whole=False)["result"] is None
    with pytest.raises(PayloadUnreadable):
        run_answer(run)


async def test_a_schedule_tells_what_went_wrong_while_its_run_is_tried_again(api: httpx2.AsyncClient) -> None:
    slow = {"delaySeconds": 600, "maxDelaySeconds": 600}
    body = {"name": "n", "key": "again", "onceAt": "2020-01-01T00:00:00Z", "onPast": "fire", "jobType": "shaky"}
    await api.post("/schedules", json=body | {"retryPolicy": slow})

    async def failed_once() -> bool:
        return bool((await api.get("/schedules/again")).json()["lastError"])

    await until(failed_once)
    schedule = (await api.get("/schedules/again")).json()
    assert (schedule["status"], schedule["attempts"], schedule["lastError"]) == ("active", 1, "OSError: refused")
    (run,) = (await api.get("/schedules/again/executions")).json()["items"]
    assert (run["status"], run["attemptNumber"], run["errorMessage"]) == ("pending", 2, "OSError: refused")


async def test_runs_are_listed_newest_first_whatever_their_ids(api: httpx2.AsyncClient, app: Duly) -> None:
    schedule = await app.schedules.create("often", Every("1h"), job="absent", overlap="allow")
    now = datetime.now(UTC)
    runs = []
    for n in range(6):
        own = (None, f"fe{n:06x}-0000-4000-8000-000000000000", f"{n:08x}-0000-4000-8000-000000000000")[n % 3]
        runs.append((await app.enqueue("absent", id=own, run_at=now + timedelta(minutes=5 * n))).id)
    triggered = [(await app.schedules.trigger("often", id=own)).id for own in (f"{UNKNOWN[:-1]}{n}" for n in range(3))]

    async def listed(path: str) -> list[str]:
        found, cursor = [], ""
        while True:
            answer = await api.get(f"{path}limit=2{cursor}")
            assert answer.status_code == 200, answer.text
            found += [run["id"] for run in answer.json()["items"]]
            if answer.json()["nextCursor"] is None:
                return found
            cursor = f"&cursor={answer.json()['nextCursor']}"

    assert (await listed("/runs?"))[:5] == runs[:0:-1]
    assert set(await listed("/runs?")) == {*runs, *triggered}
    of_schedule = await listed("/schedules/often/executions?")
    assert set(of_schedule) == set(triggered)
    assert of_schedule == await listed(f"/runs?scheduleId={schedule.id}&")
    shown = [(await app.runs.get(id)).scheduled_at for id in of_schedule]  # type: ignore[union-attr]
    assert shown == sorted(shown, reverse=True)
    refused = await api.get(f"/runs?cursor=x.{UNKNOWN}")
    assert (refused.status_code, refused.json()["code"]) == (422, "VALIDATION_FAILED")
