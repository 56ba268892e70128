"""The parts of the contract in which people's own values are stored and read, kept by a store that encrypts them."""

from collections.abc import AsyncIterator

import pytest

from duly.store.sealing import sealing
from duly.store.sql import SqlStore
from duly.testing import ManualClock
from tests.contract.suite import (
    TestChildren,
    TestClaiming,
    TestListingRuns,
    TestListingSchedules,
    TestRedriving,
    TestSettling,
    TestSuspending,
    TestZombies,
)
from tests.store.sealing import KEY_A
from tests.stores import Subject, memory_subject

__all__ = [
    "TestChildren",
    "TestClaiming",
    "TestListingRuns",
    "TestListingSchedules",
    "TestRedriving",
    "TestSettling",
    "TestSuspending",
    "TestZombies",
]


@pytest.fixture(params=["sealed"])
async def access(clock: ManualClock) -> AsyncIterator[Subject]:
    async with memory_subject(clock) as subject:
        subject.store = SqlStore(sealing(subject.store.driver, [KEY_A]))  # type: ignore[attr-defined]  # an SqlStore
        subject._driver = subject.store.driver
        yield subject
