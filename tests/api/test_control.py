"""What operators do over REST: many schedules at once, backfills, the audit trail, the switch of the fleet."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from duly import Duly, Every
from duly.api.operations import controlling
from duly.app.owning import Owning
from duly.core.credential import Caller, Scope
from tests.acceptance.rules import rule
from tests.api.conftest import let_die
from tests.app.conftest import until

FROM, TO = "2026-03-01T00:00:00Z", "2026-03-05T00:00:00Z"
Get = Callable[[str], Awaitable[Any]]


async def fill(app: Duly, count: int, **options: Any) -> None:
    await app.schedules.create_many(
        [{"key": f"s{n}", "timing": Every("1h"), "job": "work", "tags": ["etl"], **options} for n in range(count)]
    )


async def finished(api: httpx2.AsyncClient, id: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def over() -> bool:
        found.update((await api.get(f"/operations/{id}")).json())
        return bool(found["finishedAt"])

    await until(over)
    return found


@rule("I9")
async def test_many_are_changed_beside_the_request_and_it_tells_how_far_it_is(
    app: Duly, api: httpx2.AsyncClient
) -> None:
    await fill(app, 30)
    await app.schedules.create("other", Every("1h"), job="work")
    body = {"action": "pause", "filter": {"tag": "etl"}, "reason": "incident", "until": "2099-01-01T00:00:00Z"}
    foretold = await api.post("/schedules:bulk", json=body | {"dryRun": True})
    assert (foretold.status_code, foretold.json()["matched"], foretold.json()["more"]) == (200, 30, False)
    assert (await app.operations.list()).items == [], "a dry run leaves nothing"
    begun = await api.post("/schedules:bulk", json=body)
    assert (begun.status_code, begun.headers["location"]) == (202, f"/api/v1/operations/{begun.json()['id']}")
    done = await finished(api, begun.json()["id"])
    assert (done["kind"], done["status"], done["matched"], done["changed"]) == ("pause", "completed", 30, 30)
    assert done["arguments"] == {name: body[name] for name in ("filter", "reason", "until")}
    assert len((await api.get("/schedules?enabled=false")).json()["items"]) == 30
    listed = (await api.get("/operations")).json()["items"]
    assert [one["id"] for one in listed] == [done["id"]]
    assert "items" not in listed[0]


async def test_those_that_are_named_are_done_at_once_and_each_is_told_of(app: Duly, api: httpx2.AsyncClient) -> None:
    await fill(app, 2)
    await app.schedules.pause("s1")
    body = {"action": "resume", "ids": ["s0", "s1", "nobody"]}
    done = await api.post("/schedules:bulk", json=body, headers={"Idempotency-Key": "once"})
    ids = {key: (await api.get(f"/schedules/{key}")).json()["id"] for key in ("s0", "s1")}
    outcomes = {item["id"]: item["outcome"] for item in done.json()["items"]}
    assert outcomes == {ids["s0"]: "unchanged", ids["s1"]: "changed", "nobody": "not_found"}
    assert (await api.get(f"/operations/{done.json()['id']}")).json()["items"] == done.json()["items"]
    again = await api.post("/schedules:bulk", json=body, headers={"Idempotency-Key": "once"})
    assert again.json() == done.json()
    triggered = (await api.post("/schedules:bulk", json={"action": "trigger", "ids": ["s0"]})).json()
    (item,) = triggered["items"]
    assert (await api.get(f"/runs/{item['runId']}")).json()["scheduleId"] == ids["s0"]


@pytest.mark.parametrize(
    "body, pointers",
    [
        ({"action": "pause"}, {""}),
        ({"action": "pause", "filter": {}}, {"/filter"}),
        ({"action": "pause", "ids": ["a"], "everything": True}, {""}),
        ({"action": "pause", "ids": []}, {"/ids"}),
        ({"action": "erase", "everything": True}, {"/action"}),
        ({"action": "cancel", "ids": ["a"], "reason": "x", "catchUp": True}, {"/reason", "/catchUp"}),
        ({"action": "pause", "ids": ["a"], "until": "tomorrow"}, {"/until"}),
        ({"action": "pause", "filter": {"colour": "red"}}, {"/filter/colour"}),
    ],
)
async def test_what_is_not_clear_is_refused_and_changes_nothing(
    app: Duly, api: httpx2.AsyncClient, body: dict[str, Any], pointers: set[str]
) -> None:
    answer = await api.post("/schedules:bulk", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert {error["pointer"] for error in answer.json()["errors"]} == pointers
    assert (await app.operations.list()).items == []


async def test_a_caller_changes_only_what_is_theirs(app: Duly) -> None:
    await fill(app, 2, metadata={"owner_id": "ann", "tenant_id": "acme"})
    foreign = await app.schedules.create("foreign", Every("1h"), job="work")
    ann = Caller(name="ann", scopes=frozenset({Scope.WRITE}), owner="ann", tenant="acme")
    hers = app.acting_for(Owning(ann.whose))
    done: Any = await controlling.change_many(hers, {"action": "pause", "ids": ["s0", "foreign"]}, by="ann")
    assert sorted(item["outcome"] for item in done["items"]) == ["changed", "not_found"]
    done = await controlling.change_many(hers, {"action": "delete", "ids": [foreign.id]}, by="ann")
    assert (done["status"], done["changed"]) == ("completed", 0)
    done = await controlling.change_many(hers, {"action": "delete", "everything": True, "dryRun": True})
    assert done["matched"] == 2


async def test_a_backfill_is_foretold_and_made(app: Duly, api: httpx2.AsyncClient) -> None:
    await api.put("/schedules/daily", json={"cronExpression": "0 2 * * *", "jobType": "report"})
    body = {"from": FROM, "to": TO, "payload": {"again": 1}, "ratePerSecond": 0.5}
    foretold = await api.post("/schedules/daily/backfill", json=body | {"dryRun": True})
    assert (foretold.status_code, len(foretold.json()["items"])) == (200, 4)
    assert foretold.json()["items"][0]["windowAt"] == "2026-03-01T02:00:00Z"
    assert (await api.get("/runs")).json()["items"] == []
    made = await api.post("/schedules/daily/backfill", json=body)
    assert (made.status_code, made.json()["matched"], made.json()["status"]) == (202, 4, "running")
    assert made.json()["arguments"]["from"] == FROM
    runs = (await api.get("/schedules/daily/executions")).json()["items"]
    assert [run["kind"] for run in runs] == ["backfill"] * 4


@pytest.mark.parametrize(
    "body, words",
    [
        ({"from": FROM, "to": TO}, "345601 windows"),
        ({"from": FROM, "to": TO, "dryRun": True}, "345601 windows"),
        ({"from": TO, "to": FROM}, "not before 'from'"),
        ({"from": FROM, "to": "2099-01-01T00:00:00Z"}, "has passed"),
        ({"from": FROM, "to": FROM, "ratePerSecond": 0}, "1/60"),
        ({"from": "2026-03-01", "to": FROM}, "from is '2026-03-01'"),
        ({"from": FROM}, "to is missing"),
    ],
)
async def test_a_backfill_that_cannot_be_is_refused(api: httpx2.AsyncClient, body: dict[str, Any], words: str) -> None:
    await api.put("/schedules/often", json={"everyMs": 1000, "jobType": "report", "enabled": False})
    answer = await api.post("/schedules/often/backfill", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert words in answer.json()["detail"]
    assert (await api.post("/schedules/nobody/backfill", json=body)).status_code in (404, 422)
    assert (await api.get("/runs")).json()["items"] == []


async def test_the_trail_says_who_changed_what_also_of_what_is_gone(app: Duly, api: httpx2.AsyncClient) -> None:
    await app.schedules.create("k", Every("1h"), job="work", by="ann")
    await app.schedules.update("k", tags=["x"], by="bob")
    await app.schedules.delete("k", by="eve")
    first = (await api.get("/schedules/k/changes?limit=2")).json()
    assert [(item["action"], item["by"]) for item in first["items"]] == [("delete", "eve"), ("edit", "bob")]
    assert first["items"][1]["fields"] == [{"field": "tags", "old": [], "new": ["x"]}]
    rest = (await api.get(f"/schedules/k/changes?limit=2&cursor={first['nextCursor']}")).json()
    assert [(item["number"], item["action"], item["by"]) for item in rest["items"]] == [(0, "create", "ann")]
    assert (await api.get("/schedules/nobody/changes")).status_code == 404
    assert (await api.get("/schedules/k/changes?cursor=x")).status_code == 422


async def test_a_purge_leaves_nothing_and_waits_for_what_runs(app: Duly, api: httpx2.AsyncClient) -> None:
    made = await app.schedules.create("k", Every("1h"), job="work")
    run = await app.schedules.trigger("k")
    assert (await api.delete("/schedules/k?purge=true")).status_code == 204
    assert (await api.get(f"/runs/{run.id}")).status_code == 404
    assert (await api.get("/schedules/k/changes")).status_code == 404
    for ref in ("k", made.id):
        assert (await api.delete(f"/schedules/{ref}?purge=true")).status_code == 204
    assert (await api.delete("/schedules/never?purge=true")).status_code == 404


@rule("S4.43")
@pytest.mark.duly_start("2026-01-05T00:30:00Z")  # in the last minute of an hour both would fire at once
async def test_what_comes_next_and_how_it_fares(app: Duly, api: httpx2.AsyncClient) -> None:
    await app.schedules.create("hourly", Every("1h"), job="work")
    await app.schedules.create("often", Every("1m"), job="work")
    first = (await api.get("/upcoming?limit=1")).json()
    assert [item["key"] for item in first["items"]] == ["often"]
    rest = (await api.get(f"/upcoming?limit=1&cursor={first['nextCursor']}")).json()
    assert [item["key"] for item in rest["items"]] == ["hourly"]
    assert (await api.get("/upcoming?cursor=5")).status_code == 422
    died = await let_die(app)
    stats = (await api.get("/stats")).json()
    assert (stats["dead"], stats["lastHour"]["failed"], stats["firingPaused"]) == (1, 1, False)
    (group,) = (await api.get("/dead-letters:groups?jobType=x")).json()["items"]
    assert (group["jobType"], group["count"], group["lastRunId"]) == ("x", 1, died)


async def test_the_switch_stops_all_and_after_a_restore_a_choice_is_needed(app: Duly, api: httpx2.AsyncClient) -> None:
    assert (await api.get("/firing")).json()["paused"] is False
    paused = (await api.post("/firing/pause", json={"reason": "incident"})).json()
    assert (paused["paused"], paused["reason"]) == (True, "incident")
    resumed = await api.post("/firing/resume")
    assert (resumed.status_code, resumed.json()["kind"]) == (202, "resume_all")
    assert (await api.get("/firing")).json()["paused"] is False
    restored = (await api.post("/firing/restored", json={"reason": "backup of 04:00"})).json()
    assert (restored["epoch"], restored["restoredAt"] is not None) == (2, True)
    refused = await api.post("/firing/resume")
    assert (refused.status_code, refused.json()["code"]) == (409, "CONFLICT")
    assert (await api.post("/firing/resume", json={"backlog": "some"})).status_code == 422
    resumed = await api.post("/firing/resume", json={"backlog": "skip"})
    done = await finished(api, resumed.json()["id"])
    assert (done["status"], done["arguments"]) == ("completed", {"backlog": "skip"})
    assert (await api.get("/firing")).json()["paused"] is False


async def test_an_operation_that_is_not_there_is_not_found(api: httpx2.AsyncClient) -> None:
    for id in ("nobody", "01936a70-8f00-7a3c-9d21-5e6f708192a3"):
        answer = await api.get(f"/operations/{id}")
        assert (answer.status_code, answer.json()["code"]) == (404, "OPERATION_NOT_FOUND")
