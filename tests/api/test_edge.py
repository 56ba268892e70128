"""The edge: ids, headers, paths, errors that nobody foresaw, an absent store, and a mount inside another app."""

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from duly import Duly
from duly.api.application import application
from duly.api.auth.guard import Guard
from duly.core.credential import ANYBODY, Caller
from duly.core.errors import DulyError, OutcomeUnknown, StoreUnavailable
from tests.api.conftest import client_of, sqlite_url

BASE = {"name": "x", "cronExpression": "0 2 * * *", "jobType": "x"}
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The edge does not ask which store it is."""
    return sqlite_url(tmp_path)


async def test_a_request_id_is_answered_or_made(api: httpx2.AsyncClient) -> None:
    made = [(await api.get("/runs")).headers["x-request-id"] for _ in range(3)]
    assert len(set(made)) == 3
    assert (await api.get("/runs", headers={"X-Request-ID": "abc-1"})).headers["x-request-id"] == "abc-1"
    for bad in ("a b", "x" * 129, 'a"b'):
        answer = await api.get("/runs", headers={"X-Request-ID": bad})
        assert ID.match(answer.headers["x-request-id"])
    problem = await api.get("/nope", headers={"X-Request-ID": "abc-2"})
    assert (problem.headers["x-request-id"], problem.json()["requestId"]) == ("abc-2", "abc-2")


@pytest.mark.parametrize("path", ["/api/v1/schedules", "/api/v1/nope", "/docs", "/", "/openapi.json"])
async def test_every_answer_has_its_safe_headers(app: Duly, path: str) -> None:
    async with client_of(application(app)) as client:
        headers = (await client.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "server" not in headers


async def test_a_path_that_is_not_there_is_a_problem(app: Duly) -> None:
    async with client_of(application(app)) as client:
        for path in ("/nope", "/api/v1", "/api/v1/schedules/", "/api/v2/schedules", "/docs/../x", "/docs/nope.js"):
            answer = await client.get(path, headers={"accept": "text/html", "host": "evil.example"})
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
            assert answer.json()["code"] == "NOT_FOUND"
            assert "evil" not in answer.text


@pytest.mark.parametrize(
    "method, path, allow",
    [
        ("PATCH", "/schedules", "GET, HEAD, POST"),
        ("POST", "/schedules/k", "DELETE, GET, HEAD, PATCH, PUT"),
        ("GET", "/schedules/k/pause", "POST"),
        ("DELETE", "/runs", "GET, HEAD, POST"),
        ("GET", "/schedules:preview", "POST"),
        ("OPTIONS", "/runs", "GET, HEAD, POST"),
    ],
)
async def test_a_method_that_is_not_there_is_405(api: httpx2.AsyncClient, method: str, path: str, allow: str) -> None:
    answer = await api.request(method, path)
    assert (answer.status_code, answer.json()["code"], answer.headers["allow"]) == (405, "METHOD_NOT_ALLOWED", allow)


async def test_a_page_of_another_site_changes_nothing(api: httpx2.AsyncClient) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = await api.post("/schedules", json=BASE, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "CROSS_SITE_REQUEST")
    assert (await api.get("/schedules", headers=headers)).json()["items"] == []
    assert (await api.post("/schedules", json=BASE, headers={"Sec-Fetch-Site": "same-origin"})).status_code == 201


async def test_an_error_that_nobody_foresaw_says_nothing_and_is_logged(
    api: httpx2.AsyncClient, app: Duly, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(**_: Any) -> None:
        raise RuntimeError("SELECT * FROM /etc/passwd")

    monkeypatch.setattr(app.schedules, "list", broken)
    with caplog.at_level(logging.ERROR, "duly.api"):
        answer = await api.get("/schedules", headers={"X-Request-ID": "find-me"})
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_ERROR")
    assert "SELECT" not in answer.text
    assert "passwd" not in answer.text
    assert "find-me" in caplog.text
    assert "SELECT * FROM /etc/passwd" in caplog.text


@pytest.mark.parametrize(
    "error, code",
    [
        (StoreUnavailable("cannot open /var/lib/secret.db"), "STORE_UNAVAILABLE"),
        (OutcomeUnknown("lost after UPDATE duly_runs"), "OUTCOME_UNKNOWN"),
    ],
)
async def test_an_absent_store_is_503_and_worth_another_try(
    api: httpx2.AsyncClient, app: Duly, monkeypatch: pytest.MonkeyPatch, error: DulyError, code: str
) -> None:
    async def absent(*_: Any, **__: Any) -> None:
        raise error

    for name in ("put_schedules", "list_schedules", "get_schedule", "enqueue", "trigger", "change_schedule"):
        monkeypatch.setattr(app._store, name, absent)
    for answer, expected in (
        (await api.post("/schedules", json=BASE), code),
        (await api.get("/schedules"), code),
        (await api.get("/schedules/k"), code),
        (await api.post("/schedules/k/pause"), code),
        (await api.delete("/schedules/k"), code),
        (await api.post("/schedules/k/trigger"), "SCHEDULE_ENQUEUE_FAILURE"),
        (await api.post("/runs", json={"jobType": "x"}), "SCHEDULE_ENQUEUE_FAILURE"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (503, expected)
        assert int(answer.headers["retry-after"]) >= 1
        assert "secret" not in answer.text
        assert "UPDATE" not in answer.text
        if expected == "SCHEDULE_ENQUEUE_FAILURE":
            assert ID.fullmatch(answer.json()["id"])


async def test_an_app_that_is_not_open_is_500_and_tells_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(application(Duly(sqlite_url(tmp_path)))) as client:
        answer = await client.get("/api/v1/schedules")
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_ERROR")
    assert "this app is not open" in caplog.text


async def test_a_request_has_a_deadline(app: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stuck(**_: Any) -> None:
        await asyncio.Event().wait()

    async def caller(*_: object) -> Caller:
        return ANYBODY  # at once, so that nothing but the list can take too long

    monkeypatch.setattr(app.schedules, "list", stuck)
    monkeypatch.setattr(Guard, "caller", caller)
    async with client_of(application(app, deadline=0.05)) as client:
        answer = await client.get("/api/v1/schedules")
        assert (answer.status_code, answer.json()["code"]) == (503, "OUTCOME_UNKNOWN")


async def test_a_body_that_never_arrives_is_408(app: Duly) -> None:
    async def never() -> Any:
        yield b"{"
        await asyncio.Event().wait()

    async with client_of(application(app, deadline=0.05)) as client:
        answer = await client.post("/api/v1/runs", content=never(), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (408, "REQUEST_TIMEOUT")


def mounted_in_starlette(api: Starlette) -> object:
    return Starlette(routes=[Mount("/duly", api)])


def mounted_in_fastapi(api: Starlette) -> object:
    outer = FastAPI()
    outer.mount("/duly", api)
    return outer


@pytest.mark.parametrize("mounted", [mounted_in_starlette, mounted_in_fastapi])
async def test_mounted_inside_another_app_every_link_knows_it(
    app: Duly, mounted: Callable[[Starlette], object]
) -> None:
    async with client_of(mounted(application(app))) as client:
        made = await client.post("/duly/api/v1/schedules", json=BASE)
        assert made.headers["location"].startswith("/duly/api/v1/schedules/")
        assert (await client.get(made.headers["location"])).json()["id"] == made.json()["id"]
        assert (await client.get("/duly/openapi.json")).json()["servers"] == [{"url": "/duly"}]
        docs = (await client.get("/duly/docs")).text
        links = re.findall(r'(?:src|href|data-document)="([^"]+)"', docs + (await client.get("/duly/")).text)
        assert len(links) >= 8
        assert all(link.startswith("/duly/") for link in links)
        for link in links:
            assert (await client.get(link)).status_code == 200, link
        assert (await client.get("/duly/nope")).headers["content-type"] == "application/problem+json"


async def test_the_page_of_the_api_needs_nothing_from_elsewhere(app: Duly) -> None:
    async with client_of(application(app)) as client:
        page = await client.get("/docs")
        assert "//" not in page.text.replace("<!doctype html>", "")
        start = (await client.get("/docs/start.js")).text
        assert "//" not in start
        script = await client.get("/docs/swagger-ui-bundle.js")
        assert (script.status_code, script.headers["content-type"].partition(";")[0]) == (200, "text/javascript")
        assert len(script.content) > 1_000_000
        assert (await client.get("/docs/swagger-ui.css")).headers["content-type"].startswith("text/css")
        assert "script-src 'self';" in page.headers["content-security-policy"]


async def test_routes_of_others_are_served_with_the_same_care(app: Duly) -> None:
    async def broken(request: Request) -> Response:
        raise RuntimeError("no")

    async with client_of(application(app, routes=[Route("/extra", broken)])) as client:
        answer = await client.get("/extra")
        assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_ERROR")
        answer = await client.post("/extra")
        assert (answer.status_code, answer.json()["code"]) == (405, "METHOD_NOT_ALLOWED")


async def test_head_answers_like_get(api: httpx2.AsyncClient) -> None:
    assert (await api.head("/schedules")).status_code == 200
    assert (await api.head("/schedules/nope")).status_code == 404
    assert (await api.head("/schedules:preview")).status_code == 405
