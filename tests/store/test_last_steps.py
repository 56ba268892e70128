"""The frequent transactions say which step is their last, so that a store may commit together with it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from duly.core.rules.firing import FireRules
from duly.store.sql import SqlStore
from duly.store.sqlite import open_store
from duly.store.statements import Group, Program, Step, Steps, T, Transaction
from tests.store.postgres.making import SetClock, new_schedule

HOUR = 3_600_000


@pytest.fixture
def clock() -> SetClock:
    return SetClock(1_800_000_000_000)


@pytest.fixture
async def store(tmp_path: Path, clock: SetClock) -> AsyncIterator[SqlStore]:
    """A store that knows that nobody watches: else there may be something to tell after each step."""
    store = open_store(tmp_path / "duly.db", clock=clock)
    await store.open()
    await store.put_schedules([new_schedule("first")])
    yield store
    await store.close()


@pytest.fixture
def steps(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """The steps of every write from here on."""
    noted: list[Step] = []
    write = store.driver.write

    def noting(transaction: Transaction[T]) -> Transaction[T]:
        def begin(now: int) -> Program[T]:
            for step in (steps := Steps(transaction(now))):
                noted.append(step)
                steps.answer = yield step
            return steps.value

        return begin

    async def noted_write(transaction: Transaction[T], **options: Any) -> Any:
        return await write(noting(transaction), **options)

    monkeypatch.setattr(store.driver, "write", noted_write)
    return noted


def names_of(step: Step) -> list[str]:
    return [one.name for one in step.steps] if isinstance(step, Group) else [step.name]


def lasts(steps: list[Step]) -> list[bool]:
    return [isinstance(step, Group) and step.last for step in steps]


async def test_a_create_is_one_step(store: SqlStore, steps: list[Step]) -> None:
    await store.put_schedules([new_schedule("a"), new_schedule("b", tenant="acme")])
    (step,) = steps
    names = ["add_schedules", "insert_revisions", "take_slots", "take_slots", "place_cursors"]
    assert (names_of(step), lasts(steps)) == (names, [True])


async def test_a_fire_ends_with_what_it_writes(store: SqlStore, clock: SetClock, steps: list[Step]) -> None:
    clock.at += HOUR
    await store.put_schedules([new_schedule("a")])  # has something to tell, and so looks who watches
    steps.clear()
    assert (await store.fire_due(limit=1, rules=FireRules())).runs == 1
    assert lasts(steps) == [False, False, True]
    assert names_of(steps[-1]) == ["insert_runs", "insert_skips", "move_cursors", "next_fire"]
    steps.clear()
    assert (await store.fire_due(limit=1, rules=FireRules())).runs == 0
    assert [names_of(step) for step in steps] == [["due_cursors"], ["next_fire"]]
    assert lasts(steps) == [False, True]
