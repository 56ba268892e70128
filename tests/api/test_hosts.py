"""A server on loopback answers to its own names: a page that points its name at this machine gets nothing."""

from pathlib import Path

import pytest

from duly import Duly
from duly.api.application import application
from duly.api.hosts import Hosts
from tests.api.conftest import client_of, sqlite_url

NOT_THERE = (404, "SCHEDULE_JOB_NOT_FOUND")
"""What is answered to whoever is let in."""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return sqlite_url(tmp_path)


async def ask(app: Duly, hosts: Hosts | None, method: str = "GET", **headers: str) -> tuple[int, str | None]:
    async with client_of(application(app, hosts=hosts)) as client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await client.request(method, "/api/v1/schedules/x", headers=named)
    return answer.status_code, answer.json().get("code") if answer.content else None


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.1.2.3", "[::1]:80", "duly.test:1"]
)
async def test_its_own_names_are_answered(app: Duly, host: str) -> None:
    assert await ask(app, Hosts(["duly.test"]), host=host) == NOT_THERE


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:8080", "10.0.0.1", "127.0.0.1.evil.example", "", "["]
)
async def test_other_names_are_not(app: Duly, host: str) -> None:
    assert await ask(app, Hosts(), host=host) == (421, "HOST_NOT_ALLOWED")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example:8080"])
async def test_a_foreign_origin_changes_nothing(app: Duly, origin: str) -> None:
    guarded = Hosts()
    assert await ask(app, guarded, "DELETE", host="localhost", origin=origin) == (403, "CROSS_SITE_REQUEST")
    assert await ask(app, guarded, "DELETE", host="localhost", origin="http://localhost") == NOT_THERE
    assert (await ask(app, guarded, host="localhost", origin=origin))[0] == 404


async def test_a_mounted_application_leaves_names_to_its_host_once_there_is_a_key(app: Duly) -> None:
    key = await app.keys.create("admin", scopes=["admin"])
    known = {"host": "evil.example", "origin": "https://other.example", "authorization": f"Bearer {key.text}"}
    assert await ask(app, None, "DELETE", **known) == NOT_THERE
