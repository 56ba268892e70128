"""E7, the graceful stop: what runs may finish, what is cut off goes back untried, and nobody waits for nothing."""

import asyncio

from duly import Every, Retry, RunContext
from duly.config import Settings
from duly.core.run import Claim, RunStatus
from duly.engine.attempt import Stop
from tests.acceptance.rules import rule
from tests.engine.lab import Lab
from tests.store_choice import postgres_too

pytestmark = postgres_too("connections at the end")


@rule("S0d.66", "E7")
async def test_e7_what_runs_finishes_within_the_grace_and_nothing_new_begins(lab: Lab) -> None:
    ended: list[int] = []

    @lab.job("work")
    async def work(number: int) -> None:
        await lab.nap(10)
        ended.append(number)

    instance = await lab.start()
    runs = [await lab.enqueue("work", {"number": number}) for number in range(3)]
    stopping = asyncio.create_task(instance.stop(30))
    lab.instances.remove(instance)
    await lab.clock.advance(seconds=1)
    late = await lab.enqueue("work", {"number": 99})
    schedule = await lab.create("k", Every(seconds=2), payload={"number": 98})
    await lab.clock.advance(seconds=8)
    assert not stopping.done()
    await lab.finish(stopping, seconds=2)
    assert sorted(ended) == [0, 1, 2]
    assert {(await lab.run(run.id)).status for run in runs} == {RunStatus.COMPLETED}
    assert (await lab.run(late.id)).status is RunStatus.PENDING
    assert await lab.runs(schedule) == []
    assert await lab.plain.list_instances() == []


async def test_e7_what_winds_down_for_longer_than_a_lease_keeps_it(lab: Lab) -> None:
    starts: list[int] = []

    @lab.job("work")
    async def work(run: RunContext) -> str:
        starts.append(run.fence)
        await lab.nap(60)
        return "done"

    leaving = await lab.start()
    run = await lab.enqueue("work")
    await lab.start()
    await lab.stop(leaving, grace=90)
    done = await lab.run(run.id)
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "done", 1)
    assert starts == [1], "nobody took it for lost meanwhile"


@rule("E7")
async def test_e7_what_is_cut_off_is_released_at_once_and_spends_no_attempt(lab: Lab) -> None:
    attempts: list[tuple[str, int]] = []

    @lab.job("work", retry=Retry(max_attempts=1))
    async def work(run: RunContext) -> str:
        attempts.append((run.id, run.attempt))
        await lab.nap(20)
        return "done"

    first = await lab.start()
    run = await lab.enqueue("work")
    await lab.stop(first, grace=5)
    stopped_at = lab.clock.steady()
    released = await lab.run(run.id)
    assert (released.status, released.attempt) == (RunStatus.PENDING, 0), "not failed, not counted"
    (attempt,) = await lab.plain.read_attempts(run.id)
    assert (attempt.outcome, attempt.attempt_number, attempt.fence) == ("released", 1, 1)
    await lab.start()
    assert lab.clock.steady() == stopped_at
    assert (await lab.run(run.id)).status is RunStatus.RUNNING, "taken again at once, without waiting for the lease"
    await lab.clock.advance(seconds=21)
    done = await lab.run(run.id)
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "done", 1)
    assert attempts == [(run.id, 1), (run.id, 1)]


@rule("E7")
async def test_e7_a_stop_without_grace_returns_at_once(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        await lab.nap(1000)

    instance = await lab.start(settings=Settings(poll=300, lease=3000, heartbeat=1000))
    run = await lab.enqueue("work")
    before = lab.clock.steady()
    lab.instances.remove(instance)
    stopping = asyncio.create_task(instance.stop(0))
    await lab.clock.settle()
    assert stopping.done(), "the clock did not move"
    assert lab.clock.steady() == before
    assert (await lab.run(run.id)).status is RunStatus.PENDING


@rule("E7")
async def test_e7_an_idle_instance_stops_at_once_whatever_its_poll(lab: Lab) -> None:
    instance = await lab.start(settings=Settings(poll=3600, lease=30_000, heartbeat=10_000))
    lab.instances.remove(instance)
    stopping = asyncio.create_task(instance.stop(30))
    await lab.clock.settle()
    assert stopping.done()


async def test_a_handler_that_ignores_the_shutdown_is_left_behind_and_its_run_given_back(lab: Lab) -> None:
    over = asyncio.Event()

    @lab.job("work")
    async def work() -> None:
        for _ in range(5):
            try:
                await over.wait()
                break
            except asyncio.CancelledError:
                continue

    instance = await lab.start()
    run = await lab.enqueue("work")
    await lab.stop(instance, grace=1)
    released = await lab.run(run.id)
    assert (released.status, released.attempt) == (RunStatus.PENDING, 0)
    over.set()
    await lab.clock.settle()
    assert (await lab.run(run.id)).status is RunStatus.PENDING, "its late success counts no more"


async def test_a_claim_that_comes_back_during_the_stop_is_given_back(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        raise AssertionError("the instance is stopping")

    instance = await lab.start()
    gate = lab.store.gate("claim_runs")
    run = await lab.enqueue("work")
    assert (await lab.run(run.id)).status is RunStatus.RUNNING
    lab.instances.remove(instance)
    stopping = asyncio.create_task(instance.stop(0))
    await lab.clock.settle()
    gate.set()
    await lab.finish(stopping, seconds=10)
    released = await lab.run(run.id)
    assert (released.status, released.attempt) == (RunStatus.PENDING, 0)
    assert instance._settler.backlog == 0


async def test_a_stop_ends_although_the_store_is_gone(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        await lab.nap(5)

    instance = await lab.start()
    run = await lab.enqueue("work")
    lab.store.down()
    lab.instances.remove(instance)
    stopping = asyncio.create_task(instance.stop(10))
    for _ in range(60):
        await lab.clock.advance(seconds=1)
    assert stopping.done(), "what cannot be written within a lease is lost to us anyway"
    await stopping
    assert lab.recorder.all("settlements_abandoned") == [([run.id],)], "and says so"
    lab.store.up()
    await lab.start()
    await lab.clock.advance(seconds=30)
    (run,) = await lab.runs()
    assert (run.status, run.attempt) == (RunStatus.COMPLETED, 2)


async def test_a_stop_while_the_session_is_being_reopened_leaves_no_task_behind(lab: Lab) -> None:
    instance = await lab.start()
    assert instance.session is not None
    await lab.plain.close_session(instance.session)
    lab.store.down("open_session")
    await lab.clock.advance(seconds=10)
    assert instance.session is None
    lab.instances.remove(instance)
    await lab.finish(instance.stop(0), seconds=5)
    lab.store.up()
    await lab.clock.advance(seconds=5)
    assert await lab.plain.list_instances() == []
    assert lab.clock.waiting == 0


async def test_a_run_that_is_stopped_before_its_first_step_is_given_back_all_the_same(lab: Lab) -> None:
    """A task that is cancelled before it has begun runs none of its code: its run must not be forgotten."""

    @lab.job("work")
    async def work() -> None: ...

    instance = await lab.start()
    worker = instance._worker
    start = worker._start

    def start_and_stop(claim: Claim, session: int) -> None:
        start(claim, session)
        worker._active[claim.id].stop(Stop.SHUTDOWN)

    worker._start = start_and_stop  # type: ignore[method-assign]
    run = await lab.enqueue("work")
    worker._start = start  # type: ignore[method-assign]
    await lab.clock.advance(seconds=5)
    ended = await lab.run(run.id)
    assert (ended.status, ended.attempt) == (RunStatus.COMPLETED, 1)
