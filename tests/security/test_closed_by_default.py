"""Until a key or an issuer exists only this machine is served, wherever duly answers HTTP; then nobody without one is.

A matrix on real servers: place x caller x key, and in each cell every operation, page and action. Only health,
documentation and the login page are for strangers.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api.conftest import sqlite_url
from tests.counting import at_least
from tests.security.places import (
    MOUNTED,
    PROGRAMS,
    Caller,
    Place,
    mounted,
    other_address,
    program,
    requests,
)
from tests.serve.serving import ROOT, environment
from tests.store_choice import EACH_STORE

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]
PLACES = [*PROGRAMS, *MOUNTED]
ADMIN = ("key", "create", "--name", "admin", "--scopes", "admin")


class Store:
    """An empty database, told to each place in its own words."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def variables(self, place: str) -> dict[str, str]:
        shared = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        if place != "Django":
            return {**shared, "DULY_DATABASE_URL": self.url}
        database = {} if self.url.startswith("sqlite") else {"SHOP_DATABASE_URL": self.url}
        return {**shared, "SHOP_FOLDER": str(self.folder), **database}

    def run(self, place: str, *command: str) -> str:
        """Run a command of a place's command line to its end."""
        done = subprocess.run(
            [*PROGRAMS.get(place, PROGRAMS["serve"]), *command],
            cwd=self.folder,
            env=environment(**self.variables(place)),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @contextmanager
    def at(self, place: str, *, keyed: bool = False) -> Iterator[Place]:
        """A server of a place; one that has keys listens on every address."""
        if place in MOUNTED:
            with mounted(place, self.url, self.folder) as found:
                yield found
        else:
            address = other_address() if keyed else None
            with program(place, self.folder, self.variables(place), address=address) as found:
                yield found


@pytest.fixture(params=EACH_STORE)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    url = sqlite_url(tmp_path) if request.param == "sqlite" else str(request.getfixturevalue("ready_postgres"))
    return Store(url, tmp_path)


@pytest.fixture
def store_file(tmp_path: Path) -> Store:
    """A file: what is shown with it has nothing to do with the store."""
    return Store(sqlite_url(tmp_path), tmp_path)


def statuses(place: Place, caller: Caller) -> dict[str, int]:
    """Return the status of the response to each request of a place without a credential."""
    return {
        f"{method} {path}": caller.ask(method, path, None if method in ("GET", "DELETE") else {}).status
        for method, path in at_least(requests(place), 41, "requests")
    }


def first(place: Place) -> str:
    """A path that whoever is let in may read."""
    return f"{place.pages}/schedules" if place.api is None else f"{place.api}/schedules"


@pytest.mark.parametrize("name", PLACES)
def test_without_a_key_only_this_machine_is_served(store: Store, name: str) -> None:
    with store.at(name) as place:
        assert place.callers["loopback"].ask("GET", first(place)).status == 200
        seen = {who: set(statuses(place, caller).values()) for who, caller in place.strangers().items()}
    assert {"foreign Host", "forwarded"} <= set(seen)
    assert name in PROGRAMS or "UNIX socket" in seen
    assert seen == {who: {421 if who == "foreign Host" else 401} for who in seen}


@pytest.mark.parametrize("name", PLACES)
def test_with_a_key_nobody_is_served_without_it(store: Store, name: str) -> None:
    key = store.run(name, *ADMIN)
    with store.at(name, keyed=True) as place:
        for who, caller in at_least(place.callers, 3, "callers").items():
            for request, status in statuses(place, caller).items():
                is_page = "/api/v1" not in request and not request.endswith("/live")
                assert status == (303 if is_page else 401), (who, request)
            if place.api is not None:
                assert caller.ask("GET", first(place), authorization=f"Bearer {key}").status == 200, who
            if place.pages is not None:
                answer = caller.ask("GET", f"{place.pages}/schedules")
                assert answer.headers["location"].startswith("./login?to="), who


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_key_no_address_of_other_machines_is_listened_on(store_file: Store, name: str) -> None:
    store = store_file
    done = subprocess.run(
        [*PROGRAMS[name], "api", "--host", "0.0.0.0", "--port", "0"],
        cwd=store.folder,
        env=environment(**store.variables(name)),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 78, done.stderr
    assert "other machines can reach" in done.stderr


@contextmanager
def opened(store: Store, name: str) -> Iterator[Place]:
    """A place that its operator has opened to everybody."""
    if name in MOUNTED:
        with mounted(name, store.url, store.folder, open=True) as place:
            yield place
    else:
        with program(name, store.folder, store.variables(name), "--insecure", address=other_address()) as place:
            yield place


@pytest.mark.parametrize("name", PLACES)
def test_an_open_server_serves_strangers_but_creates_no_first_key_for_them(store_file: Store, name: str) -> None:
    with opened(store_file, name) as place:
        for who, caller in at_least(place.strangers(), 2, "strangers").items():
            if who == "foreign Host":
                assert set(statuses(place, caller).values()) == {421}
                continue
            assert caller.ask("GET", first(place)).status == 200, who
            if place.api is not None:
                made = caller.ask("POST", f"{place.api}/runs", {"jobType": f"work-{who}"[:20].replace(" ", "-")})
                assert made.status == 202, (who, made.body)
                refused = caller.ask("POST", f"{place.api}/keys", {"name": "evil", "scopes": ["admin"]})
                assert (refused.status, refused.json["code"]) == (403, "FORBIDDEN"), who
                assert "duly key create" in refused.json["detail"]
        if place.api is not None:
            local = place.callers["loopback"]
            assert local.ask("POST", f"{place.api}/keys", {"name": "admin", "scopes": ["admin"]}).status == 201
            seen = {who: caller.ask("GET", first(place)).status for who, caller in place.callers.items()}
            assert seen == {who: 421 if who == "foreign Host" else 401 for who in place.callers}


@pytest.mark.parametrize("name", PLACES)
def test_while_open_a_page_of_another_port_may_not_act(store_file: Store, name: str) -> None:
    with store_file.at(name) as place:
        local = place.callers["loopback"]
        path = f"{place.pages}/queues/pause" if place.api is None else f"{place.api}/firing/pause"
        own = f"http://localhost:{local.port}"
        for headers in (
            {"origin": "http://localhost:3000"},
            {"origin": "http://localhost:3000", "sec_fetch_site": "same-site"},
            {"sec_fetch_site": "same-site"},
            {"sec_fetch_site": "cross-site"},
            {"origin": "null"},
        ):
            answer = local.ask("POST", path, {}, **headers)
            assert (answer.status, answer.json["code"]) == (403, "CROSS_SITE_REQUEST"), headers
        for headers in ({"origin": own}, {"origin": own, "sec_fetch_site": "same-origin"}, {"sec_fetch_site": "none"}):
            answer = local.ask("POST", path, {}, **headers)
            assert b"CROSS_SITE_REQUEST" not in answer.body, headers
            assert place.api is None or answer.status == 200
