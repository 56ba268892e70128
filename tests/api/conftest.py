"""The API in this process, on each store. Its app is open but not started: nothing fires or works unless told to."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from duly import Duly
from duly.api.application import application
from duly.testing import ManualClock
from tests.contract.suite import Trial
from tests.databases import ready_file
from tests.store_choice import EACH_STORE


@pytest.fixture(params=EACH_STORE)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return str(request.getfixturevalue("ready_postgres"))


@pytest.fixture
async def app(url: str, request: pytest.FixtureRequest) -> AsyncIterator[Duly]:
    """On the real clock, or on one that stands where ``duly_start`` says, so that no window comes meanwhile."""
    mark = request.node.get_closest_marker("duly_start")
    app = Duly(url, clock=None if mark is None else ManualClock(*mark.args))
    await app.open()
    yield app
    await app.close()


@pytest.fixture
async def api(app: Duly) -> AsyncIterator[httpx2.AsyncClient]:
    """A client whose paths start below ``/api/v1``."""
    async with client_of(application(app), "http://localhost/api/v1") as client:
        yield client


def client_of(served: object, base_url: str = "http://localhost") -> httpx2.AsyncClient:
    """A client of an ASGI application in this process."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=served), base_url=base_url)  # type: ignore[arg-type]


async def let_die(app: Duly, job: str = "x") -> str:
    """A run that has failed for good, without a worker of the app's own."""
    trial = Trial(app._store, ManualClock(app.clock.now()))
    run = await trial.enqueue(job, id=app._chance.id(app.clock))
    worker = await trial.worker(job, session=app._chance.session())
    for claim in await worker.claim():
        await worker.fail(claim, "no use", fatal=True)
    return run.id


def sqlite_url(folder: Path) -> str:
    return f"sqlite:////{str(ready_file(folder)).lstrip('/')}"
