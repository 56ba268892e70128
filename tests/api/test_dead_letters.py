"""Dead letters over HTTP, with a worker in the same process."""

from collections.abc import AsyncIterator
from datetime import datetime

import httpx2
import pytest

from duly import Duly, Retry
from duly.api.application import application
from tests.api.conftest import client_of
from tests.app.conftest import QUICK

UNKNOWN = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
async def app(url: str) -> AsyncIterator[Duly]:
    app = Duly(url, settings=QUICK)

    @app.job("pay", retry=Retry(max_attempts=2, delay=0, jitter=0))
    async def pay(cents: int) -> int:
        if cents < 0:
            raise ValueError(f"{cents} is too little")
        return cents

    async with app:
        yield app


@pytest.fixture
async def api(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(application(app), "http://localhost/api/v1") as client:
        yield client


async def died(api: httpx2.AsyncClient, app: Duly, cents: int = -1) -> str:
    run = (await api.post("/runs", json={"jobType": "pay", "payload": {"cents": cents}})).json()
    await app.runs.wait(run["id"], timeout=20)
    return str(run["id"])


async def test_f6_a_dead_letter_shows_its_payload_and_every_attempt(api: httpx2.AsyncClient, app: Duly) -> None:
    run_id = await died(api, app)
    (listed,) = (await api.get("/dead-letters")).json()["items"]
    assert (listed["id"], listed["status"], listed["reason"]) == (run_id, "failed", "attempts_spent")
    assert "payload" not in listed
    assert "attempts" not in listed
    run = (await api.get(f"/runs/{run_id}")).json()
    assert run["payload"] == {"cents": -1}
    assert [(one["attemptNumber"], one["outcome"], one["errorMessage"]) for one in run["attempts"]] == [
        (1, "failed", "ValueError: -1 is too little"),
        (2, "failed", "ValueError: -1 is too little"),
    ]
    first = run["attempts"][0]
    began, ended = (datetime.fromisoformat(first[name]) for name in ("startedAt", "endedAt"))
    assert began <= ended
    assert first["instance"]


async def test_a_redrive_is_the_same_run_with_a_fresh_budget(api: httpx2.AsyncClient, app: Duly) -> None:
    run_id = await died(api, app)
    answer = await api.post(f"/runs/{run_id}/redrive")
    assert (answer.status_code, answer.headers["location"]) == (202, f"/api/v1/runs/{run_id}")
    assert answer.json()["id"] == run_id
    await app.runs.wait(run_id, timeout=20)
    run = (await api.get(f"/runs/{run_id}")).json()
    assert [one["attemptNumber"] for one in run["attempts"]] == [1, 2, 1, 2]
    assert run["redrivenAs"] is None


async def test_f9_a_redrive_with_another_payload_is_a_linked_run(api: httpx2.AsyncClient, app: Duly) -> None:
    run_id = await died(api, app)
    refused = await api.post(f"/runs/{run_id}/redrive", json={"payload": {"euros": 1}})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/payload")
    for _ in range(2):
        answer = await api.post(f"/runs/{run_id}/redrive", json={"payload": {"cents": 5}})
        new = answer.json()
        assert (answer.status_code, new["redriveOf"]) == (202, run_id)
    assert (await app.runs.wait(new["id"], timeout=20)).result == 5
    old = (await api.get(f"/runs/{run_id}")).json()
    assert (old["status"], old["payload"], old["redrivenAs"]) == ("failed", {"cents": -1}, new["id"])
    assert old["acknowledgedAt"] is not None
    other = await api.post(f"/runs/{run_id}/redrive", json={"payload": {"cents": 6}})
    assert (other.status_code, other.json()["code"], other.json()["runId"]) == (409, "RUN_NOT_DEAD", new["id"])


async def test_only_the_dead_are_redriven(api: httpx2.AsyncClient, app: Duly) -> None:
    run_id = await died(api, app, cents=1)
    answer = await api.post(f"/runs/{run_id}/redrive")
    assert (answer.status_code, answer.json()["code"]) == (409, "RUN_NOT_DEAD")
    assert (await api.post(f"/runs/{UNKNOWN}/redrive")).status_code == 404
    assert (await api.get(f"/runs/{run_id}")).json()["status"] == "completed"


async def test_dead_letters_narrow_and_page(api: httpx2.AsyncClient, app: Duly) -> None:
    ids = [await died(api, app, cents=-n) for n in (1, 2, 3)]

    async def found(**query: str) -> list[str]:
        answer = await api.get("/dead-letters", params=query)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert await found() == ids[::-1]
    assert await found(error="-2 is") == [ids[1]]
    assert await found(jobType="pay", queue="default") == ids[::-1]
    assert await found(jobType="other") == await found(tenant="acme") == await found(scheduleId="none") == []
    page = (await api.get("/dead-letters", params={"limit": 2})).json()
    assert await found(cursor=page["nextCursor"]) == [ids[0]]
    assert (await api.get("/dead-letters", params={"owner": "ann"})).status_code == 422


async def test_many_are_redriven_and_acknowledged_by_id_or_filter(api: httpx2.AsyncClient, app: Duly) -> None:
    ids = [await died(api, app, cents=-n) for n in (1, 2, 3)]
    answer = await api.post("/dead-letters:acknowledge", json={"ids": [ids[0], UNKNOWN]})
    assert answer.status_code == 202
    assert answer.json() == {"count": 1, "refused": [{"id": UNKNOWN, "reason": "not_found"}], "more": False}
    part = (await api.post("/dead-letters:redrive", json={"filter": {"jobType": "pay"}, "limit": 1})).json()
    assert (part["count"], part["more"]) == (1, True)
    await app.runs.wait(ids[1], timeout=20)
    rest = (await api.post("/dead-letters:redrive", json={"filter": {"error": "-3 is"}})).json()
    assert (rest["count"], rest["refused"], rest["more"]) == (1, [], False)
    await app.runs.wait(ids[2], timeout=20)
    laid = (await api.post("/dead-letters:acknowledge", json={"filter": {}})).json()
    assert laid["count"] == 2
    assert (await api.get("/dead-letters")).json()["items"] == []


@pytest.mark.parametrize("body", [{}, {"ids": [UNKNOWN], "filter": {}}, {"filter": {"owner": "ann"}}, {"ids": ["x"]}])
async def test_what_is_not_clear_is_refused(api: httpx2.AsyncClient, app: Duly, body: object) -> None:
    run_id = await died(api, app)
    for action in ("redrive", "acknowledge"):
        assert (await api.post(f"/dead-letters:{action}", json=body)).status_code == 422
    assert [item["id"] for item in (await api.get("/dead-letters")).json()["items"]] == [run_id]
