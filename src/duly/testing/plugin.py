"""The pytest plugin: fixtures for an app on a clock that moves when told. It is loaded with every pytest that finds
duly, so it imports nothing of it before a test asks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from duly.app import Duly
    from duly.testing.clock import ManualClock


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "duly_start(instant): where the clock of duly_clock and duly_app begins")


@pytest.fixture
def duly_clock(request: pytest.FixtureRequest) -> ManualClock:
    """A clock that stands still until ``await duly_clock.advance(days=30)``."""
    from duly.testing.clock import ManualClock

    mark = request.node.get_closest_marker("duly_start")
    return ManualClock() if mark is None else ManualClock(*mark.args)


@pytest.fixture
def duly_app(duly_clock: ManualClock) -> Duly:
    """An app in memory on ``duly_clock``: declare jobs on it, then ``async with duly_app:``."""
    from duly.testing.travelling import Traveller

    return Traveller(duly_clock)


@pytest.fixture
def duly_travel() -> Callable[..., AbstractAsyncContextManager[ManualClock]]:
    """Run an app of your own in memory: ``async with duly_travel(app, start="2026-03-01T00:00:00Z") as clock:``."""
    from duly.testing.travelling import travel

    return travel
