"""``POST /schedules:apply`` and ``GET /instances``."""

from typing import Any

import httpx2

from duly import Duly

NIGHTLY = {"key": "nightly", "cronExpression": "0 2 * * *", "jobType": "report"}
SYNC = {"key": "sync", "everyMs": 60_000, "jobType": "sync"}


async def apply(api: httpx2.AsyncClient, *schedules: Any, **body: Any) -> httpx2.Response:
    return await api.post("/schedules:apply", json={"schedules": schedules, **body})


async def test_apply_answers_what_became_of_each_in_order(api: httpx2.AsyncClient) -> None:
    made = await apply(api, NIGHTLY, SYNC, set="shop")
    assert made.status_code == 200
    items = made.json()["items"]
    assert [(item["key"], item["outcome"]) for item in items] == [("nightly", "created"), ("sync", "created")]
    assert items[0]["id"] == (await api.get("/schedules/nightly")).json()["id"]
    changed = await apply(api, {**NIGHTLY, "catchUp": {"policy": "skip"}}, set="shop", prune="pause")
    assert changed.json() == {
        "set": "shop",
        "dryRun": False,
        "items": [
            {
                "key": "nightly", "id": items[0]["id"], "outcome": "changed",
                "changes": [{"field": "catchUp.policy", "old": "latest", "new": "skip"}],
            },
            {
                "key": "sync", "id": items[1]["id"], "outcome": "orphaned",
                "changes": [
                    {"field": "enabled", "old": True, "new": False}, {"field": "set", "old": "shop", "new": None}
                ],
            },
        ],
    }  # fmt: skip


async def test_a_refusal_points_to_every_place_and_changes_nothing(api: httpx2.AsyncClient) -> None:
    await apply(api, NIGHTLY)
    refused = await apply(
        api,
        {**NIGHTLY, "tags": ["new"]},
        {**SYNC, "cronExpression": "0 25 * * *"},
        {"cronExpression": "0 2 * * *", "jobType": "j", "name": "no key"},
        {"key": "late", "onceAt": "2001-01-01T00:00:00Z", "jobType": "j"},
        {"key": "odd", "everyMs": "60000", "jobType": "j", "colour": "red"},
    )
    assert refused.status_code == 422
    told = {error["pointer"]: error["code"] for error in refused.json()["errors"]}
    assert told == {
        "/schedules/1": "VALIDATION_FAILED",
        "/schedules/2/key": "VALIDATION_FAILED",
        "/schedules/3/onceAt": "SCHEDULE_MOMENT_IN_PAST",
        "/schedules/4/everyMs": "VALIDATION_FAILED",
        "/schedules/4/colour": "VALIDATION_FAILED",
    }
    unreadable = await apply(api, {**NIGHTLY, "tags": ["new"]}, {**SYNC, "colour": "red"})
    assert [error["pointer"] for error in unreadable.json()["errors"]] == ["/schedules/1/colour"]
    assert (await api.get("/schedules/nightly")).json()["tags"] == []


async def test_what_belongs_to_another_set_is_a_conflict(api: httpx2.AsyncClient) -> None:
    await apply(api, NIGHTLY, set="shop")
    refused = await apply(api, NIGHTLY, SYNC, set="mail")
    assert (refused.status_code, refused.json()["code"]) == (409, "CONFLICT")
    assert "belongs to set 'shop'" in refused.json()["detail"]
    assert (await api.get("/schedules/sync")).status_code == 404


async def test_prune_without_a_set_and_strange_words_are_refused(api: httpx2.AsyncClient) -> None:
    for body in ({"prune": "pause"}, {"set": "a b"}, {"set": "s", "prune": "forget"}, {"dryRun": 1}):
        refused = await apply(api, NIGHTLY, **body)
        assert refused.status_code == 422
        (error,) = refused.json()["errors"]
        assert error["pointer"] == f"/{list(body)[-1]}"


async def test_a_secret_is_changed_and_never_shown(api: httpx2.AsyncClient) -> None:
    target = {"kind": "webhook", "url": "https://example.com/hook", "secret": f"whsec_{'o' * 32}"}
    hook = {"key": "hook", "everyMs": 60_000, "target": target}
    await apply(api, hook)
    changed = await apply(api, {**hook, "target": {**target, "secret": f"whsec_{'n' * 32}"}})
    assert changed.json()["items"][0]["changes"] == [{"field": "target.secret", "old": None, "new": None}]
    assert "whsec" not in changed.text
    assert "whsec" not in (await apply(api, {**hook, "key": "other"})).text


async def test_instances_are_listed_with_the_jobs_they_know(app: Duly, api: httpx2.AsyncClient) -> None:
    assert (await api.get("/instances")).json() == {"items": [], "nextCursor": None}
    worker = Duly(app.url, roles=("worker",))
    worker.job("report")(lambda: None)
    async with worker:
        (found,) = (await api.get("/instances")).json()["items"]
    assert (found["roles"], found["jobs"]) == (["worker"], ["report", "webhook:event", "webhook:post"])
    assert "session" not in found
