"""Queues over HTTP."""

from typing import Any

import httpx2
import pytest

from duly import Duly

LIMITS = {"maxRunning": 5, "rateLimit": {"limit": 100, "periodMs": 60_000}, "fair": True, "newestFirst": True}
NO_LIMITS = {"maxRunning": None, "rateLimit": None, "fair": False, "newestFirst": False}


def limits(queue: dict[str, Any]) -> dict[str, Any]:
    return {name: queue[name] for name in LIMITS}


async def test_a_queue_is_limited_and_listed(api: httpx2.AsyncClient, app: Duly) -> None:
    assert (await api.get("/queues")).json() == {"items": [], "nextCursor": None}
    answer = await api.put("/queues/mail", json=LIMITS)
    assert (answer.status_code, limits(answer.json())) == (200, LIMITS)
    await app.enqueue("send", queue="other")
    mail, other = (await api.get("/queues")).json()["items"]
    assert mail == answer.json() == (await api.get("/queues/mail")).json()
    assert (other["name"], limits(other), other["waiting"]) == ("other", NO_LIMITS, 1)


async def test_put_replaces_and_patch_merges(api: httpx2.AsyncClient) -> None:
    await api.put("/queues/mail", json=LIMITS)
    merged = (await api.patch("/queues/mail", json={"maxRunning": 7, "fair": False})).json()
    assert limits(merged) == LIMITS | {"maxRunning": 7, "fair": False}
    assert limits((await api.patch("/queues/mail", json={"rateLimit": None})).json())["rateLimit"] is None
    assert limits((await api.put("/queues/mail", json={"maxRunning": 1})).json()) == NO_LIMITS | {"maxRunning": 1}


async def test_a_queue_is_paused_with_a_reason_and_resumed(api: httpx2.AsyncClient) -> None:
    paused = (await api.post("/queues/mail/pause", json={"reason": "the provider is down"})).json()
    assert (paused["paused"], paused["pausedReason"], paused["pausedAt"] is None) == (
        True, "the provider is down", False,
    )  # fmt: skip
    assert (await api.put("/queues/mail", json={"maxRunning": 3})).json()["paused"], "a pause outlives a PUT"
    resumed = (await api.post("/queues/mail/resume")).json()
    assert (resumed["paused"], resumed["pausedAt"], resumed["pausedReason"]) == (False, None, None)
    assert (await api.post("/queues/mail/pause")).json()["pausedReason"] is None


async def test_a_name_that_nobody_set_up_is_a_queue_without_limits(api: httpx2.AsyncClient) -> None:
    answer = await api.get("/queues/no%20such%20queue")
    assert (answer.status_code, answer.json()["name"], limits(answer.json())) == (200, "no such queue", NO_LIMITS)


@pytest.mark.parametrize(
    ("method", "path", "body", "pointer"),
    [
        ("PUT", "/queues/mail", {"maxRunning": 0}, "/maxRunning"),
        ("PUT", "/queues/mail", {"rateLimit": {"limit": 0}}, "/rateLimit/limit"),
        ("PUT", "/queues/mail", {"rateLimit": {"limit": 1, "periodMs": 0}}, "/rateLimit/periodMs"),
        ("PUT", "/queues/mail", {"rateLimit": {"periodMs": 5}}, "/rateLimit/limit"),
        ("PATCH", "/queues/mail", {"fair": "yes"}, "/fair"),
        ("PATCH", "/queues/mail", {"concurrency": 3}, "/concurrency"),
        ("POST", "/queues/mail/pause", {"until": "2099-01-01T00:00:00Z"}, "/until"),
        ("POST", "/queues/mail/pause", {"reason": "x" * 1001}, "/reason"),
        ("POST", "/queues/mail/resume", {"catchUp": True}, "/catchUp"),
        ("PUT", "/queues/" + "x" * 201, {}, "/queue"),
    ],
)
async def test_what_is_wrong_is_named_and_changes_nothing(
    api: httpx2.AsyncClient, method: str, path: str, body: Any, pointer: str
) -> None:
    answer = await api.request(method, path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert (await api.get("/queues")).json()["items"] == []


async def test_a_run_and_a_schedule_have_a_key_in_a_fair_queue(api: httpx2.AsyncClient) -> None:
    run = {"jobType": "send", "queue": "mail", "fairnessKey": "u42"}
    assert (await api.post("/runs", json=run)).status_code == 202
    schedule = {"name": "s", "cronExpression": "0 2 * * *", "jobType": "send", "fairnessKey": "u42"}
    assert (await api.post("/schedules", json=schedule)).json()["fairnessKey"] == "u42"
    assert (await api.post("/runs", json=run | {"fairnessKey": "x" * 201})).status_code == 422
