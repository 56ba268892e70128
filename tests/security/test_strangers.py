"""Who counts as local while no key exists, in process: what a socket of this machine cannot show."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from duly import Duly
from duly.api.application import application
from duly.api.auth.guard import Guard
from duly.api.health import health_routes
from duly.api.hosts import Hosts
from duly.core.errors import ConfigurationError, StoreUnavailable
from duly.dashboard import dashboard
from tests.api.conftest import sqlite_url

LOOPBACK = ("127.0.0.1", 50000)
LOCAL = {
    "127.0.0.1": (LOOPBACK, "localhost:8080"),
    "another of 127/8": (("127.8.9.10", 1), "127.0.0.1"),
    "IPv6": (("::1", 1), "[::1]:8080"),
    "IPv4 within IPv6": (("::ffff:127.0.0.1", 1), "localhost"),
    "a name that hosts= adds": (LOOPBACK, "duly.test:8080"),
}
REMOTE = {
    "no peer address": None,
    "the client of a test tool": ("testclient", 50000),
    "a peer by name": ("localhost", 1),
    "an empty address": ("", 0),
    "the internet": ("203.0.113.5", 1),
    "a private network": ("10.0.0.7", 1),
    "a container's gateway": ("172.17.0.1", 1),
    "IPv6": ("2001:db8::1", 1),
    "IPv4 within IPv6": ("::ffff:203.0.113.5", 1),
}
FORWARDING = (
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
    "X-Forwarded-Server", "X-Forwarded-Prefix", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP", "Client-IP",
    "True-Client-IP", "CF-Connecting-IP", "CF-Ray", "X-Original-Forwarded-For", "X-Envoy-External-Address",
    "X-Amzn-Trace-Id", "Fly-Client-IP", "Fastly-Client-IP", "X-Azure-ClientIP",
)  # fmt: skip


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Duly]:
    app = Duly(sqlite_url(tmp_path))
    await app.open()
    yield app
    await app.close()


@pytest.fixture(params=["API", "dashboard"])
def make(request: pytest.FixtureRequest, app: Duly) -> Any:
    """One of the two applications that are mounted, made as the test says."""
    return lambda **options: application(app, **options) if request.param == "API" else dashboard(app, **options)


async def ask(
    served: Any,
    client: tuple[str, int] | None = LOOPBACK,
    host: str = "localhost",
    method: str = "GET",
    path: str | None = None,
    body: object = None,
    headers: dict[str, str] | None = None,
) -> httpx2.Response:
    if path is None:
        path = "/login" if any(route.path == "/login" for route in served.routes) else "/api/v1/schedules"
    transport = httpx2.ASGITransport(app=served, client=client)  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as asking:
        return await asking.request(method, path, json=body, headers={"host": host, **(headers or {})})


@pytest.mark.parametrize(("client", "host"), LOCAL.values(), ids=LOCAL)
async def test_this_machine_is_served_without_a_key(make: Any, client: tuple[str, int], host: str) -> None:
    assert (await ask(make(hosts=Hosts(["duly.test"])), client, host)).status_code == 200


@pytest.mark.parametrize("client", REMOTE.values(), ids=REMOTE)
async def test_others_are_served_only_where_it_is_open_to_them(make: Any, client: tuple[str, int] | None) -> None:
    refused = await ask(make(), client)
    assert refused.status_code == 401
    assert "duly key create" in refused.text
    assert (await ask(make(open=True), client)).status_code == 200


@pytest.mark.parametrize("header", FORWARDING)
async def test_what_a_proxy_passes_on_is_not_local(make: Any, header: str) -> None:
    assert (await ask(make(), headers={header: "127.0.0.1"})).status_code == 401
    assert (await ask(make(open=True), headers={header: "127.0.0.1"})).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "203.0.113.5", ""])
async def test_a_foreign_name_is_refused_also_where_it_is_open(make: Any, host: str) -> None:
    """A web page that points its own name at this machine asks under that name."""
    for served in (make(), make(open=True)):
        assert (await ask(served, host=host)).status_code == 421


async def test_an_open_server_answers_under_the_address_that_was_called(make: Any) -> None:
    async def at_address(scope: Any, receive: Any, send: Any) -> None:
        await served({**scope, "server": ("192.0.2.7", 8080)}, receive, send)

    served = make(open=True)
    transport = httpx2.ASGITransport(app=at_address, client=("192.0.2.9", 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://192.0.2.7:8080") as asking:
        path = "/login" if any(route.path == "/login" for route in served.routes) else "/api/v1/schedules"
        assert (await asking.get(path)).status_code == 200
        assert (await asking.get(path, headers={"host": "192.0.2.8:8080"})).status_code == 421


async def test_a_guard_decides_for_both_applications(app: Duly) -> None:
    for guard, status in ((Guard(app), 401), (Guard(app, open=True), 200)):
        for served in (application(app, guard=guard), dashboard(app, guard=guard)):
            assert (await ask(served, ("203.0.113.5", 1))).status_code == status
    assert (await ask(application(app, guard=Guard(app, open=True)), host="evil.example")).status_code == 421


async def test_a_guard_and_open_together_are_refused(make: Any, app: Duly) -> None:
    with pytest.raises(ConfigurationError, match="guard and open were both given"):
        make(guard=Guard(app), open=True)


async def test_health_and_documentation_are_for_everybody(app: Duly) -> None:
    served = application(app, routes=health_routes(app))
    for path in ("/docs", "/openapi.json", "/livez", "/version"):
        assert (await ask(served, ("203.0.113.5", 1), path=path)).status_code == 200, path


async def test_the_login_page_leads_nowhere_before_there_is_a_key(app: Duly) -> None:
    served = dashboard(app)
    for method in ("GET", "POST"):
        answer = await ask(served, ("203.0.113.5", 1), method=method, path="/login")
        assert answer.status_code == 401
        assert "duly key create" in answer.text
    await app.keys.create("admin", scopes=["admin"])
    assert (await ask(served, ("203.0.113.5", 1), path="/login")).status_code == 200


async def test_only_this_machine_creates_the_first_key(app: Duly) -> None:
    served = application(app, open=True)
    body = {"name": "admin", "scopes": ["admin"]}
    for client, headers in ((("203.0.113.5", 1), {}), (None, {}), (LOOPBACK, {"x-forwarded-for": "203.0.113.5"})):
        refused = await ask(served, client, method="POST", path="/api/v1/keys", body=body, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
    assert not await app.keys.any()
    assert (await ask(served, method="POST", path="/api/v1/keys", body=body)).status_code == 201


async def test_an_admin_creates_more_keys_from_anywhere(app: Duly) -> None:
    key = await app.keys.create("admin", scopes=["admin"])
    served = application(app)
    made = await ask(
        served, ("203.0.113.5", 1), "duly.example", "POST", "/api/v1/keys", {"name": "b"},
        headers={"authorization": f"Bearer {key.text}"},
    )  # fmt: skip
    assert made.status_code == 201


async def test_once_there_is_a_key_pages_of_other_ports_are_left_to_the_credential(app: Duly) -> None:
    key = await app.keys.create("admin", scopes=["admin"])
    served = application(app)
    answer = await ask(
        served, method="POST", path="/api/v1/firing/pause", body={},
        headers={
            "origin": "http://localhost:3000", "sec-fetch-site": "same-site", "authorization": f"Bearer {key.text}"
        },
    )  # fmt: skip
    assert answer.status_code == 200


async def test_a_page_of_another_port_is_refused_while_the_store_is_away(
    app: Duly, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away() -> bool:
        raise StoreUnavailable("the store is away")

    monkeypatch.setattr(app.keys, "any", away)
    answer = await ask(
        application(app),
        method="POST",
        path="/api/v1/firing/pause",
        body={},
        headers={"origin": "http://localhost:3000"},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "CROSS_SITE_REQUEST")
