"""The operations whose costs are counted. Each prepares what it needs, does its work inside a count, and repeats.

An operation is an async generator: it yields after each repetition. What it does outside a count costs nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Protocol

from duly import Duly, Every
from duly.api.application import application
from duly.core.run import Claim, Completed
from duly.testing import ManualClock
from tests import asgi
from tests.contract.suite.trial import Trial, Worker

JOB = "report"
LATER = datetime(2030, 1, 1, tzinfo=UTC)


class Meter(Protocol):
    """Counts what happens between its start and its stop."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


@dataclass
class Bench:
    """An app on the store whose costs are counted, its clock, and names that are not used yet."""

    app: Duly
    clock: ManualClock
    meter: Meter
    numbers: count[int] = field(default_factory=count)

    @property
    def trial(self) -> Trial:
        return Trial(self.app._store, self.clock)

    def key(self) -> str:
        return f"report-{next(self.numbers):06}"

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[None]:
        await self.meter.start()
        yield
        await self.meter.stop()


Operation = Callable[[Bench], AsyncIterator[None]]
OPERATIONS: dict[str, Operation] = {}


def operation(function: Operation) -> Operation:
    OPERATIONS[function.__name__] = function
    return function


async def create_schedules(bench: Bench, number: int) -> None:
    """Schedules that are due every second."""
    await bench.app.schedules.create_many(
        [{"key": bench.key(), "timing": Every("1s"), "job": JOB} for _ in range(number)]
    )


async def settle(worker: Worker, claims: Sequence[Claim]) -> None:
    await worker.store.settle([worker.ending(claim, Completed(None)) for claim in claims])


@operation
async def create(bench: Bench) -> AsyncIterator[None]:
    while True:
        async with bench.counted():
            await bench.app.schedules.create(bench.key(), Every("1h"), job=JOB, payload={"day": "monday"})
        yield


@operation
async def create_many_1000(bench: Bench) -> AsyncIterator[None]:
    while True:
        schedules = [{"key": bench.key(), "timing": Every("1h"), "job": JOB} for _ in range(1000)]
        async with bench.counted():
            await bench.app.schedules.create_many(schedules)
        yield


@operation
async def list_20_of_40(bench: Bench) -> AsyncIterator[None]:
    await create_schedules(bench, 40)
    while True:
        async with bench.counted():
            page = await bench.app.schedules.list(limit=20)
        assert len(page.items) == 20
        yield


@operation
async def enqueue(bench: Bench) -> AsyncIterator[None]:
    while True:
        async with bench.counted():
            await bench.app.enqueue(JOB, {"day": "monday"})
        yield


async def _fires(bench: Bench, number: int, *, claimed: bool) -> AsyncIterator[None]:
    await create_schedules(bench, number)
    worker = await bench.trial.worker(JOB)
    while True:
        bench.clock.move(seconds=1)
        async with bench.counted():
            fired = await bench.trial.fire(limit=500, grab=worker.grab(500) if claimed else None)
        claims = fired.claims if claimed else await worker.claim(limit=500)
        assert len(claims) == number
        await settle(worker, claims)
        yield


@operation
def fire_1(bench: Bench) -> AsyncIterator[None]:
    return _fires(bench, 1, claimed=False)


@operation
def fire_1_and_claim_it(bench: Bench) -> AsyncIterator[None]:
    """As the scheduler of a process does whose worker has free slots."""
    return _fires(bench, 1, claimed=True)


@operation
def fire_500(bench: Bench) -> AsyncIterator[None]:
    return _fires(bench, 500, claimed=False)


@operation
async def fire_nothing(bench: Bench) -> AsyncIterator[None]:
    await create_schedules(bench, 1)
    while True:
        async with bench.counted():
            fired = await bench.trial.fire()
        assert not fired.windows
        yield


@operation
async def claim_and_settle_1(bench: Bench) -> AsyncIterator[None]:
    worker = await bench.trial.worker(JOB)
    while True:
        await bench.app.enqueue(JOB)
        async with bench.counted():
            (claim,) = await worker.claim()
            await worker.complete(claim, '"sent"')
        yield


@operation
async def claim_nothing(bench: Bench) -> AsyncIterator[None]:
    worker = await bench.trial.worker(JOB)
    while True:
        async with bench.counted():
            assert not await worker.claim()
        yield


async def _claims(bench: Bench, waiting: dict[str, int], limit: int, expected: int) -> AsyncIterator[None]:
    worker = await bench.trial.worker(JOB)
    while True:
        for queue, number in waiting.items():
            await bench.app.runs.enqueue_many(JOB, [{}] * number, queue=queue)
        async with bench.counted():
            claims = await worker.claim(limit=limit)
        assert len(claims) == expected
        while claims:
            await settle(worker, claims)
            claims = await worker.claim()
        yield


@operation
async def claim_4_of_20(bench: Bench) -> AsyncIterator[None]:
    """Another queue has a run that is not due; it is not asked."""
    await bench.app.enqueue(JOB, queue="later", run_at=LATER)
    async for _ in _claims(bench, {"bulk": 20}, limit=4, expected=4):
        yield


@operation
async def claim_all_20(bench: Bench) -> AsyncIterator[None]:
    """The claim asks as well when the next run is due."""
    await bench.app.enqueue(JOB, queue="later", run_at=LATER)
    async for _ in _claims(bench, {"bulk": 20}, limit=50, expected=20):
        yield


@operation
def claim_20_of_three_queues(bench: Bench) -> AsyncIterator[None]:
    """One queue has more than its share; it is asked twice, the others once."""
    return _claims(bench, {"bulk": 40, "mail": 1, "sms": 1}, limit=20, expected=20)


@operation
async def look_for_lost_runs(bench: Bench) -> AsyncIterator[None]:
    while True:
        async with bench.counted():
            assert not await bench.trial.take_lost()
        yield


@operation
async def workflow_step(bench: Bench) -> AsyncIterator[None]:
    """From the call of one step's function to the call of the next one's."""

    async def first() -> int:
        await bench.meter.start()
        return 1

    async def second(number: int) -> int:
        await bench.meter.stop()
        return number + 1

    @bench.app.workflow("two_steps", version="1")
    async def two_steps(ctx: Any) -> int:
        return int(await ctx.step("second", second, await ctx.step("first", first)))

    await bench.app.start()
    try:
        while True:
            run = await bench.app.workflows.start("two_steps", id=bench.key())
            assert (await bench.app.runs.wait(run.id)).result == 2
            yield
    finally:
        await bench.app.stop(grace=0)


async def _requests(bench: Bench, method: str, body: Callable[[str], object], status: int) -> AsyncIterator[None]:
    api = application(bench.app)
    key = bench.key()
    await bench.app.schedules.create(key, Every("1h"), job=JOB, payload={"day": "monday"})
    while True:
        path = "/api/v1/schedules" if method == "POST" else f"/api/v1/schedules/{key}"
        sent = body(bench.key())
        async with bench.counted():
            answer = await asgi.request(api, method, path, sent)
        assert answer.status == status, answer
        yield


@operation
def rest_get(bench: Bench) -> AsyncIterator[None]:
    return _requests(bench, "GET", lambda key: None, 200)


@operation
def rest_post(bench: Bench) -> AsyncIterator[None]:
    body = {"name": "Daily report", "cronExpression": "0 2 * * *", "jobType": JOB, "jobPayload": {"day": "monday"}}
    return _requests(bench, "POST", lambda key: {"key": key, **body}, 201)


@operation
def rest_patch(bench: Bench) -> AsyncIterator[None]:
    return _requests(bench, "PATCH", lambda key: {"name": key}, 200)
