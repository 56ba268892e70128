"""How much waits, and since when: what a scrape asks of each store."""

from collections.abc import AsyncIterator

import pytest

from duly.core.outside import handler_of_target
from duly.core.timing import Every
from duly.store.load import Waits
from duly.store.sql import SqlStore
from duly.testing import ManualClock
from tests.contract.suite import Trial
from tests.contract.suite.trial import JOB
from tests.store_choice import EACH_STORE
from tests.stores import memory_subject, pooled_database, postgres_subject, system_database

__all__ = ["pooled_database", "system_database"]


@pytest.fixture(params=EACH_STORE)
async def trial(request: pytest.FixtureRequest) -> AsyncIterator[Trial]:
    clock = ManualClock()
    made = (
        memory_subject(clock)
        if request.param == "sqlite"
        else postgres_subject(clock, request.getfixturevalue("system_database"))
    )
    async with made as subject:
        yield Trial(subject.store, clock)


async def waits(trial: Trial) -> Waits:
    assert isinstance(trial.store, SqlStore)
    found = (await trial.store.count_load()).waits
    assert found is not None
    assert (found.dead_rows is None) == (trial.store.name == "sqlite")
    return found


async def test_the_oldest_of_each_kind_tells_how_long_it_has_waited(trial: Trial) -> None:
    found = await waits(trial)
    assert (found.due_ms, found.ready_ms, found.outbox_ms, found.dead) == (0, 0, 0, 0)
    await trial.put("tick", Every(minutes=1))
    found = await waits(trial)
    assert found.due_ms == 0, "its time has not come"
    shop = handler_of_target("shop")
    await trial.enqueue(shop, queue="target:shop", run_at=trial.clock.now() + 10_000)
    await trial.enqueue(queue="targets")
    trial.clock.move(seconds=65)
    found = await waits(trial)
    assert (found.due_ms, found.ready_ms, found.outbox_ms) == (5_000, 65_000, 55_000)
    worker = await trial.worker(JOB, shop)
    first, second = await worker.claim()
    found = await waits(trial)
    assert (found.ready_ms, found.outbox_ms) == (0, 0), "what is claimed does not wait"
    await worker.fail(first, "no", fatal=True)
    await worker.complete(second)
    assert (await waits(trial)).dead == 1


async def test_a_message_that_a_broker_does_not_take_is_older_than_its_next_try(trial: Trial) -> None:
    shop, hook = handler_of_target("shop"), "webhook:event"
    await trial.enqueue(shop, queue="target:shop")
    await trial.enqueue(hook, queue="target:webhook")
    worker = await trial.worker(shop, hook)
    for run in await worker.claim():
        await worker.fail(run, "nobody is there")
    trial.clock.move(seconds=3)
    found = await waits(trial)
    assert (found.ready_ms, found.outbox_ms) == (0, 3_000), "and a webhook is somebody else's to mend"
