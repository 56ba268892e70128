"""Stores that tests share one after another."""

import pytest

from duly.store.values import Instance
from duly.testing import ManualClock
from tests.stores import PostgresDatabase, postgres_subject


async def test_failed_test_leaves_no_rows_for_the_next_one(system_database: PostgresDatabase) -> None:
    instance = Instance(
        session=1,
        name="worker-1",
        host="box",
        pid=1,
        roles=("worker",),
        version="1",
        tz_version="2025b",
        jobs=("mail",),
    )

    async def fail() -> None:
        async with postgres_subject(ManualClock(), system_database) as subject:
            await subject.store.open_session(instance, lease_ms=10_000)
            assert (await subject.dump())["instances"]
            raise AssertionError("the test fails")

    with pytest.raises(AssertionError, match="the test fails"):
        await fail()
    async with postgres_subject(ManualClock(), system_database) as subject:
        assert not any((await subject.dump()).values())
