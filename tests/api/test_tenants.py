"""A key that several tenants hold: nobody's schedule is taken for another's."""

from typing import Any

import httpx2
import pytest

from duly import Duly, Every
from duly.core.errors import Conflict

SMALLEST = {"name": "n", "everyMs": 3_600_000, "jobType": "work"}


async def held(api: httpx2.AsyncClient, *tenants: str | None) -> list[str]:
    """The ids of schedules of one key, one in each tenant."""
    made = [await api.post("/schedules", json=SMALLEST | {"key": "k", "metadata": {"tenantId": t}}) for t in tenants]
    assert [answer.status_code for answer in made] == [201] * len(tenants)
    return [answer.json()["id"] for answer in made]


async def test_a_key_of_several_tenants_is_a_conflict_that_names_the_ids(api: httpx2.AsyncClient, app: Duly) -> None:
    ids = await held(api, "acme", "umbrella")
    asked: list[tuple[str, str, Any]] = [
        ("GET", "", None), ("PATCH", "", {"priority": 1}), ("PUT", "", SMALLEST), ("DELETE", "", None),
        ("DELETE", "?purge=true", None), ("POST", "/pause", None), ("POST", "/resume", None), ("POST", "/cancel", None),
        ("POST", "/trigger", None), ("POST", "/reschedule", {"everyMs": 5000}), ("GET", "/executions", None),
        ("GET", "/upcoming", None), ("GET", "/changes", None),
        ("POST", "/backfill", {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T02:00:00Z"}),
    ]  # fmt: skip
    for method, rest, body in asked:
        answer = await api.request(method, f"/schedules/k{rest}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT"), (method, rest)
        assert all(id in answer.json()["detail"] for id in ids)
    shown = [(await api.get(f"/schedules/{id}")).json() for id in ids]
    assert [(one["revision"], one["enabled"], one["status"]) for one in shown] == [(1, True, "pending")] * 2
    with pytest.raises(Conflict):
        await app.schedules.get("k")
    found = [await app.schedules.get("k", tenant=tenant) for tenant in ("acme", "umbrella")]
    assert [schedule and schedule.id for schedule in found] == ids


async def test_a_tenant_chooses_on_every_path_of_a_schedule(api: httpx2.AsyncClient) -> None:
    acme, umbrella = await held(api, "acme", "umbrella")
    asked: list[tuple[str, str, Any, int]] = [
        ("GET", "", None, 200), ("PATCH", "", {"priority": 1}, 200), ("PUT", "", SMALLEST, 200),
        ("POST", "/pause", None, 200), ("POST", "/resume", None, 200), ("POST", "/trigger", None, 202),
        ("GET", "/executions", None, 200), ("GET", "/upcoming", None, 200), ("GET", "/changes", None, 200),
        ("POST", "/backfill", {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T02:00:00Z"}, 202),
        ("POST", "/cancel", None, 200),
    ]  # fmt: skip
    for method, rest, body, status in asked:
        answer = await api.request(method, f"/schedules/k{rest}?tenant=acme", json=body)
        assert answer.status_code == status, (method, rest, answer.text)
        assert (await api.request(method, f"/schedules/k{rest}?tenant=acme&x=1", json=body)).status_code == 422
        if method != "PUT":
            assert (await api.request(method, f"/schedules/k{rest}?tenant=nobody", json=body)).status_code == 404
    assert (await api.get(f"/schedules/{umbrella}")).json()["revision"] == 1
    for _ in range(2):
        assert (await api.delete("/schedules/k?tenant=acme")).status_code == 204
    assert (await api.get(f"/schedules/{acme}")).status_code == 404
    assert (await api.get("/schedules/k")).json()["id"] == umbrella
    assert (await api.get("/schedules/k/changes?tenant=acme&limit=1")).json()["items"][0]["action"] == "delete"


async def test_what_belongs_to_no_tenant_can_be_chosen_too(api: httpx2.AsyncClient) -> None:
    nobodys, acme = await held(api, None, "acme")
    assert (await api.get("/schedules/k?tenant=")).json()["id"] == nobodys
    assert (await api.get("/schedules/k?tenant=acme")).json()["id"] == acme


async def test_a_request_key_is_of_one_tenant(api: httpx2.AsyncClient) -> None:
    await held(api, "acme", "umbrella")
    named = {"Idempotency-Key": "once"}
    assert (await api.post("/schedules/k/trigger?tenant=acme", headers=named)).status_code == 202
    other = await api.post("/schedules/k/trigger?tenant=umbrella", headers=named)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


@pytest.mark.parametrize("by", ["id", "key"])
async def test_a_put_stays_in_the_tenant_of_what_is_there(api: httpx2.AsyncClient, by: str) -> None:
    (id,) = await held(api, "acme")
    ref = id if by == "id" else "k"
    answer = await api.put(f"/schedules/{ref}", json=SMALLEST | {"priority": 3})
    assert (answer.status_code, answer.json()["id"], answer.json()["metadata"]["tenantId"]) == (200, id, "acme")
    assert len((await api.get("/schedules")).json()["items"]) == 1
    stale = await api.put(f"/schedules/{ref}", json=SMALLEST, headers={"If-Match": '"1"'})
    assert stale.status_code == 412
    there = await api.put(f"/schedules/{ref}", json=SMALLEST, headers={"If-None-Match": "*"})
    assert there.status_code == 412


async def test_a_put_by_id_into_another_tenant_is_refused(api: httpx2.AsyncClient) -> None:
    acme, nobodys = await held(api, "acme", None)
    for id in (acme, nobodys):
        answer = await api.put(f"/schedules/{id}", json=SMALLEST | {"metadata": {"tenantId": "umbrella"}})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/metadata/tenantId")
    assert (
        await api.put("/schedules/k?tenant=acme", json=SMALLEST | {"metadata": {"tenantId": "x"}})
    ).status_code == 422
    new = await api.put("/schedules/k", json=SMALLEST | {"metadata": {"tenantId": "umbrella"}})
    assert (new.status_code, new.json()["metadata"]["tenantId"]) == (201, "umbrella")
    assert (await api.put("/schedules/k?tenant=fourth", json=SMALLEST)).json()["metadata"]["tenantId"] == "fourth"


async def test_python_changes_nothing_where_a_key_means_two(app: Duly) -> None:
    for tenant in ("acme", "umbrella"):
        await app.schedules.create("k", Every("1h"), job="work", metadata={"tenant_id": tenant})
    for change in (app.schedules.pause, app.schedules.cancel, app.schedules.delete, app.schedules.trigger):
        with pytest.raises(Conflict):
            await change("k")
    assert [schedule.enabled for schedule in (await app.schedules.list()).items] == [True, True]
