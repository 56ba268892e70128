"""``/webhooks`` over REST: made, looked at, changed, rotated, tried and ended; a secret is shown once."""

from typing import Any

import httpx2
import pytest

from duly import Duly
from duly.core.signing import write_secret
from duly.core.webhook import EVENTS, JOB

pytestmark = pytest.mark.asyncio(loop_scope="module")
BODY = {"url": "https://example.com/duly", "events": ["schedule.missed", "run.failed"]}
UNKNOWN = "019363a0-0000-7d83-91f8-20a939dbcd79"


async def made(api: httpx2.AsyncClient, **words: Any) -> dict[str, Any]:
    answer = await api.post("/webhooks", json={**BODY, **words})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"].endswith(f"/webhooks/{answer.json()['id']}")
    return dict(answer.json())


async def test_a_secret_is_shown_when_it_is_made_and_in_no_other_answer(api: httpx2.AsyncClient) -> None:
    mine = write_secret(b"m" * 32)
    one = await made(api, secret=mine)
    assert one["secret"] == mine
    assert one["events"] == ["run.failed", "schedule.missed"]
    seen = [
        await api.get(f"/webhooks/{one['id']}"),
        await api.get("/webhooks"),
        await api.patch(f"/webhooks/{one['id']}", json={"description": "pager"}),
        await api.post(f"/webhooks/{one['id']}/test"),
    ]
    assert [answer.status_code for answer in seen] == [200, 200, 200, 202]
    assert not any(mine in answer.text or "whsec" in answer.text for answer in seen)
    fresh = (await api.post(f"/webhooks/{one['id']}/rotate")).json()
    assert fresh["secret"] not in (mine, None)
    assert fresh["secrets"] == 2
    assert seen[3].json()["jobType"] == JOB


async def test_it_is_changed_and_ended(api: httpx2.AsyncClient) -> None:
    one = await made(api, tag="money", jobType="report")
    assert (one["tag"], one["jobType"], one["enabled"]) == ("money", "report", True)
    changes = {"enabled": False, "tag": None, "events": ["run.completed"], "url": "https://example.com/other"}
    two = (await api.patch(f"/webhooks/{one['id']}", json=changes)).json()
    assert {name: two[name] for name in changes} == changes
    assert two["jobType"] == "report"
    assert (await api.delete(f"/webhooks/{one['id']}")).status_code == 204
    assert (await api.delete(f"/webhooks/{one['id']}")).status_code == 204
    assert (await api.get(f"/webhooks/{one['id']}")).status_code == 404


async def test_a_heartbeat_of_one_schedule(api: httpx2.AsyncClient) -> None:
    body = {"name": "beat", "key": "beat", "everyMs": 60_000, "jobType": "x"}
    schedule = (await api.post("/schedules", json=body)).json()
    answer = await api.post(
        "/webhooks", json={"url": "https://hc-ping.com/x", "kind": "heartbeat", "schedule": schedule["key"]}
    )
    assert answer.json()["scheduleId"] == schedule["id"]
    assert answer.json()["events"] == ["run.completed", "run.failed"]


async def test_pages(api: httpx2.AsyncClient) -> None:
    for _ in range(3):
        await made(api)
    first = (await api.get("/webhooks", params={"limit": 2})).json()
    assert len(first["items"]) == 2
    rest = (await api.get("/webhooks", params={"limit": 200, "cursor": first["nextCursor"]})).json()
    assert not {one["id"] for one in first["items"]} & {one["id"] for one in rest["items"]}
    assert rest["nextCursor"] is None


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"url": "http://127.0.0.1/"}, "/url", "DESTINATION_NOT_ALLOWED"),
        ({"url": "https://metadata.google.internal/"}, "/url", "DESTINATION_NOT_ALLOWED"),
        ({"url": ""}, "/url", "VALIDATION_FAILED"),
        ({"events": []}, "/events", "VALIDATION_FAILED"),
        ({"events": ["run.exploded"]}, "/events/0", "VALIDATION_FAILED"),
        ({"schedule": "none"}, "/schedule", "VALIDATION_FAILED"),
        ({"secret": "hunter2"}, "/secret", "VALIDATION_FAILED"),
        ({"kind": "heartbeat"}, "/events", "VALIDATION_FAILED"),
        ({"kind": "pulse"}, "/kind", "VALIDATION_FAILED"),
        ({"headers": {"Host": "x"}}, "/headers", "VALIDATION_FAILED"),
        ({"enabled": "yes"}, "/enabled", "VALIDATION_FAILED"),
    ],
)
async def test_what_is_not_allowed_is_422_and_says_where(
    api: httpx2.AsyncClient, change: dict[str, Any], pointer: str, code: str
) -> None:
    before = (await api.get("/webhooks", params={"limit": 200})).json()["items"]
    answer = await api.post("/webhooks", json={**BODY, **change})
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert "hunter2" not in answer.text
    assert (await api.get("/webhooks", params={"limit": 200})).json()["items"] == before


@pytest.mark.parametrize("ref", [UNKNOWN, "x", "..%2f"])
async def test_what_is_not_there_is_404(api: httpx2.AsyncClient, ref: str) -> None:
    for answer in (
        await api.get(f"/webhooks/{ref}"),
        await api.patch(f"/webhooks/{ref}", json={"enabled": True}),
        await api.post(f"/webhooks/{ref}/rotate"),
        await api.post(f"/webhooks/{ref}/test"),
    ):
        assert answer.status_code == 404
    assert (await api.get(f"/webhooks/{UNKNOWN}")).json()["code"] == "WEBHOOK_NOT_FOUND"


async def test_the_document_lists_every_event(app: Duly) -> None:
    from duly.api.bodies_webhooks import EventName

    assert sorted(EventName.__args__) == list(EVENTS)  # type: ignore[attr-defined]  # of a Literal
