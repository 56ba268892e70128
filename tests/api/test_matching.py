"""If-Match and If-None-Match: what was read, and nothing else, is changed."""

import asyncio
from typing import Any

import httpx2
import pytest

from duly import Duly
from duly.api.application import application
from duly.api.auth.guard import Guard, Policy
from tests.api.conftest import client_of
from tests.store_choice import postgres_too

BODY = {"cronExpression": "0 2 * * *", "jobType": "x"}
STALE = (412, "SCHEDULE_REVISION_STALE")


async def made(api: httpx2.AsyncClient) -> None:
    assert (await api.put("/schedules/s", json=BODY)).status_code == 201


async def ask(api: httpx2.AsyncClient, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = await api.request(method, f"/schedules/{path}", json=body, headers=named)
    return answer.status_code, answer.json().get("code") if answer.content else None


@pytest.mark.parametrize("tag", ['"1"', '"9", "1"', '"1","x"', "*", 'W/"1", "1"'])
async def test_a_tag_that_fits_lets_the_change_through(api: httpx2.AsyncClient, tag: str) -> None:
    await made(api)
    assert (await ask(api, "PATCH", "s", {"name": "n"}, if_match=tag))[0] == 200


@pytest.mark.parametrize("tags", [('"1"', '"9"'), ('"9"', '"1"')])
async def test_tags_on_lines_of_their_own_are_one_list(api: httpx2.AsyncClient, tags: tuple[str, ...]) -> None:
    await made(api)
    lines = [("If-Match", tag) for tag in tags]
    assert (await api.patch("/schedules/s", json={"name": "n"}, headers=lines)).status_code == 200


@pytest.mark.parametrize("tag", ['"2"', 'W/"1"', '"2", "3"', '"01"', '"abc"', '""'])
async def test_a_tag_that_does_not_fit_is_412(api: httpx2.AsyncClient, tag: str) -> None:
    await made(api)
    assert await ask(api, "PATCH", "s", {"name": "n"}, if_match=tag) == STALE
    assert await ask(api, "PUT", "s", BODY, if_match=tag) == STALE
    assert await ask(api, "DELETE", "s", if_match=tag) == STALE


@pytest.mark.parametrize("tag", ["1", "x", "", '"1', '"1" "2"', '*, "1"'])
async def test_what_is_no_tag_is_400(api: httpx2.AsyncClient, tag: str) -> None:
    await made(api)
    assert await ask(api, "PATCH", "s", {"name": "n"}, if_match=tag) == (400, "INVALID_HEADER")


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "trigger"])
async def test_the_actions_heed_it_too(api: httpx2.AsyncClient, verb: str) -> None:
    await made(api)
    assert await ask(api, "POST", f"s/{verb}", if_match='"2"') == STALE
    now = (await api.get("/schedules/s")).json()
    assert (now["status"], now["enabled"]) == ("pending", True)
    assert (await ask(api, "POST", f"s/{verb}", if_match='"1"'))[0] in (200, 202)


@postgres_too("several writers at once")
async def test_changes_at_once_without_a_tag_all_go_through(api: httpx2.AsyncClient) -> None:
    await made(api)
    changes = [{"catchUp": {"maxRuns": number}} for number in range(1, 25)]
    answers = await asyncio.gather(*(ask(api, "PATCH", "s", change) for change in changes))
    assert answers == [(200, None)] * len(changes), "nobody asked for a revision"
    assert (await api.get("/schedules/s")).json()["revision"] == 1 + len(changes)


async def test_put_may_be_told_to_create_only(api: httpx2.AsyncClient) -> None:
    assert (await ask(api, "PUT", "s", BODY, if_none_match="*"))[0] == 201
    assert await ask(api, "PUT", "s", BODY, if_none_match="*") == STALE


UNKNOWN = "01890000-0000-7000-8000-000000000000"
TAGS = ["*", '"1"', 'W/"1"', '"1", "2"', '"abc"']


@pytest.mark.parametrize("tag", TAGS)
async def test_a_put_that_is_meant_for_what_is_there_creates_nothing(api: httpx2.AsyncClient, tag: str) -> None:
    assert await ask(api, "PUT", "t", BODY, if_match=tag) == STALE
    assert (await api.get("/schedules")).json()["items"] == []
    answer = await api.put("/calendars/c", json={"dates": []}, headers={"If-Match": tag})
    assert (answer.status_code, answer.json()["code"]) == STALE
    assert (await api.get("/calendars")).json()["items"] == []


@pytest.mark.parametrize("tag", TAGS)
async def test_where_nothing_could_be_it_stays_404_whatever_the_tag(api: httpx2.AsyncClient, tag: str) -> None:
    """RFC 9110, 13.2.1: a condition is not looked at where the answer without it would be no success."""
    unknown = (404, "SCHEDULE_JOB_NOT_FOUND")
    assert await ask(api, "PUT", UNKNOWN, BODY, if_match=tag) == unknown
    assert await ask(api, "PUT", "no spaces", BODY, if_match=tag) == unknown
    assert await ask(api, "PATCH", "t", {"name": "n"}, if_match=tag) == unknown
    assert await ask(api, "POST", "t/pause", if_match=tag) == unknown
    answer = await api.put("/calendars/no spaces", json={"dates": []}, headers={"If-Match": tag})
    assert (answer.status_code, answer.json()["code"]) == (404, "CALENDAR_NOT_FOUND")


@pytest.mark.parametrize("tag, status", [('"1"', 200), ('"7", "1"', 200), ("*", 200), ('W/"1"', 412), ('"0"', 412)])
async def test_the_tags_of_a_calendar_are_compared_as_those_of_a_schedule(
    api: httpx2.AsyncClient, tag: str, status: int
) -> None:
    await api.put("/calendars/c", json={"dates": []})
    answer = await api.put("/calendars/c", json={"dates": ["2027-01-01"]}, headers={"If-Match": tag})
    assert answer.status_code == status
    assert answer.json()["revision"] == (2 if status == 200 else 1), "a problem tells the present one"


async def test_allow_names_head(api: httpx2.AsyncClient) -> None:
    answer = await api.delete("/runs")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")


async def test_a_server_may_ask_for_the_revision_that_is_meant(app: Duly) -> None:
    guard = Guard(app, Policy(require_if_match=True))
    async with client_of(application(app, guard=guard), "http://localhost/api/v1") as api:
        body = {"everyMs": 3_600_000, "jobType": "work"}
        assert (await api.put("/schedules/k", json=body)).status_code == 201
        for method, given in (("PATCH", {"priority": 1}), ("PUT", body), ("DELETE", None)):
            answer = await api.request(method, "/schedules/k", json=given)
            assert (answer.status_code, answer.json()["code"]) == (428, "PRECONDITION_REQUIRED")
        assert (await api.get("/schedules/k")).json()["revision"] == 1
        assert (await api.put("/schedules/k", json=body, headers={"If-None-Match": "*"})).status_code == 412
        assert (await api.post("/schedules/k/pause")).status_code == 200
        for method, given in (("PATCH", {"priority": 1}), ("PUT", body), ("DELETE", None), ("DELETE", None)):
            answer = await api.request(method, "/schedules/k", json=given, headers={"If-Match": "*"})
            assert answer.is_success, answer.text
