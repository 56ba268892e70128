"""What a run waits for: said of each that is open and does not run, so that nobody has to guess."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from duly import Duly, Every
from duly.api.operations import runs
from duly.testing import ManualClock
from tests.api.conftest import sqlite_url
from tests.contract.suite import Trial

NOON = 1_800_000_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOON)


@pytest.fixture
async def app(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Duly]:
    """Open and not started: nothing here fires or runs by itself."""
    app = Duly(sqlite_url(tmp_path), clock=clock)
    await app.open()
    yield app
    await app.close()


@pytest.fixture
def trial(app: Duly, clock: ManualClock) -> Trial:
    return Trial(app._store, clock)


async def waits_for(app: Duly, id: str) -> str | None:
    return (await runs.get_run(app, id))["waitsFor"]


async def test_without_a_worker_that_is_what_it_waits_for(app: Duly) -> None:
    run = await app.enqueue("mail")
    assert await waits_for(app, run.id) == "a worker: none is alive"


async def test_a_job_that_no_worker_knows_is_named(app: Duly, trial: Trial) -> None:
    await trial.worker("report", name="w1")
    run = await app.enqueue("mail")
    assert await waits_for(app, run.id) == "a worker that knows job 'mail': none that is alive does"
    await app._store.hold_unknown_jobs()
    assert await waits_for(app, run.id) == "a worker that knows job 'mail': none that is alive does", "held, too"


async def test_a_paused_queue_is_named_with_who_paused_it_and_why(app: Duly, trial: Trial) -> None:
    await trial.worker("mail", name="w1")
    run = await app.enqueue("mail", queue="out")
    assert await waits_for(app, run.id) is None, "it could start in this moment"
    await app.queues.pause("out", "the provider is down", by="ann")
    assert await waits_for(app, run.id) == "its queue 'out', which ann paused: the provider is down"
    await app.queues.resume("out")
    await app.queues.pause("out")
    assert await waits_for(app, run.id) == "its queue 'out', which is paused"


async def test_a_full_queue_is_told_with_its_limit(app: Duly, trial: Trial) -> None:
    worker = await trial.worker("mail", name="w1")
    await app.queues.set("out", max_running=1)
    await app.enqueue("mail", queue="out")
    await worker.claim()
    run = await app.enqueue("mail", queue="out")
    assert await waits_for(app, run.id) == "its queue 'out', in which no more than 1 may run at once"


async def test_a_queue_that_has_had_its_starts_is_told_with_its_rate(app: Duly, trial: Trial) -> None:
    worker = await trial.worker("mail", name="w1")
    await app.queues.set("out", rate=1, per=60)
    await app.enqueue("mail", queue="out")
    await worker.claim()
    run = await app.enqueue("mail", queue="out")
    assert await waits_for(app, run.id) == "its queue 'out', in which no more than 1 may start in 60 s"


async def test_one_behind_another_says_so(app: Duly, trial: Trial, clock: ManualClock) -> None:
    schedule = await app.schedules.create(key="slow", timing=Every("1m"), job="mail", overlap="queue")
    worker = await trial.worker("mail", name="w1")
    clock.move(minutes=1)
    await trial.fire()
    await worker.claim()
    clock.move(minutes=1)
    await trial.fire()
    page = await app.runs.list(schedule=schedule.id, status="pending")
    assert await waits_for(app, page.items[0].id) == "the runs of its schedule before it"
    await app.enqueue("mail", singleton="shop")
    second = await app.enqueue("mail", singleton="shop")
    assert await waits_for(app, second.id) == "the runs of its singleton key before it"


async def test_one_whose_time_has_not_come_says_when_it_comes(app: Duly, trial: Trial, clock: ManualClock) -> None:
    worker = await trial.worker("mail", name="w1")
    later = datetime.fromtimestamp(NOON / 1000, UTC) + timedelta(hours=1)
    run = await app.enqueue("mail", run_at=later)
    assert await waits_for(app, run.id) == "its time, 2027-01-15 09:00:00 UTC"
    again = await app.enqueue("mail")
    (claim,) = await worker.claim()
    await worker.fail(claim, "no")
    said = await waits_for(app, again.id)
    assert said is not None
    assert said.startswith("its next attempt, 2027-01-15 08:00:")


async def test_what_runs_or_has_ended_waits_for_nothing(app: Duly, trial: Trial) -> None:
    worker = await trial.worker("mail", name="w1")
    run = await app.enqueue("mail")
    (claim,) = await worker.claim()
    assert await waits_for(app, run.id) is None
    await worker.complete(claim)
    assert await waits_for(app, run.id) is None
