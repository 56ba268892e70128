"""Fixtures of the driver's tests: a database file, and drivers on it that are closed in the end."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from duly.store.sqlite import SqliteDriver
from duly.testing import ManualClock

Opener = Callable[..., Awaitable[SqliteDriver]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "duly.db"


@pytest.fixture
async def opener(path: Path, clock: ManualClock) -> AsyncIterator[Opener]:
    """Opens drivers on the file, each with settings of its own."""
    opened: list[SqliteDriver] = []

    async def open_one(**settings: Any) -> SqliteDriver:
        driver = SqliteDriver(settings.pop("path", path), clock=clock, **settings)
        await driver.open()
        opened.append(driver)
        return driver

    yield open_one
    for driver in opened:
        await driver.close()


@pytest.fixture
async def driver(opener: Opener) -> SqliteDriver:
    return await opener()
