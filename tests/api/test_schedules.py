"""Schedules over HTTP: each sentence of the interface, on both stores."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest

from duly import Duly, Every
from duly.core.errors import ValidationFailed
from duly.core.signing import write_secret
from duly.store.codec import UnreadableDefinition
from duly.store.methods import schedules
from tests.acceptance.rules import rule
from tests.app.conftest import a_moment_later

SMALLEST = {"name": "Nightly", "cronExpression": "0 2 * * *", "jobType": "report"}
FULL = {
    "name": "Everything",
    "key": "full",
    "description": "all there is",
    "cronExpression": "30 2 * * *",
    "timezone": "Europe/Berlin",
    "jobType": "report",
    "jobPayload": {"user": 42, "deep": [1, {"two": None}]},
    "maxAttempts": 5,
    "retryPolicy": {"backoff": "fixed", "delaySeconds": 7, "maxDelaySeconds": 70, "jitter": 0.5},
    "timeoutSeconds": 90,
    "overlapPolicy": "queue",
    "maxQueued": 3,
    "maxConcurrent": 2,
    "catchUp": {"policy": "all", "maxLatenessSeconds": 7200, "maxRuns": 9},
    "jitter": {"minMs": 100, "maxMs": 2000},
    "dst": {"gap": "skip", "fold": "both"},
    "strictFields": 5,
    "fireCurrentWindow": False,
    "startAt": "2099-01-01T00:00:00Z",
    "endAt": "2099-12-31T00:00:00.500Z",
    "maxRuns": 1000,
    "pauseAfterFailures": 4,
    "queue": "mail",
    "priority": 7,
    "fairnessKey": "u42",
    "enabled": False,
    "tags": ["a", "b"],
    "metadata": {"ownerId": "o", "tenantId": "t", "correlationId": "c", "clientRequestId": "r"},
}


async def made(api: httpx2.AsyncClient, **fields: Any) -> Any:
    answer = await api.post("/schedules", json=SMALLEST | fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


@rule("S2.31")
async def test_create_answers_201_with_its_place_and_revision(api: httpx2.AsyncClient) -> None:
    answer = await api.post("/schedules", json=SMALLEST)
    body = answer.json()
    assert answer.status_code == 201
    assert answer.headers["etag"] == '"1"'
    assert answer.headers["location"] == f"/api/v1/schedules/{body['id']}"
    found = await api.get(f"http://localhost{answer.headers['location']}")
    assert (found.status_code, found.json(), found.headers["etag"]) == (200, body, '"1"')


@rule("S3.13", "S4.18")
async def test_the_answer_is_what_was_sent_and_how_far_it_has_come(api: httpx2.AsyncClient) -> None:
    body = await made(api, **FULL)
    assert {name: body[name] for name in FULL} == FULL
    assert (body["scheduleType"], body["status"], body["health"]) == ("cron", "pending", "on_time")
    assert (body["maxRetries"], body["revision"], body["createdBy"]) == (4, 1, None)
    assert (body["nextFireAt"], body["lastFiredAt"], body["firedAt"], body["attempts"]) == (None, None, None, 0)
    assert datetime.fromisoformat(body["createdAt"]).tzinfo is not None
    assert body["createdAt"].endswith("Z")
    for name in ("everyMs", "intervalMinutes", "dailyTime", "weeklyTime", "monthlyTime", "onceAt", "onPast", "anchor"):
        assert body[name] is None


async def test_keys_and_ids_find_the_same(api: httpx2.AsyncClient) -> None:
    body = await made(api, key="A1.b_c:d@e-f")
    assert (await api.get("/schedules/A1.b_c:d@e-f")).json() == (await api.get(f"/schedules/{body['id']}")).json()


async def test_a_key_in_use_is_told_with_the_existing_id(api: httpx2.AsyncClient) -> None:
    first = await made(api, key="same")
    answer = await api.post("/schedules", json=SMALLEST | {"key": "same"})
    assert (answer.status_code, answer.json()["code"]) == (409, "SCHEDULE_KEY_IN_USE")
    assert answer.json()["existingId"] == first["id"]


async def test_a_client_request_id_in_use_is_told_whatever_became_of_the_schedule(api: httpx2.AsyncClient) -> None:
    first = await made(api, metadata={"clientRequestId": "once"})
    await api.post(f"/schedules/{first['id']}/cancel")
    answer = await api.post("/schedules", json=SMALLEST | {"metadata": {"clientRequestId": "once"}})
    assert (answer.status_code, answer.json()["code"]) == (409, "SCHEDULE_CLIENT_REQUEST_ID_IN_USE")
    assert answer.json()["existingId"] == first["id"]


async def test_lists_page_by_cursor_and_carry_no_payload(api: httpx2.AsyncClient, app: Duly) -> None:
    ids: list[str] = []
    for _ in range(5):
        ids.append((await made(api, jobPayload={"secret": 1}))["id"])
        await a_moment_later(app)
    seen: list[str] = []
    cursor = None
    while True:
        parameters = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await api.get("/schedules", params=parameters)).json()
        assert set(page) == {"items", "nextCursor"}
        assert all("jobPayload" not in item for item in page["items"])
        seen += [item["id"] for item in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == ids


@rule("S3.62", "S4.42")
@pytest.mark.parametrize(
    "parameters, keys",
    [
        ({"enabled": "true"}, {"a"}),
        ({"enabled": "false"}, {"b"}),
        ({"jobType": "other"}, {"b"}),
        ({"owner": "ann"}, {"a"}),
        ({"tenant": "acme"}, {"b"}),
        ({"topic": "billing.invoice"}, {"c"}),
        ({"tag": "x"}, {"a"}),
        ({"status": "pending"}, {"a", "b"}),
        ({"status": "cancelled"}, {"c"}),
        ({"q": "100%"}, {"b"}),
        ({"q": "nigh"}, {"a"}),
        ({"q": "a", "owner": "bob"}, set()),
    ],
)
async def test_lists_can_be_narrowed(api: httpx2.AsyncClient, parameters: dict[str, str], keys: set[str]) -> None:
    await made(api, key="a", tags=["x"], metadata={"ownerId": "ann"})
    await made(api, key="b", name="100% sure", jobType="other", enabled=False, metadata={"tenantId": "acme"})
    await made(api, key="c", name="third", jobType=None, topic="billing.invoice")
    await api.post("/schedules/c/cancel")
    found = (await api.get("/schedules", params=parameters)).json()["items"]
    assert {item["key"] for item in found} - ({"c"} if parameters.get("enabled") == "true" else set()) == keys


@rule("S4.36")
async def test_patch_merges_and_answers_the_new_revision(api: httpx2.AsyncClient, app: Duly) -> None:
    before = await made(api, key="k")
    await a_moment_later(app)
    answer = await api.patch("/schedules/k", json={"priority": 9}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
    assert {name for name in before if before[name] != answer.json()[name]} == {"priority", "revision", "updatedAt"}


@pytest.mark.parametrize("etag", ['"1"', '"7"', 'W/"2"', '"x"'])
async def test_another_revision_than_the_present_one_is_412(api: httpx2.AsyncClient, etag: str) -> None:
    await made(api, key="k")
    now = (await api.patch("/schedules/k", json={"priority": 1}, headers={"If-Match": "*"})).json()
    for answer in (
        await api.patch("/schedules/k", json={"priority": 9}, headers={"If-Match": etag}),
        await api.put("/schedules/k", json=SMALLEST | {"priority": 9}, headers={"If-Match": etag}),
        await api.delete("/schedules/k", headers={"If-Match": etag}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (412, "SCHEDULE_REVISION_STALE")
        assert answer.json()["revision"] == now["revision"]
    assert (await api.get("/schedules/k")).json() == now


async def test_put_creates_and_then_replaces(api: httpx2.AsyncClient) -> None:
    first = await api.put("/schedules/k", json=SMALLEST | {"priority": 3})
    assert (first.status_code, first.json()["key"], first.headers["etag"]) == (201, "k", '"1"')
    second = await api.put("/schedules/k", json={"everyMs": 5000, "jobType": "other"})
    assert (second.status_code, second.json()["id"]) == (200, first.json()["id"])
    shown = second.json()
    assert (shown["name"], shown["everyMs"], shown["jobType"], shown["priority"]) == ("k", 5000, "other", 0)


async def test_put_knows_an_id_that_is_there_and_makes_none_up(api: httpx2.AsyncClient) -> None:
    first = await made(api, key="k")
    answer = await api.put(f"/schedules/{first['id']}", json=SMALLEST | {"priority": 3})
    assert (answer.status_code, answer.json()["key"], answer.json()["priority"]) == (200, "k", 3)
    unknown = first["id"][:-1] + ("e" if first["id"].endswith("f") else "f")
    assert (await api.put(f"/schedules/{unknown}", json=SMALLEST)).status_code == 404
    assert (await api.put("/schedules/k", json=SMALLEST | {"key": "other"})).status_code == 422


@rule("S4.38")
async def test_delete_is_204_twice_and_frees_the_key(api: httpx2.AsyncClient) -> None:
    first = await made(api, key="k")
    run = (await api.post("/schedules/k/trigger")).json()
    for ref in (first["id"], first["id"], "k"):
        answer = await api.delete(f"/schedules/{ref}")
        assert (answer.status_code, answer.content) == (204, b"")
    assert (await api.get("/schedules/k")).status_code == 404
    kept = (await api.get("/runs", params={"scheduleId": first["id"]})).json()["items"]
    assert [(item["id"], item["status"]) for item in kept] == [(run["id"], "cancelled")]
    assert (await made(api, key="k"))["id"] != first["id"]


async def test_a_delete_of_what_never_was_is_404(api: httpx2.AsyncClient) -> None:
    for ref in ("01890000-0000-7000-8000-000000000000", "never"):
        answer = await api.delete(f"/schedules/{ref}")
        assert (answer.status_code, answer.json()["code"]) == (404, "SCHEDULE_JOB_NOT_FOUND")
        assert (await api.delete(f"/schedules/{ref}?purge=true")).status_code == 404


async def test_pause_and_resume_answer_the_schedule(api: httpx2.AsyncClient) -> None:
    await made(api, key="k")
    until = "2099-01-07T09:00:00Z"
    paused = await api.post("/schedules/k/pause", json={"reason": "on leave", "until": until})
    body = paused.json()
    assert (paused.status_code, body["enabled"], body["pausedReason"]) == (200, False, "on leave")
    assert (body["pausedUntil"], body["nextFireAt"]) == (until, None)
    resumed = await api.post("/schedules/k/resume", json={"catchUp": False})
    body = resumed.json()
    assert (resumed.status_code, body["enabled"], body["pausedReason"], body["pausedUntil"]) == (200, True, None, None)
    assert body["nextFireAt"] is not None


@pytest.mark.parametrize("verb, status", [("pause", 200), ("resume", 200), ("cancel", 200), ("trigger", 202)])
async def test_the_body_of_an_action_may_be_absent(api: httpx2.AsyncClient, verb: str, status: int) -> None:
    await made(api, key="k")
    assert (await api.post(f"/schedules/k/{verb}")).status_code == status
    assert (await api.post(f"/schedules/k/{verb}", json={})).status_code in (status, 409)


async def test_cancel_twice_is_fine(api: httpx2.AsyncClient) -> None:
    await made(api, key="k")
    for _ in range(2):
        answer = await api.post("/schedules/k/cancel")
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    answer = await api.post("/schedules/k/resume")
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


@rule("S2.34")
async def test_a_reschedule_is_201_with_the_new_one_and_the_old_one_knows_it(api: httpx2.AsyncClient) -> None:
    old = await made(api, key="k", cronExpression=None, onceAt="2099-01-01T12:00", timezone="Asia/Kolkata", tags=["x"])
    answer = await api.post("/schedules/k/reschedule", json={"cronExpression": "0 9 * * *"})
    assert answer.status_code == 201, answer.text
    new = answer.json()
    assert answer.headers["location"].endswith(f"/schedules/{new['id']}")
    assert (new["key"], new["status"], new["replaces"], new["tags"]) == ("k", "pending", old["id"], ["x"])
    assert (new["cronExpression"], new["onceAt"]) == ("0 9 * * *", None)
    gone = (await api.get(f"/schedules/{old['id']}")).json()
    assert (gone["status"], gone["replacedBy"]) == ("cancelled", new["id"])
    for body, pointer in (({}, ""), ({"cronExpression": "x"}, "/cronExpression"), ({"name": "y"}, "/name")):
        refused = await api.post("/schedules/k/reschedule", json=body)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)
    assert (await api.get("/schedules/k")).json()["id"] == new["id"]


@rule("S3.65")
async def test_trigger_makes_a_run_and_moves_nothing(api: httpx2.AsyncClient) -> None:
    before = await made(api, key="k", jobPayload={"user": 1})
    await api.post("/schedules/k/pause")
    answer = await api.post("/schedules/k/trigger", json={"payload": {"user": 2}})
    run = answer.json()
    assert (answer.status_code, run["kind"], run["windowKey"], run["status"]) == (202, "manual", None, "pending")
    assert (run["payload"], run["scheduleId"], run["attemptNumber"]) == ({"user": 2}, before["id"], 1)
    assert answer.headers["location"] == f"/api/v1/runs/{run['id']}"
    after = (await api.get("/schedules/k")).json()
    assert (after["nextWindowAt"], after["status"]) == (before["nextWindowAt"], "pending")


@rule("D6")
async def test_a_run_that_has_not_ended_stands_in_the_way_unless_forced(api: httpx2.AsyncClient) -> None:
    await made(api, key="k")
    first = (await api.post("/schedules/k/trigger")).json()
    answer = await api.post("/schedules/k/trigger")
    assert (answer.status_code, answer.json()["code"]) == (409, "SCHEDULE_RUN_ACTIVE")
    assert answer.json()["runId"] == first["id"]
    assert (await api.post("/schedules/k/trigger", json={"force": True})).status_code == 202


@rule("S3.66")
@pytest.mark.duly_start("2026-01-05T00:30:00Z")
async def test_executions_are_newest_first_and_can_be_narrowed(api: httpx2.AsyncClient, app: Duly) -> None:
    await made(api, key="k", cronExpression=None, everyMs=3_600_000, fireCurrentWindow=True)
    await app._store.fire_due(limit=10, rules=app.settings.fire_rules)
    await api.post("/schedules/k/trigger", json={"force": True})
    items = (await api.get("/schedules/k/executions")).json()["items"]
    assert {item["kind"] for item in items} == {"window", "manual"}
    times = [datetime.fromisoformat(item["scheduledAt"]) for item in items]
    assert times == sorted(times, reverse=True)
    one = (await api.get("/schedules/k/executions", params={"limit": 1})).json()
    assert [item["id"] for item in one["items"]] == [items[0]["id"]]
    rest = (await api.get("/schedules/k/executions", params={"cursor": one["nextCursor"]})).json()
    assert [item["id"] for item in rest["items"]] == [items[1]["id"]]
    assert (await api.get("/schedules/k/executions", params={"status": "failed"})).json()["items"] == []
    found = (await api.get(f"/runs/{items[0]['windowKey'] or items[1]['windowKey']}")).json()
    assert found["kind"] == "window"


@pytest.mark.duly_start("2026-01-05T00:00:00Z")
async def test_upcoming_and_preview_tell_the_same_windows(api: httpx2.AsyncClient) -> None:
    timing = {"cronExpression": "30 2 * * *", "timezone": "Europe/Berlin"}
    await made(api, key="k", **timing)
    upcoming = (await api.get("/schedules/k/upcoming", params={"count": 3})).json()["items"]
    preview = (await api.post("/schedules:preview", json=timing | {"count": 3})).json()
    assert preview["items"] == upcoming
    assert [set(item) for item in upcoming] == [{"windowAt", "fireAt", "localTime", "note"}] * 3
    assert len((await api.get("/schedules/k/upcoming")).json()["items"]) == 10


async def test_preview_tells_what_the_clocks_do(api: httpx2.AsyncClient) -> None:
    body = {"dailyTime": {"hour": 2, "minute": 30}, "timezone": "Europe/Berlin", "after": "2027-03-28T00:00:00Z"}
    answer = (await api.post("/schedules:preview", json=body | {"count": 1})).json()
    assert (answer["cronExpression"], answer["explanation"]) == ("30 2 * * *", "At 02:30 every day, Europe/Berlin")
    assert answer["items"] == [
        {
            "windowAt": "2027-03-28T01:00:00Z",
            "fireAt": "2027-03-28T01:00:00Z",
            "localTime": "2027-03-28T03:00:00+02:00",
            "note": "02:30 does not exist that day (clocks go forward); fires at 03:00",
        }
    ]


@pytest.mark.parametrize(
    ("once_at", "shown", "note"),
    [
        ("2098-03-30T02:30:00", "2098-03-30T03:00:00+02:00", "02:30 does not exist that day (clocks go forward)"),
        ("2098-10-26T02:30:00", "2098-10-26T02:30:00+02:00", "02:30 comes twice that day (clocks go back)"),
        ("2098-03-30T01:00:00Z", "2098-03-30T03:00:00+02:00", ""),
        ("2098-03-29T02:30:00", "2098-03-29T02:30:00+01:00", ""),
    ],
)
async def test_preview_tells_what_the_clocks_do_to_one_moment(
    api: httpx2.AsyncClient, once_at: str, shown: str, note: str
) -> None:
    body = {"onceAt": once_at, "timezone": "Europe/Berlin"}
    (item,) = (await api.post("/schedules:preview", json=body)).json()["items"]
    assert item["localTime"] == shown
    assert (item["note"] or "").startswith(note)
    assert (item["note"] is None) == (note == "")


async def test_the_secret_of_a_webhook_is_never_shown(api: httpx2.AsyncClient) -> None:
    target = {"kind": "webhook", "url": "https://example.com/hook"}
    secret = write_secret(bytes(32))
    body = await made(api, key="k", jobType=None, target={**target, "secret": secret}, topic="billing.invoice")
    assert (body["target"], body["topic"], body["jobType"]) == (target, "billing.invoice", None)
    for path in ("/schedules", "/schedules/k"):
        assert "whsec" not in (await api.get(path)).text


async def test_a_target_is_replaced_by_another(api: httpx2.AsyncClient) -> None:
    await made(api, key="k")
    body = (await api.patch("/schedules/k", json={"topic": "billing.invoice"})).json()
    assert (body["topic"], body["jobType"], body["target"]) == ("billing.invoice", None, None)


async def test_null_puts_back_the_default(api: httpx2.AsyncClient) -> None:
    given = {name: FULL[name] for name in FULL if name not in ("name", "key", "cronExpression", "jobType", "enabled")}
    plain = await made(api)
    await made(api, key="full", **given | {"metadata": {"ownerId": "o", "correlationId": "c"}})
    nothing = dict.fromkeys(given.keys() - {"fireCurrentWindow", "timeoutSeconds"})
    body = (await api.patch("/schedules/full", json=nothing)).json()
    differing = {name for name in plain if plain[name] != body[name]}
    assert differing <= {"id", "key", "name", "timeoutSeconds", "revision", "createdAt", "updatedAt"}


async def test_a_rename_is_seen_by_who_compares_revisions(api: httpx2.AsyncClient) -> None:
    await api.post("/schedules", json=SMALLEST | {"key": "k"})
    renamed = await api.patch("/schedules/k", json={"name": "another"})
    assert (renamed.json()["revision"], renamed.headers["etag"]) == (2, '"2"')
    stale = await api.patch("/schedules/k", json={"name": "a third"}, headers={"If-Match": '"1"'})
    assert stale.status_code == 412


@pytest.mark.parametrize("timing", [{"everyMs": 60_000}, {"onceAt": "2099-03-15T14:00:00"}])
async def test_the_zone_is_echoed_whatever_the_timing(api: httpx2.AsyncClient, timing: dict[str, Any]) -> None:
    zone = {"timezone": "Europe/London"}
    made = await api.post("/schedules", json={"name": "n", "key": "z", "jobType": "j", **timing, **zone})
    assert made.json()["timezone"] == "Europe/London"
    assert (await api.get("/schedules/z")).json()["timezone"] == "Europe/London"
    patched = await api.patch("/schedules/z", json={"priority": 3})
    assert (patched.json()["timezone"], patched.json()["onceAt"]) == ("Europe/London", made.json()["onceAt"])
    (coming, *_) = (await api.get("/schedules/z/upcoming?count=1")).json()["items"]
    at, local = datetime.fromisoformat(coming["windowAt"]), datetime.fromisoformat(coming["localTime"])
    assert (local, local.utcoffset()) == (at, at.astimezone(ZoneInfo("Europe/London")).utcoffset())


async def test_jitter_without_a_least_delay_begins_at_none(api: httpx2.AsyncClient) -> None:
    assert (await made(api, jitter={"maxMs": 2000}))["jitter"] == {"minMs": 0, "maxMs": 2000}


async def test_what_a_newer_version_wrote_is_a_conflict_and_no_fault_of_the_server(
    api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = await made(api, key="k")
    monkeypatch.setattr(schedules, "decode_body", _cannot)

    answer = await api.get(f"/schedules/{kept['id']}")

    assert (answer.status_code, answer.json()["code"]) == (409, "DEFINITION_UNREADABLE")


def _cannot(*stored: str) -> None:
    raise UnreadableDefinition("the stored definition cannot be read by this version: overlap is 'sideways'")


async def test_a_put_keeps_the_client_request_id_and_takes_no_other(api: httpx2.AsyncClient, app: Duly) -> None:
    await made(api, key="other", metadata={"clientRequestId": "theirs"})
    first = await made(api, key="k", metadata={"clientRequestId": "mine"})
    for metadata in ({}, {"clientRequestId": "mine"}, {"clientRequestId": None}):
        answer = await api.put("/schedules/k", json=SMALLEST | {"metadata": metadata})
        assert (answer.status_code, answer.json()["metadata"]["clientRequestId"]) == (200, "mine")
    for given in ("new", "theirs"):
        answer = await api.put("/schedules/k", json=SMALLEST | {"metadata": {"clientRequestId": given}})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/metadata/clientRequestId")
        with pytest.raises(ValidationFailed):
            await app.schedules.put("k", Every("1h"), job="x", metadata={"client_request_id": given})
    assert (await api.get("/schedules/k")).json()["id"] == first["id"]
    await api.post("/schedules/k/cancel")
    anew = await api.put("/schedules/k", json=SMALLEST | {"metadata": {"clientRequestId": "new"}})
    assert (anew.status_code, anew.json()["metadata"]["clientRequestId"]) == (201, "new")


async def test_a_payload_has_as_many_members_as_fit_into_its_size(api: httpx2.AsyncClient) -> None:
    payload = {f"{number:x}": 1 for number in range(12_000)}
    assert (await made(api, key="k", jobPayload=payload))["jobPayload"] == payload
    narrow = [{"": 0}] * 32_000
    assert (await made(api, key="narrow", jobPayload=narrow))["jobPayload"] == narrow
    answer = await api.post("/schedules", json=SMALLEST | {"jobPayload": [{"": 0}] * 70_000})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_JSON")
