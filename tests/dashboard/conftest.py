"""The dashboard in this process, without a browser. Its app is open but not started."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import httpx2
import pytest
from jinja2 import Environment, FileSystemBytecodeCache

from duly import Duly
from duly.api.application import application
from duly.api.auth.guard import Guard
from duly.dashboard import rendering
from duly.dashboard.application import dashboard_routes, make_desk, missing
from duly.testing import ManualClock
from tests.api.conftest import client_of, sqlite_url

NOON = 1_800_000_000_000


@pytest.fixture(scope="session", autouse=True)
def _templates_compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every app compiles its templates; here, the first one does it for all."""
    cache = FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "Environment", partial(Environment, bytecode_cache=cache))
        yield


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOON)


@pytest.fixture
async def app(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Duly]:
    app = Duly(sqlite_url(tmp_path), clock=clock)
    await app.open()
    yield app
    await app.close()


@pytest.fixture
async def site(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser's view of the dashboard as ``duly serve`` has it; it keeps cookies and follows nothing."""
    async with client_of(served(app)) as client:
        yield client


def served(app: Duly) -> object:
    """The API with the dashboard, as ``duly serve`` has them."""
    guard = Guard(app)
    desk = make_desk(app, guard)
    return application(app, guard=guard, routes=dashboard_routes(desk), missing=partial(missing, desk))


async def log_in(site: httpx2.AsyncClient, key: str) -> httpx2.Response:
    return await site.post("/login", data={"key": key})
