"""What can be done to a schedule that has ended: it is shown, named anew, cancelled again, deleted; it never moves."""

from typing import Any

import httpx2
import pytest

from duly import Duly, Every
from duly.core.errors import Conflict, NotFound

PAST: dict[str, Any] = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:02:00Z"}


@pytest.fixture
async def ended(api: httpx2.AsyncClient) -> dict[str, Any]:
    await api.put("/schedules/s", json={"everyMs": 60_000, "jobType": "x"})
    body: dict[str, Any] = (await api.post("/schedules/s/cancel")).json()
    return body


@pytest.mark.parametrize(
    "method, path, body",
    [
        ("POST", "/schedules/s/pause", {"reason": "on leave"}),
        ("POST", "/schedules/s/resume", {}),
        ("POST", "/schedules/s/trigger", {}),
        ("POST", "/schedules/s/backfill", PAST),
        ("POST", "/schedules/s/backfill", PAST | {"dryRun": True}),
        ("PATCH", "/schedules/s", {"enabled": False}),
        ("PATCH", "/schedules/s", {"enabled": False, "name": "n"}),
        ("PATCH", "/schedules/s", {"everyMs": 5000}),
    ],
)
async def test_what_it_cannot_keep_is_409_and_changes_nothing(
    api: httpx2.AsyncClient, ended: dict[str, Any], method: str, path: str, body: Any
) -> None:
    """A pause as well: 200 would show the schedule enabled and without the reason, so nothing would have been done."""
    answer = await api.request(method, path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")
    assert "is cancelled and cannot be" in answer.json()["detail"]
    assert (await api.get("/schedules/s")).json() == ended


async def test_what_it_can_keep_goes_on(api: httpx2.AsyncClient, ended: dict[str, Any]) -> None:
    assert (await api.post("/schedules/s/cancel")).status_code == 200, "DESIGN: cancel is idempotent"
    assert (await api.patch("/schedules/s", json={"name": "n", "enabled": True})).json()["name"] == "n"
    bulk = await api.post("/schedules:bulk", json={"action": "pause", "ids": ["s"]})
    assert [item["outcome"] for item in bulk.json()["items"]] == ["unchanged"], "among many it is passed over"
    assert (await api.delete("/schedules/s")).status_code == 204
    assert (await api.post("/schedules/s/pause")).status_code == 404


async def test_one_that_is_over_can_be_run_once_more_and_stays_over(app: Duly, api: httpx2.AsyncClient) -> None:
    """Only a cancel says that no more is wanted."""
    await api.put("/schedules/s", json={"onceAt": "2020-01-01T00:00:00Z", "onPast": "fire", "jobType": "x"})
    await app._store.fire_due(limit=10, rules=app.settings.fire_rules)
    claim = (await api.post("/worker/claim", json={"jobs": ["x"]})).json()
    done = {"session": claim["session"], "runId": claim["runs"][0]["runId"], "fence": claim["runs"][0]["fence"]}
    assert (await api.post("/worker/complete", json=done)).status_code == 200
    assert (await api.get("/schedules/s")).json()["status"] == "completed"
    assert (await api.post("/schedules/s/pause")).status_code == 409
    assert (await api.post("/schedules/s/trigger")).status_code == 202
    assert (await api.get("/schedules/s")).json()["status"] == "completed"


async def test_python_says_the_same(app: Duly) -> None:
    await app.schedules.create("s", Every("1m"), job="x")
    await app.schedules.cancel("s")
    for asked in (lambda: app.schedules.pause("s"), lambda: app.schedules.update("s", enabled=False)):
        with pytest.raises(Conflict, match="is cancelled and cannot be paused"):
            await asked()
    await app.schedules.delete("s")
    with pytest.raises(NotFound):
        await app.schedules.pause("s")
