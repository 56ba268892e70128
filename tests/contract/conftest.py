"""The fixtures that the contract asks for, for each store in turn."""

from collections.abc import AsyncIterator

import pytest

from duly.store.protocol import Store
from duly.testing import ManualClock
from tests.contract.suite import Trial
from tests.stores import (
    KINDS,
    ModelSubject,
    Subject,
    open_subject,
    pooled_database,
    system_database,
    wheel_database,
)

__all__ = ["pooled_database", "system_database", "wheel_database"]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=KINDS)
async def access(request: pytest.FixtureRequest, clock: ManualClock) -> AsyncIterator[Subject | ModelSubject]:
    async with open_subject(request.param, clock, request) as subject:
        yield subject


@pytest.fixture
def store(access: Subject | ModelSubject) -> Store:
    return access.store


@pytest.fixture
def trial(store: Store, clock: ManualClock) -> Trial:
    return Trial(store, clock)
