"""An audit of histories made by random operations finds nothing; of histories that were tampered with, just that."""

import os

import pytest

from duly.core.audit import Fault
from duly.core.errors import DulyError
from duly.core.rules.auditing import Bounds, judge
from duly.core.rules.firing import FireRules
from duly.testing import ManualClock
from tests.differential.model import Model
from tests.differential.script import Script
from tests.stores import Subject, memory_subject, model_subject, postgres_subject

OPERATIONS = 70
WIDER = int(os.environ.get("DULY_DIFF_SEEDS", "0"))
LATE_MS = 10_000


async def play(seed: int, clock: ManualClock, model: Model, subject: Subject | None) -> None:
    """Random operations; every other seed then lets all that is due fire."""
    script = Script(seed, model, clock)
    stores = [model] if subject is None else [model, subject.store]
    for _ in range(OPERATIONS):
        clock.move(milliseconds=1)
        operation = script.next()
        for store in stores:
            try:
                answer = await operation.call(store)
            except DulyError as refusal:
                answer = refusal
            if store is model:
                script.learn(answer)
    for _ in range(20 if seed % 2 else 0):
        clock.move(seconds=1)
        for store in stores:
            await store.fire_due(limit=1000, rules=FireRules())


async def audited(seed: int, clock: ManualClock, model: Model, subject: Subject | None) -> int:
    """Play, and audit all of it; answer how many windows that were."""
    start = clock.now() - 3_600_000
    await play(seed, clock, model, subject)
    ledger = await model.read_ledger(since=start, until=clock.now(), limit=1000)
    assert ledger is not None
    if subject is not None:
        assert await subject.store.read_ledger(since=start, until=clock.now(), limit=1000) == ledger, f"seed {seed}"
    bounds = Bounds(start, clock.now(), LATE_MS)
    judged = [judge(life, ledger, bounds) for life in ledger.lives]
    wrong = [found for one in judged for found in one.findings if found.fault is not Fault.LATE]
    assert not wrong, f"seed {seed}: {wrong[0]}"
    return sum(one.windows for one in judged)


@pytest.mark.parametrize("block", range(3))
async def test_nothing_is_found_in_what_random_operations_leave(block: int) -> None:
    windows = 0
    for seed in range(block * (WIDER or 10), (block + 1) * (WIDER or 10)):
        clock = ManualClock()
        windows += await audited(seed, clock, Model(clock), None)
    assert windows > 100


@pytest.mark.server
async def test_the_stores_tell_an_audit_the_same(request: pytest.FixtureRequest) -> None:
    database = request.getfixturevalue("system_database")
    for seed in range(3000, 3008):
        clock = ManualClock()
        async with model_subject(clock) as model, memory_subject(clock) as sqlite:
            assert isinstance(model.store, Model)
            await audited(seed, clock, model.store, sqlite)
    clock = ManualClock()
    async with model_subject(clock) as model, postgres_subject(clock, database) as postgres:
        assert isinstance(model.store, Model)
        await audited(3100, clock, model.store, postgres)
