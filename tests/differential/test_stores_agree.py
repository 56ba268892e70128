"""Random operations on the model and on the real stores: the same answers, and the same rows after each step.

A failure prints the seed and every operation up to the one that differed. ``DULY_DIFF_SEEDS=500`` tries more seeds.
"""

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from duly.core.errors import DulyError, RunActive
from duly.store.protocol import Store
from duly.store.values import Beat, Fired, Instance, Recovered
from duly.testing import ManualClock
from tests.contract.suite import differences
from tests.differential.model import Model
from tests.differential.script import Operation, Script
from tests.stores import ModelSubject, Subject, memory_subject, model_subject, postgres_subject

OPERATIONS = 60
WIDER = int(os.environ.get("DULY_DIFF_SEEDS", "0"))
SEEDS = range(WIDER or 60)
POSTGRES_SEEDS = range(WIDER or 12)


@pytest.mark.parametrize("seed", SEEDS)
async def test_sqlite_agrees_with_the_model(seed: int) -> None:
    clock = ManualClock()
    async with model_subject(clock) as model, memory_subject(clock) as sqlite:
        await compare(seed, clock, model, {"sqlite": sqlite})


@pytest.mark.parametrize("seed", POSTGRES_SEEDS)
@pytest.mark.server
async def test_sqlite_and_postgres_agree_with_the_model(seed: int, request: pytest.FixtureRequest) -> None:
    clock = ManualClock()
    database = request.getfixturevalue("system_database")
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(model_subject(clock))
        sqlite = await stack.enter_async_context(memory_subject(clock))
        postgres = await stack.enter_async_context(postgres_subject(clock, database))
        await compare(1000 + seed, clock, model, {"sqlite": sqlite, "postgres": postgres})


async def compare(seed: int, clock: ManualClock, model: ModelSubject, subjects: dict[str, Subject]) -> None:
    """Play one script on all; stop at the first difference."""
    assert isinstance(model.store, Model)
    script = Script(seed, model.store, clock)
    log: list[str] = []
    for step in range(OPERATIONS):
        # Each operation has an instant of its own, so that the order of what it leaves is never a matter of luck.
        clock.move(milliseconds=1)
        operation = script.next()
        log.append(f"{step:3} {clock.now()} {operation.text}")
        expected = await answer(model.store, operation)
        script.learn(expected)
        rows = await model.dump()
        for name, subject in subjects.items():
            given = await answer(subject.store, operation)
            found = [] if plain(given) == plain(expected) else [f"answer {plain(given)}", f"expected {plain(expected)}"]
            found += differences(await subject.dump(), rows)
            if found:
                pytest.fail(report(seed, name, log, found), pytrace=False)


async def answer(store: Store, operation: Operation) -> Any:
    try:
        return await operation.call(store)
    except DulyError as refusal:
        return refusal


def plain(given: Any) -> Any:
    """The answer without what no store promises: the order of sets, and the words of a refusal."""
    match given:
        case RunActive():
            return RunActive
        case DulyError():
            return type(given), str(given)
        case Beat():
            return replace(given, held=sorted(given.held, key=lambda held: held.id))
        case Fired():
            aside = sorted(given.set_aside, key=lambda aside: aside.schedule_id)
            claims = sorted(given.claims, key=lambda claim: claim.id)
            skips = sorted(given.skips, key=lambda skip: skip.id)
            lateness = sorted(given.lateness_ms)
            return replace(given, claims=claims, lateness_ms=lateness, set_aside=aside, skips=skips)
        case Recovered():
            instances = sorted(given.instances, key=lambda instance: instance.session)
            return replace(given, instances=instances, runs=sorted(given.runs))
        case list():
            items = [plain(item) for item in given]
            in_no_order = all(isinstance(item, tuple | Instance) for item in given)
            return sorted(items, key=repr) if in_no_order else items
        case _:
            return given


def report(seed: int, name: str, log: Sequence[str], found: Sequence[str]) -> str:
    lines = [f"seed {seed}: {name} is the first, the model the second, after", *log, "they differ:", *found]
    return "\n".join(lines)
