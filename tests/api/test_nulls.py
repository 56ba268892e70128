"""What null, an empty text and a cancelled schedule mean."""

import httpx2
import pytest

from duly import Cron, Duly, Once
from duly.core.errors import ValidationFailed

BODY = {"key": "s", "cronExpression": "0 2 * * *", "jobType": "x"}


async def test_a_policy_that_is_put_back_keeps_how_often(api: httpx2.AsyncClient) -> None:
    await api.post("/schedules", json=BODY | {"maxAttempts": 7, "retryPolicy": {"delaySeconds": 9}})
    answer = (await api.patch("/schedules/s", json={"retryPolicy": None})).json()
    assert answer["maxAttempts"] == 7
    assert answer["retryPolicy"]["delaySeconds"] != 9


@pytest.mark.parametrize("change", [{"timezone": ""}, {"jobType": None}])
async def test_what_a_schedule_cannot_be_without_is_not_emptied(api: httpx2.AsyncClient, change: object) -> None:
    await api.post("/schedules", json=BODY)
    answer = await api.patch("/schedules/s", json=change)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] in ("/timezone", "/jobType")


async def test_a_one_shot_has_no_jitter(api: httpx2.AsyncClient, app: Duly) -> None:
    body = {"name": "n", "onceAt": "2099-01-01T00:00:00Z", "jobType": "x", "jitter": {"minMs": 0, "maxMs": 5}}
    answer = await api.post("/schedules", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/jitter")
    once = Once("2099-01-01T00:00:00Z")
    with pytest.raises(ValidationFailed, match="one-shot"):
        await app.schedules.create("a", once, job="x", jitter=(0, 5))
    await app.schedules.create("b", Cron("0 2 * * *"), job="x", jitter=(0, 5))
    with pytest.raises(ValidationFailed, match="one-shot"):
        await app.schedules.update("b", timing=once)


async def test_an_empty_search_finds_all(api: httpx2.AsyncClient) -> None:
    await api.post("/schedules", json=BODY)
    for query in ("q=", "tag="):
        assert len((await api.get(f"/schedules?{query}")).json()["items"]) == 1


async def test_the_same_put_on_a_cancelled_key_makes_a_live_schedule(api: httpx2.AsyncClient) -> None:
    body = {"cronExpression": "0 2 * * *", "jobType": "x"}
    first = (await api.put("/schedules/s", json=body)).json()
    await api.post("/schedules/s/cancel")
    answer = await api.put("/schedules/s", json=body)
    assert (answer.status_code, answer.json()["status"]) == (201, "pending")
    assert answer.json()["id"] != first["id"]
