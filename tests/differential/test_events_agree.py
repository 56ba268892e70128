"""Random operations while somebody watches: what is told is what is different afterwards, on both stores."""

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from duly.core.errors import DulyError
from duly.core.event import RESET, Event
from duly.store.protocol import Store
from duly.testing import ManualClock
from tests.differential.model import Model
from tests.differential.script import Operation, Script
from tests.differential.watching import told_between
from tests.stores import Subject, memory_subject, model_subject, postgres_subject

OPERATIONS = 120
LEASE_MS = 10**12


@pytest.mark.parametrize("seed", range(8))
async def test_sqlite_tells_what_is_different(seed: int) -> None:
    clock = ManualClock()
    async with memory_subject(clock) as sqlite:
        await compare(2000 + seed, clock, sqlite)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.server
async def test_postgres_tells_what_is_different(seed: int, request: pytest.FixtureRequest) -> None:
    clock = ManualClock()
    async with postgres_subject(clock, request.getfixturevalue("system_database")) as postgres:
        await compare(3000 + seed, clock, postgres)


async def compare(seed: int, clock: ManualClock, subject: Subject) -> None:
    async with AsyncExitStack() as stack:
        model = (await stack.enter_async_context(model_subject(clock))).store
        assert isinstance(model, Model)
        script = Script(seed, model, clock)
        store, told = subject.store, 0
        await store.watch_events(lease_ms=LEASE_MS)
        for _ in range(OPERATIONS):
            clock.move(milliseconds=1)
            operation = script.next()
            script.learn(await answer(model, operation))
            before = await subject.dump()
            await answer(store, operation)
            expected = told_between(before, await subject.dump(), clock.now())
            await store.number_events(limit=1000)
            read = await store.read_events(after=told, limit=1000)
            told = read.last
            found = [replace(event, number=None) for event in read.events if event.name != RESET]
            assert by_text(found) == by_text(expected), f"seed {seed}: {operation.text}"


def by_text(events: list[Event]) -> list[str]:
    return sorted(map(repr, events))


async def answer(store: Store, operation: Operation) -> Any:
    try:
        return await operation.call(store)
    except DulyError as refusal:
        return refusal
