"""``/calendars``, and the fields of a schedule that name them."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from duly import Duly
from duly.core.rules.firing import FireRules

HOLIDAYS = {
    "description": "Brazil",
    "dates": ["2027-02-09", "2026-11-20"],
    "ranges": [{"from": "2026-12-24", "to": "2027-01-02"}],
    "yearly": ["12-25", "09-07"],
}
NIGHTLY = {"name": "Nightly", "key": "nightly", "cronExpression": "0 2 * * *", "jobType": "report"}


async def test_a_calendar_is_put_read_listed_and_deleted(api: httpx2.AsyncClient) -> None:
    made = await api.put("/calendars/br-holidays", json=HOLIDAYS)
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    assert made.headers["location"] == "/api/v1/calendars/br-holidays"
    body = made.json()
    assert (body["dates"], body["yearly"]) == (["2026-11-20", "2027-02-09"], ["09-07", "12-25"])
    assert (body["ranges"], body["description"], body["tenantId"]) == (HOLIDAYS["ranges"], "Brazil", None)
    found = await api.get("/calendars/br-holidays")
    assert (found.json(), found.headers["etag"]) == (body, '"1"')
    assert (await api.get("/calendars")).json() == {"items": [body], "nextCursor": None}
    changed = await api.put("/calendars/br-holidays", json={"yearly": ["12-25"]})
    assert (changed.status_code, changed.json()["revision"], changed.json()["dates"]) == (200, 2, [])
    assert [(await api.delete("/calendars/br-holidays")).status_code for _ in range(2)] == [204, 204]
    gone = await api.get("/calendars/br-holidays")
    assert (gone.status_code, gone.json()["code"]) == (404, "CALENDAR_NOT_FOUND")


async def test_a_calendar_belongs_to_a_tenant(api: httpx2.AsyncClient) -> None:
    made = await api.put("/calendars/c", params={"tenant": "acme"}, json={})
    assert made.json()["tenantId"] == "acme"
    assert (await api.get("/calendars/c")).status_code == 404
    assert (await api.get("/calendars/c", params={"tenant": "acme"})).status_code == 200
    assert (await api.get("/calendars", params={"tenant": "other"})).json()["items"] == []
    theirs = NIGHTLY | {"calendars": ["c"], "metadata": {"tenantId": "acme"}}
    assert (await api.post("/schedules", json=NIGHTLY | {"calendars": ["c"]})).status_code == 422
    assert (await api.post("/schedules", json=theirs)).status_code == 201


async def test_only_the_revision_that_was_read_is_changed(api: httpx2.AsyncClient) -> None:
    await api.put("/calendars/c", json={})
    assert (await api.put("/calendars/c", json=HOLIDAYS, headers={"If-Match": '"1"'})).status_code == 200
    for method, body in (("PUT", {}), ("DELETE", None)):
        stale = await api.request(method, "/calendars/c", json=body, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["revision"]) == (412, 2)
    assert (await api.put("/calendars/none", json={}, headers={"If-Match": '"1"'})).status_code == 412
    assert (await api.put("/calendars/c", json={}, headers={"If-Match": '"7", "2"'})).json()["revision"] == 3
    assert (await api.put("/calendars/c", json={}, headers={"If-None-Match": "*"})).status_code == 412
    assert (await api.put("/calendars/new", json={}, headers={"If-None-Match": "*"})).status_code == 201


@pytest.mark.parametrize(
    "body, pointer",
    [
        ({"dates": ["2026-02-30"]}, "/dates"),
        ({"dates": [20261225]}, "/dates/0"),
        ({"ranges": [{"from": "2026-12-25"}]}, "/ranges/0"),
        ({"ranges": [{"from": "2026-12-25", "to": "2026-12-24"}]}, "/ranges"),
        ({"yearly": ["13-01"]}, "/yearly"),
        ({"days": []}, "/days"),
    ],
)
async def test_what_is_no_date_is_refused_with_its_place(
    api: httpx2.AsyncClient, body: dict[str, Any], pointer: str
) -> None:
    refused = await api.put("/calendars/c", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "VALIDATION_FAILED")
    assert refused.json()["errors"][0]["pointer"].startswith(pointer)
    assert (await api.get("/calendars")).json()["items"] == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_what_is_no_name_is_not_found(api: httpx2.AsyncClient, method: str) -> None:
    answer = await api.request(method, "/calendars/no%20name", json={} if method == "PUT" else None)
    assert (answer.status_code, answer.json()["code"]) == (404, "CALENDAR_NOT_FOUND")


async def test_a_schedule_names_calendars_and_keeps_them_from_being_deleted(api: httpx2.AsyncClient) -> None:
    wanted = NIGHTLY | {"calendars": ["br-holidays"], "excludeDates": ["2026-12-31"]}
    refused = await api.post("/schedules", json=wanted)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/calendars")
    assert "there is no calendar 'br-holidays'" in refused.json()["detail"]
    await api.put("/calendars/br-holidays", json=HOLIDAYS)
    made = (await api.post("/schedules", json=wanted)).json()
    assert (made["calendars"], made["excludeDates"]) == (["br-holidays"], ["2026-12-31"])
    kept = await api.delete("/calendars/br-holidays")
    assert (kept.status_code, kept.json()["code"], kept.json()["schedules"]) == (409, "CALENDAR_IN_USE", 1)
    patched = await api.patch("/schedules/nightly", json={"calendars": ["none"]})
    assert patched.status_code == 422
    patched = await api.patch("/schedules/nightly", json={"excludeDates": ["soon"]})
    assert (patched.status_code, patched.json()["errors"][0]["pointer"]) == (422, "/excludeDates/0")
    assert "excludeDates has 'soon'" in patched.json()["detail"]
    patched = await api.patch("/schedules/nightly", json={"calendars": None, "excludeDates": None})
    assert (patched.json()["calendars"], patched.json()["excludeDates"]) == ([], [])
    assert (await api.delete("/calendars/br-holidays")).status_code == 204


async def test_a_preview_and_the_upcoming_windows_tell_what_is_excluded(api: httpx2.AsyncClient) -> None:
    await api.put("/calendars/br-holidays", json=HOLIDAYS)
    asked = {"cronExpression": "0 2 * * *", "after": "2026-11-18T12:00:00Z", "count": 3, "excludeDates": ["2026-11-19"]}
    seen = (await api.post("/schedules:preview", json=asked | {"calendars": ["br-holidays"]})).json()
    assert [(one["note"], one.get("excluded", False)) for one in seen["items"]] == [
        ("excluded by its own dates", True),
        ("excluded by br-holidays", True),
        (None, False),
    ]
    refused = await api.post("/schedules:preview", json=asked | {"calendars": ["none"]})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/calendars")
    await api.put("/calendars/closed", json={"ranges": [{"from": "2001-01-01", "to": "2099-12-31"}]})
    await api.post("/schedules", json=NIGHTLY | {"calendars": ["closed"]})
    upcoming = (await api.get("/schedules/nightly/upcoming", params={"count": 2})).json()
    assert [one["note"] for one in upcoming["items"]] == ["excluded by closed"] * 2


@pytest.mark.duly_start("2026-01-05T00:30:00Z")
async def test_an_excluded_window_is_an_execution_with_its_reason_and_no_error(
    api: httpx2.AsyncClient, app: Duly
) -> None:
    await api.put("/calendars/closed", json={"ranges": [{"from": "2001-01-01", "to": "2099-12-31"}]})
    late = NIGHTLY | {"calendars": ["closed"], "fireCurrentWindow": True}
    await api.post("/schedules", json=late)
    await app._store.fire_due(limit=10, rules=FireRules())
    (execution,) = (await api.get("/schedules/nightly/executions")).json()["items"]
    assert (execution["status"], execution["reason"]) == ("skipped", "excluded")
    assert (execution["reasonDetail"], execution["errorMessage"]) == ("excluded by closed", None)
    assert (await api.get("/schedules/nightly")).json()["lastError"] is None
