"""Every way in which duly answers HTTP, as real servers, and strangers who ask them."""

import asyncio
import http.client
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from duly import Duly
from duly.api.application import application
from duly.api.routes import ROUTES
from duly.dashboard import dashboard
from duly.dashboard.pages import PAGES
from tests.counting import at_least
from tests.serve.serving import COMMAND, PATIENCE, ROOT, Served

API = "/api/v1"
REF = "01890000-0000-7000-8000-000000000000"
FOREIGN = "evil.example"
PROGRAMS = {
    "serve": COMMAND,
    "Django": (sys.executable, str(ROOT / "examples" / "django_shop" / "manage.py"), "duly"),
    "Flask": (sys.executable, "-m", "flask", "--app", "examples.flask_app", "duly"),
}
"""The command line of duly, by itself and inside the frameworks."""

MOUNTED = {"mounted REST": "/duly", "mounted dashboard": "/schedules"}
"""Where the two applications are mounted in a FastAPI app, as docs/integrations.md shows."""


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Caller:
    """One who asks: to which address, and with which headers."""

    address: str | Path
    port: int = 0
    headers: tuple[tuple[str, str], ...] = ()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Response:
        connection = _Local(self.address) if isinstance(self.address, Path) else _Remote(self.address, self.port)
        sent = {
            "Host": f"localhost:{self.port}",
            **dict(self.headers),
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        data = None
        if body is not None:
            data = json.dumps(body).encode() if not isinstance(body, bytes) else body
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            streams = answer.headers.get_content_type() == "text/event-stream"
            return Response(answer.status, b"" if streams else answer.read(), dict(answer.headers.items()))
        finally:
            connection.close()


class _Remote(http.client.HTTPConnection):
    def __init__(self, address: str, port: int) -> None:
        super().__init__(address, port, timeout=PATIENCE)


class _Local(http.client.HTTPConnection):
    """HTTP on a UNIX socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(str(self._path))


@cache
def other_address() -> str | None:
    """An address of this machine that is not loopback: who calls it has that address too. None where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))  # sends nothing
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if address.startswith("127.") else address


@dataclass(frozen=True)
class Place:
    """A server: who can ask it, and below which paths its API and its dashboard are; None where it has none."""

    callers: Mapping[str, Caller]
    api: str | None
    pages: str | None

    def strangers(self) -> dict[str, Caller]:
        return {name: caller for name, caller in self.callers.items() if name != "loopback"}


def callers(port: int, address: str | None, uds: Path | None = None) -> dict[str, Caller]:
    """Those of the matrix, as far as the server listens where they call."""
    found = {
        "loopback": Caller("127.0.0.1", port),
        "foreign Host": Caller("127.0.0.1", port, (("Host", FOREIGN),)),
        "forwarded": Caller("127.0.0.1", port, (("X-Forwarded-For", "203.0.113.5"),)),
    }
    if address is not None:
        found["other address"] = Caller(address, port, (("Host", f"{address}:{port}"),))
    if uds is not None:
        found["UNIX socket"] = Caller(uds)
    return found


@contextmanager
def program(
    name: str, folder: Path, variables: Mapping[str, Any], *arguments: str, address: str | None = None
) -> Iterator[Place]:
    """``serve`` of a command line of duly, on loopback, or on every address of the machine if one is given."""
    where = ("--host", "0.0.0.0") if address else ()
    served = Served(folder, *where, *arguments, program=PROGRAMS[name], command="api", **variables)
    try:
        served.ready()
        found = re.search(r"is ready: http://[^ ]*:(\d+)", served.said())
        assert found is not None
        port = int(found[1])
        served.until(lambda: callers(port, None)["loopback"].ask("GET", "/readyz").status, "health")
        yield Place(callers(port, address), api=API, pages="")
    finally:
        served.close()


@contextmanager
def mounted(name: str, app_url: str, folder: Path, **options: Any) -> Iterator[Place]:
    """Both applications mounted in a FastAPI app, on every address of the machine and on a UNIX socket."""
    app = Duly(app_url, roles=())
    web = FastAPI()
    web.mount(MOUNTED["mounted REST"], application(app, **options))
    web.mount(MOUNTED["mounted dashboard"], dashboard(app, **options))
    uds = folder / "web.sock"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as local:
        tcp.bind(("0.0.0.0", 0))
        tcp.listen()
        local.bind(str(uds))
        local.listen()
        server = uvicorn.Server(uvicorn.Config(web, lifespan="off", log_config=None, timeout_graceful_shutdown=1))
        opened = threading.Event()

        async def serve() -> None:
            async with app:
                opened.set()
                await server.serve([tcp, local])

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        assert opened.wait(PATIENCE)
        try:
            base = MOUNTED[name]
            is_api = name == "mounted REST"
            yield Place(
                callers(tcp.getsockname()[1], other_address(), uds),
                api=base + API if is_api else None,
                pages=None if is_api else base,
            )
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def requests(place: Place) -> list[tuple[str, str]]:
    """Every operation of the API and every page and action of the dashboard that a place has, as method and path."""
    found: list[tuple[str, str]] = []
    if place.api is not None:
        routes = at_least([route for route in ROUTES if not route.open], 78, "operations that need a credential")
        found += [(route.method, place.api + _filled(route.path)) for route in routes]
    if place.pages is not None:
        found += [("GET", place.pages + _filled(page.path)) for page in at_least(PAGES, 20, "pages")]
        actions = at_least([action for page in PAGES for action in page.actions], 20, "actions")
        found += [("POST", place.pages + _filled(action.path)) for action in actions]
        found.append(("GET", f"{place.pages}/live"))
    return found


def _filled(path: str) -> str:
    return re.sub(r"\{\w+\}", REF, path)
