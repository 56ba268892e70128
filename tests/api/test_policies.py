"""What settings make of callers: the page says it, other machines are served only then, and pages of others are not."""

import re
import socket
from pathlib import Path
from typing import Any

import pytest

from duly import Duly
from duly.api.application import application
from duly.api.auth.cors import Cors
from duly.api.auth.guard import Guard, Policy
from duly.api.auth.metrics import GuardedMetrics
from duly.api.auth.policies import read_policy
from duly.api.auth.rates import Rates
from duly.api.binding import bind
from duly.api.health import health_of
from duly.api.routes import ROUTES
from duly.config import load
from duly.core.credential import Scope
from duly.core.errors import ConfigurationError, QuotaExceeded
from duly.testing import ManualClock
from tests.api.conftest import client_of, sqlite_url

PAGE = (Path(__file__).parents[2] / "docs" / "auth.md").read_text()
HERE = "https://app.example"


def test_the_table_of_scopes_is_that_of_the_routes() -> None:
    told = dict(re.findall(r"^\| `(read|write|trigger|admin|worker)` \| (.*) \|$", PAGE, re.MULTILINE))
    for scope in Scope:
        routes = [f"`{route.method} {route.path}`" for route in ROUTES if route.scope is scope]
        assert told[scope] == (", ".join(routes) or "none yet"), f"docs/auth.md: write this for {scope}"


def test_the_settings_on_the_page_are_read_with_their_origin(tmp_path: Path) -> None:
    (tmp_path / "duly.toml").write_text("\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)))
    loaded = load({}, folder=tmp_path, environment={"DULY_QUOTAS_SCHEDULES": "5", "DULY_AUTH__JWT__AUDIENCE": "a,b"})
    assert loaded["auth.jwt.algorithms"] == ("RS256",)
    assert loaded["auth.jwt.audience"] == ("a", "b")
    assert loaded.origins["auth.jwt.audience"] == "DULY_AUTH__JWT__AUDIENCE"
    policy = read_policy(loaded.values, ManualClock())
    assert policy.issuer is not None
    assert (policy.quotas.schedules, policy.quotas.payload_bytes, policy.per_address) == (5, 16384, 6000)
    assert loaded.origins["quotas.payload_bytes"] == "duly.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[auth.jwt]\nisuer = 'x'", "issuer"),
        ("[auth.jwr]\nissuer = 'x'", "auth"),
        ("[auth]\nissuer = 'x'", "auth"),
        ("[quotas]\nschedules = 0", "1 or more"),
        ("[auth]\njwt = 3", "section"),
    ],
)
def test_a_mistyped_setting_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "duly.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        load({}, folder=tmp_path, environment={})


def test_half_an_issuer_is_refused(tmp_path: Path) -> None:
    loaded = load({}, folder=tmp_path, environment={"DULY_AUTH_JWT_SECRET": "x" * 32})
    with pytest.raises(ConfigurationError, match=r"without auth\.jwt\.issuer"):
        read_policy(loaded.values, ManualClock())


def test_other_machines_are_served_only_where_callers_say_who_they_are() -> None:
    with pytest.raises(ConfigurationError, match="duly key create"):
        bind("0.0.0.0", 0)
    for words in ({"guarded": lambda: True}, {"insecure": True}):
        listener: socket.socket = bind("0.0.0.0", 0, **words)
        listener.close()
    bind("127.0.0.1", 0, guarded=_never).close()


def _never() -> bool:
    raise AssertionError("this machine alone need not be asked")


def test_a_bucket_fills_again_with_time_and_each_has_their_own() -> None:
    clock = ManualClock()
    rates = Rates(clock.steady, "this credential")
    for _ in range(6):
        rates.take("ann", 6)
    with pytest.raises(QuotaExceeded) as refused:
        rates.take("ann", 6)
    assert refused.value.retry_after == pytest.approx(10)
    rates.take("bob", 6)
    clock.move(seconds=10)
    rates.take("ann", 6)
    with pytest.raises(QuotaExceeded):
        rates.take("ann", 6)


async def test_an_address_may_ask_so_often_whoever_calls(tmp_path: Path) -> None:
    app = Duly(sqlite_url(tmp_path), clock=ManualClock())
    await app.open()
    async with client_of(
        application(app, guard=Guard(app, Policy(per_address=2))), "http://localhost/api/v1"
    ) as client:
        codes = [(await client.get("/schedules")).status_code for _ in range(3)]
    await app.close()
    assert codes == [200, 200, 429]


async def test_metrics_that_are_not_open_need_an_admin(tmp_path: Path) -> None:
    app = Duly(sqlite_url(tmp_path), clock=ManualClock())
    await app.open()
    admin, reader = await app.keys.create("root", scopes=["admin"]), await app.keys.create("r", scopes=["read"])
    async with client_of(GuardedMetrics(health_of(app), Guard(app))) as client:
        seen = [
            (await client.get("/metrics", headers={"authorization": f"Bearer {text}"})).status_code
            for text in ("x", reader.text, admin.text)
        ]
    await app.close()
    assert seen == [401, 403, 200]


@pytest.mark.parametrize("named", [True, False])
async def test_pages_of_other_sites_may_ask_only_if_they_are_named(tmp_path: Path, named: bool) -> None:
    app = Duly(sqlite_url(tmp_path))
    await app.open()
    served: Any = application(app, cors=Cors([HERE]) if named else None)
    headers = {"origin": HERE, "sec-fetch-site": "cross-site"}
    async with client_of(served, "http://localhost/api/v1") as client:
        asked = {**headers, "access-control-request-method": "POST"}
        preflight = await client.options("/runs", headers=asked)
        posted = await client.post("/runs", json={"jobType": "x"}, headers=headers)
        other = await client.post("/runs", json={"jobType": "x"}, headers={**headers, "origin": "https://evil.example"})
    await app.close()
    expected = (204, 202, 403) if named else (405, 403, 403)
    assert (preflight.status_code, posted.status_code, other.status_code) == expected
    assert posted.headers.get("access-control-allow-origin") == (HERE if named else None)
    assert "access-control-allow-origin" not in other.headers
