"""Apps on each store, quick to notice what happens, with a lease that no busy machine loses."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duly import Duly, Settings
from tests.databases import ready_file
from tests.store_choice import EACH_STORE

QUICK = Settings(lease=30, heartbeat=0.5, poll=0.05, shutdown_timeout=2)
BRIEF = replace(QUICK, lease=3)
"""For tests that wait until a lease has run out."""

PATIENCE = 60.0
"""Seconds that only something which hangs takes, also on a machine that is busy with other things."""

MakeApp = Callable[..., Duly]


@pytest.fixture(params=EACH_STORE)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:////{str(ready_file(tmp_path)).lstrip('/')}"
    return str(request.getfixturevalue("ready_postgres"))


@pytest.fixture
def make_app(url: str) -> MakeApp:
    """Apps on the same store; each is started by the test itself."""

    def make(**options: Any) -> Duly:
        return Duly(url, **{"settings": QUICK, **options})

    return make


@pytest.fixture
def app(make_app: MakeApp) -> Duly:
    return make_app()


async def until(condition: Callable[[], Any], *, within: float = PATIENCE) -> Any:
    """Wait in real time until a condition (plain or awaitable) holds; answer what it gave."""
    give_up_at = time.monotonic() + within
    while True:
        found = condition()
        if isinstance(found, Awaitable):
            found = await found
        if found:
            return found
        assert time.monotonic() < give_up_at, "the condition did not come true in time"
        await asyncio.sleep(0.01)


async def a_moment_later(app: Duly) -> None:
    """Wait until the clock shows another millisecond: what is made in one has the same instant, and no order."""
    now = app.clock.now()
    await until(lambda: app.clock.now() > now + 1)
