"""What it costs to create: how often the store is asked, and what a clash looks like from outside."""

from pathlib import Path

from duly.core.credential import Whose
from duly.core.errors import KeyInUse, StoreError
from duly.core.schedule import Schedule
from duly.runtime.clock import SystemClock
from duly.store.methods.schedules import add_schedules
from duly.store.narrowing import narrowed
from duly.store.postgres import postgres_store
from duly.store.sql import SqlStore
from duly.store.sqlite import open_store
from duly.store.statements import Group
from duly.testing import ManualClock
from tests.store.postgres.making import new_schedule


def test_the_last_step_is_the_last_for_one_owner_too() -> None:
    whose = Whose(tenant="acme", owner="ann")
    step = next(narrowed(lambda now: add_schedules(now, [new_schedule("a")]), whose)(0))
    assert isinstance(step, Group)
    assert step.last


async def told_of(store: SqlStore) -> list[tuple[str, StoreError | None]]:
    """Create one that clashes among others, and answer what a listener is told of the calls."""
    told: list[tuple[str, StoreError | None]] = []
    await store.open()
    try:
        await store.put_schedules([new_schedule("a")])
        store.on_call(lambda kind, seconds, error: told.append((kind, error)), ManualClock())
        puts = await store.put_schedules([new_schedule("a"), new_schedule("b")])
        assert [type(put) for put in puts] == [KeyInUse, Schedule]
        await store.put_schedules([new_schedule("c")])
        await store.put_schedules([new_schedule("d")])
    finally:
        await store.close()
    return told


WRITTEN = [("write", None)] * 4
"""The one that clashed twice, the next one by looking, and the last one in one step again."""


async def test_a_clash_is_no_failure_of_sqlite(tmp_path: Path) -> None:
    assert await told_of(open_store(tmp_path / "duly.db", clock=SystemClock())) == WRITTEN


async def test_a_clash_is_no_failure_of_postgres(fresh_postgres: str) -> None:
    assert await told_of(postgres_store(fresh_postgres)) == WRITTEN
