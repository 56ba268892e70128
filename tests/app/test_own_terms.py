"""A job's own retry and timeout hold wherever nobody chose others, also where only the worker knows the job."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from duly import Cron, Duly, Every, Jobs, RemoteWorker, Retry, RunContext, RunStatus
from duly.api.application import application
from tests.app.conftest import PATIENCE, MakeApp

DAILY = Cron("0 2 * * *")
SOON = Retry(max_attempts=1)
Working = Callable[..., Any]


@pytest.fixture
async def server(make_app: MakeApp) -> AsyncIterator[Duly]:
    """What is served: it knows no job."""
    async with make_app(roles=("api", "scheduler")) as app:
        yield app


@pytest.fixture(params=["store", "server"])
def working(request: pytest.FixtureRequest, server: Duly, make_app: MakeApp) -> Working:
    """A worker beside it that has the jobs, on the same store or behind the API."""

    @asynccontextmanager
    async def work(jobs: Jobs) -> AsyncIterator[None]:
        if request.param == "server":
            async with RemoteWorker("http://localhost", jobs, transport=httpx2.ASGITransport(app=application(server))):
                yield
            return
        app = make_app(roles=("worker",))
        app.include(jobs)
        async with app:
            yield

    return work


def declared(tried: list[int]) -> Jobs:
    jobs = Jobs()

    @jobs.job("once", retry=SOON)
    async def once(run: RunContext) -> None:
        tried.append(run.max_attempts)
        raise ValueError("no")

    @jobs.job("often", retry=Retry(max_attempts=5, backoff="fixed", delay=0, jitter=0))
    async def often(run: RunContext) -> None:
        tried.append(run.max_attempts)
        raise ValueError("no")

    @jobs.job("brief", timeout=0.05, retry=SOON)
    def brief(run: RunContext) -> None:
        tried.append(run.max_attempts)
        run.sync_wait_cancelled(PATIENCE)

    return jobs


@pytest.mark.parametrize("job, tries, reason", [("once", 1, "attempts_spent"), ("often", 5, "attempts_spent"),
                                                ("brief", 1, "timeout")])  # fmt: skip
@pytest.mark.parametrize("scheduled", [False, True])
async def test_what_only_the_worker_knows_of_a_job_holds(
    server: Duly, working: Working, job: str, tries: int, reason: str, scheduled: bool
) -> None:
    tried: list[int] = []
    if scheduled:
        await server.schedules.create("k", DAILY, job=job)
        run = await server.schedules.trigger("k")
    else:
        run = await server.enqueue(job)
    async with working(declared(tried)):
        ended = await server.runs.wait(run.id, timeout=PATIENCE)
    assert tried == [tries] * tries
    assert (ended.status, ended.reason, ended.attempt) == (RunStatus.FAILED, reason, tries)
    assert (ended.max_attempts, ended.revision) == (tries, 1 if scheduled else None)


@pytest.mark.parametrize("scheduled", [False, True])
async def test_what_was_chosen_comes_before_what_the_job_declares_also_where_it_is_the_default(
    server: Duly, working: Working, scheduled: bool
) -> None:
    tried: list[int] = []
    quick = Retry(max_attempts=3, backoff="fixed", delay=0, jitter=0)
    if scheduled:
        await server.schedules.create("k", DAILY, job="often", retry=quick)
        run = await server.schedules.trigger("k")
    else:
        run = await server.enqueue("often", max_attempts=3)
    async with working(declared(tried)):
        ended = await server.runs.wait(run.id, timeout=PATIENCE)
    assert (ended.status, tried) == (RunStatus.FAILED, [3] * 3)


async def test_a_timeout_that_was_chosen_comes_before_a_shorter_one_of_the_job(server: Duly, working: Working) -> None:
    jobs, limits = Jobs(), list[Any]()

    @jobs.job("brief", timeout=0.05, retry=SOON)
    async def brief(run: RunContext) -> None:
        limits.append(run._claim.timeout_ms)

    await server.schedules.create("k", DAILY, job="brief", timeout=3600)
    asked = [await server.schedules.trigger("k"), await server.enqueue("brief", timeout=3600)]
    asked.append(await server.enqueue("brief", timeout=None))
    async with working(jobs):
        for run in asked:
            await server.runs.wait(run.id, timeout=PATIENCE)
    assert sorted(limits, key=str) == [3_600_000, 3_600_000, None]


@pytest.fixture
async def app(make_app: MakeApp) -> AsyncIterator[Duly]:
    app = make_app(roles=())
    for name, attempts, seconds in (("j", 2, 7), ("k", 5, 11)):
        app.job(name, retry=Retry(max_attempts=attempts), timeout=seconds)(lambda: None)
    app.job("plain")(lambda: None)
    async with app:
        yield app


async def test_another_job_brings_its_own_retry_and_timeout(app: Duly) -> None:
    def terms(schedule: Any) -> tuple[Any, ...]:
        return schedule.retry and schedule.retry.max_attempts, schedule.timeout

    assert terms(await app.schedules.create("a", Every("1h"), job="j")) == (2, 7)
    assert terms(await app.schedules.update("a", job="k")) == (5, 11)
    assert terms(await app.schedules.update("a", job="plain")) == (None, 3600)
    assert terms(await app.schedules.update("a", job="unknown")) == (None, 3600)
    await app.schedules.update("a", job="j", retry=Retry(max_attempts=9))
    assert terms(await app.schedules.update("a", job="k")) == (9, 11), "what was chosen stays"
    assert terms(await app.schedules.update("a", retry=None)) == (5, 11), "None is the default, as at creation"
    await app.schedules.update("a", timeout=3)
    assert terms(await app.schedules.update("a", job="j")) == (2, 3)
    assert terms(
        await app.schedules.update("a", job=None, target={"kind": "webhook", "url": "https://example.com"})
    ) == (30, 3)
    assert terms(await app.schedules.update("a", job="k", target=None)) == (5, 3)


async def test_what_is_said_again_as_it_was_shown_is_still_left_to_the_job(app: Duly) -> None:
    made = await app.schedules.create("a", Every("1h"), job="j")
    same = await app.schedules.update("a", retry=made.retry, timeout=made.timeout)
    assert same.revision == 1
    put = await app.schedules.put("a", Every("1h"), "j", retry=made.retry, timeout=made.timeout)
    assert not put.changed
    assert (await app.schedules.update("a", job="k")).timeout == 11
