"""A worker that a queue holds back: it claims again the moment it may, and not at the next poll."""

import asyncio
from dataclasses import replace
from typing import Any

from duly.config import Settings
from duly.core.run import RunStatus
from duly.core.timing import Every
from duly.engine.context import RunContext
from tests.engine.lab import Lab

SLOW_POLL = Settings(lease=150, heartbeat=50, poll=30, concurrency=10)


async def set_up(lab: Lab, name: str = "mail", **words: Any) -> None:
    await lab.plain.change_queue(name, lambda queue, now: replace(queue, **words))
    for instance in lab.instances:
        instance.wake_worker()
    await lab.clock.settle()


async def test_the_end_of_a_run_lets_the_next_one_start_at_once(lab: Lab) -> None:
    lab.settings = SLOW_POLL
    gates = [asyncio.Event() for _ in range(4)]
    started: list[int] = []

    @lab.job("work")
    async def work(n: int) -> None:
        started.append(n)
        await gates[n].wait()

    await set_up(lab, max_running=2)
    await lab.start()
    for n in range(4):
        await lab.enqueue("work", {"n": n}, queue="mail")
    assert started == [0, 1]
    gates[1].set()
    await lab.clock.settle()
    assert started == [0, 1, 2]
    gates[0].set()
    gates[2].set()
    await lab.clock.settle()
    assert started == [0, 1, 2, 3]
    gates[3].set()
    await lab.clock.settle()


async def test_a_worker_sleeps_until_the_next_window_of_a_rate_and_no_longer(lab: Lab) -> None:
    lab.settings = SLOW_POLL
    started: list[int] = []

    @lab.job("work")
    async def work() -> None:
        started.append(lab.clock.now())

    await set_up(lab, rate=2, per_ms=700)
    await lab.start()
    began = lab.clock.now()
    for _ in range(5):
        await lab.enqueue(queue="mail")
    await lab.clock.advance(milliseconds=699)
    assert len(started) == 2
    await lab.clock.advance(milliseconds=1)
    assert len(started) == 4
    await lab.clock.advance(milliseconds=700)
    assert [at - began for at in started] == [0, 0, 700, 700, 1400]


async def test_what_fires_into_a_limited_queue_waits_for_its_place(lab: Lab) -> None:
    running = most = 0

    @lab.job("work")
    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await lab.nap(1)
        running -= 1

    await set_up(lab, max_running=1)
    for n in range(3):
        await lab.create(f"s{n}", Every(minutes=1), queue="mail")
    await lab.start()
    await lab.clock.advance(seconds=60)
    assert most == 1
    await lab.clock.advance(seconds=4)
    assert most == 1
    assert [run.status for run in await lab.runs()] == [RunStatus.COMPLETED] * 3


async def test_a_paused_queue_starts_nothing_until_it_is_resumed(lab: Lab) -> None:
    started: list[str] = []

    @lab.job("work")
    async def work() -> None:
        started.append("work")

    await lab.start()
    await set_up(lab, paused_at=lab.clock.now(), pause_reason="flood")
    run = await lab.enqueue(queue="mail")
    await lab.clock.advance(seconds=10)
    assert started == []
    await set_up(lab, paused_at=None, pause_reason=None)
    assert started == ["work"]
    assert (await lab.run(run.id)).status is RunStatus.COMPLETED


async def test_the_place_of_a_crashed_instance_is_free_after_its_lease(lab: Lab) -> None:
    """J4: a live holder keeps its place for as long as it takes."""
    lab.settings = Settings(lease=15, heartbeat=5, poll=1, concurrency=10)
    started: list[str] = []

    @lab.job("work")
    async def work(name: str) -> None:
        started.append(name)
        await lab.nap(120)

    await set_up(lab, max_running=2)
    doomed = await lab.start(roles=("worker",), settings=replace(lab.settings, concurrency=1))
    await lab.enqueue("work", {"name": "crashes"}, queue="mail")
    await lab.start(settings=replace(lab.settings, concurrency=2))
    await lab.enqueue("work", {"name": "takes long"}, queue="mail")
    assert started == ["crashes", "takes long"]
    await lab.enqueue("work", {"name": "waits"}, queue="mail")
    lab.crash(doomed)
    await lab.clock.advance(seconds=10)
    assert len(started) == 2
    await lab.clock.advance(seconds=10)
    assert len(started) == 3, "one more, and not two: the live one keeps its place"


async def test_fires_that_meet_every_free_place_do_not_keep_what_is_enqueued_waiting(lab: Lab) -> None:
    """The handlers end at the instant of the next fires, which are there before the claim."""
    started: list[str] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        started.append(run.payload["queue"])
        await lab.nap(1)

    await lab.start()
    for n in range(250):
        await lab.create(
            f"s{n:03}", Every(seconds=1), queue="bulk", overlap="allow", payload={"queue": "bulk"}, wake=n == 249
        )
    await lab.clock.advance(milliseconds=2100)
    await lab.enqueue("work", {"queue": "mail"}, queue="mail")
    await lab.clock.advance(seconds=4)
    assert "mail" in started


async def test_a_worker_with_one_place_serves_every_queue(lab: Lab) -> None:
    lab.settings = replace(SLOW_POLL, concurrency=1)
    started: list[str] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        started.append(run.payload["queue"])
        await lab.nap(0.01)

    for queue, count in (("bulk", 100), ("default", 1), ("mail", 1)):
        for _ in range(count):
            await lab.enqueue("work", {"queue": queue}, queue=queue)
    await lab.start()
    await lab.clock.advance(milliseconds=500)
    assert {"bulk", "default", "mail"} == set(started)
