"""Ids that a caller chooses for a run: a repeat is the same run, and no caller takes the id of another's run."""

from typing import Any

import httpx2
import pytest

from duly import Duly, Every
from duly.api.application import application
from duly.core.ids import window_run_id
from tests.api.conftest import client_of
from tests.store.postgres.proxy import Fault, proxy_before

UUID = "01890a5d-ac96-774b-bcce-b302099a8057"


async def runs_of(app: Duly) -> list[str]:
    return [run.id for run in (await app.runs.list()).items]


@pytest.mark.parametrize("id", [UUID, "order-7", "9b2ad7a8-4d1c-4a0e-9f57-0d8c6f3f2a11"])
async def test_a_repeated_enqueue_with_the_same_id_is_the_same_run(api: httpx2.AsyncClient, app: Duly, id: str) -> None:
    answers = [await api.post("/runs", json={"jobType": "work", "id": id, "payload": n}) for n in range(2)]
    assert [(answer.status_code, answer.json()["givenId"]) for answer in answers] == [(202, id)] * 2
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert await runs_of(app) == [answers[0].json()["id"]]
    found = (await api.get(f"/runs/{id}")).json()
    assert (found["id"], found["payload"], "givenId" in found) == (answers[0].json()["id"], 0, False)


async def test_a_repeated_trigger_with_the_same_id_is_the_same_run(api: httpx2.AsyncClient, app: Duly) -> None:
    await app.schedules.create("k", Every("1h"), job="work")
    answers = [await api.post("/schedules/k/trigger", json={"id": "by-hand"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert await runs_of(app) == [answers[0].json()["id"]]
    assert (await api.get("/runs/by-hand")).json()["id"] == answers[0].json()["id"]


async def test_an_id_of_another_job_is_a_conflict(api: httpx2.AsyncClient) -> None:
    assert (await api.post("/runs", json={"jobType": "work", "id": "order-7"})).status_code == 202
    answer = await api.post("/runs", json={"jobType": "other", "id": "order-7"})
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")
    assert "id 'order-7' is that of a run of 'work'" in answer.json()["detail"]


@pytest.mark.parametrize("id", ["sched:k:1767571200000", "sched:", "evt:pay-123:work:onevt"])
@pytest.mark.parametrize("path", ["/runs", "/schedules/k/trigger", "/workflows/w/runs"])
async def test_names_of_windows_and_events_are_reserved(api: httpx2.AsyncClient, app: Duly, path: str, id: str) -> None:
    @app.workflow("w")
    async def body(ctx: Any) -> None: ...

    await app.schedules.create("k", Every("1h"), job="work")
    given = {"/runs": {"jobType": "work"}}.get(path, {})
    answer = await api.post(path, json={**given, "id": id})
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/id"]
    assert await runs_of(app) == []


@pytest.fixture
async def tenants(api: httpx2.AsyncClient, app: Duly) -> dict[str, httpx2.AsyncClient]:
    """Two owners of two tenants, each with a key that may read, write and trigger."""
    served = application(app)
    clients = {}
    for owner, tenant in (("ann", "acme"), ("bob", "umbrella")):
        made = await app.keys.create(owner, owner=owner, tenant=tenant)
        clients[owner] = client_of(served, "http://localhost/api/v1")
        clients[owner].headers["authorization"] = f"Bearer {made.text}"
    return clients


async def test_an_owner_cannot_take_the_id_of_a_strangers_window(
    app: Duly, tenants: dict[str, httpx2.AsyncClient]
) -> None:
    made = (await tenants["ann"].post("/schedules", json={"name": "n", "everyMs": 60_000, "jobType": "work"})).json()
    stored = await app.schedules.get(made["id"])
    assert stored is not None
    assert stored.cursor.next_window_at is not None
    window = window_run_id(made["id"], stored.cursor.next_window_at)
    answer = await tenants["bob"].post("/runs", json={"jobType": "work", "id": window})
    assert answer.status_code == 202
    assert answer.json()["id"] != window
    assert await app.runs.get(window) is None


async def test_an_owner_finds_a_run_by_both_ids_and_a_stranger_by_neither(
    tenants: dict[str, httpx2.AsyncClient],
) -> None:
    for id in (UUID, "order-7"):
        made = (await tenants["ann"].post("/runs", json={"jobType": "work", "id": id})).json()
        assert (made["givenId"], made["id"] != id) == (id, True)
        for ref in (id, made["id"]):
            assert (await tenants["ann"].get(f"/runs/{ref}")).json()["id"] == made["id"]
            assert (await tenants["bob"].get(f"/runs/{ref}")).status_code == 404
            assert (await tenants["bob"].post(f"/runs/{ref}/cancel")).status_code == 404
        theirs = (await tenants["bob"].post("/runs", json={"jobType": "work", "id": id})).json()
        assert theirs["id"] != made["id"], "each owner has a space of ids"
        assert (await tenants["ann"].post(f"/runs/{id}/cancel")).json()["status"] == "cancelled"
        assert (await tenants["bob"].get(f"/runs/{id}")).json()["status"] == "pending"


@pytest.mark.parametrize("owner", [None, "ann"])
async def test_following_the_advice_after_a_lost_commit_makes_one_run(
    ready_postgres: str, owner: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to COMMIT is lost, the client gets 503 and repeats the request with the id of the problem."""
    with proxy_before(ready_postgres) as proxy:
        app = Duly(proxy.url)
        await app.open()
        try:
            async with client_of(application(app), "http://localhost/api/v1") as api:
                if owner is not None:
                    made = await app.keys.create(owner, owner=owner, tenant="acme")
                    api.headers["authorization"] = f"Bearer {made.text}"
                enqueue, losing = app._store.enqueue, [True]

                async def enqueue_and_lose_the_answer(*args: Any, **words: Any) -> Any:
                    if losing:
                        proxy.set(Fault.LOSE_REPLY, times=losing.pop() and 1000)
                    return await enqueue(*args, **words)

                monkeypatch.setattr(app._store, "enqueue", enqueue_and_lose_the_answer)
                failed = await api.post("/runs", json={"jobType": "work"})
                assert (failed.status_code, failed.json()["code"]) == (503, "SCHEDULE_ENQUEUE_FAILURE")
                proxy.heal()
                id = failed.json()["id"]
                assert (await api.get(f"/runs/{id}")).status_code == 200, "it was stored"
                again = await api.post("/runs", json={"jobType": "work", "id": id})
                assert again.status_code == 202
                assert (await api.get(f"/runs/{id}")).json()["id"] == again.json()["id"]
            assert await runs_of(app) == [again.json()["id"]]
        finally:
            proxy.heal()
            await app.close()
