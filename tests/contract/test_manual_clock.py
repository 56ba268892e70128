"""The clock of tests: it moves only when told, and lets everybody see each instant on the way."""

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from duly.testing import ManualClock, NeverAtRest, Watched

MONDAY = 1_767_571_200_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_it_starts_where_it_is_told() -> None:
    assert ManualClock().now() == MONDAY
    assert ManualClock(42).now() == 42
    assert ManualClock("2026-01-05T01:00:00+01:00").now() == MONDAY
    assert ManualClock(datetime(2026, 1, 5, tzinfo=UTC)).now() == MONDAY


def test_both_hands_move_together(clock: ManualClock) -> None:
    clock.move(days=1, hours=1, minutes=1, seconds=1.5, milliseconds=1)
    assert clock.now() - MONDAY == 90_061_501
    assert clock.steady() == 90_061.501
    clock.move_to("2026-01-07T00:00:00Z")
    assert clock.now() == MONDAY + 2 * 86_400_000


def test_only_a_jump_goes_back_and_it_leaves_the_steady_hand(clock: ManualClock) -> None:
    clock.jump(hours=-1)
    assert clock.now() == MONDAY - 3_600_000
    assert clock.steady() == 0
    with pytest.raises(ValueError, match="jump"):
        clock.move(seconds=-1)
    with pytest.raises(ValueError, match="jump"):
        clock.move_to(MONDAY - 7_200_000)


async def test_a_set_event_ends_a_wait_at_once(clock: ManualClock) -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(clock.wait(event, 60))
    await clock.settle()
    assert clock.waiting == 1
    event.set()
    assert await waiting is True
    assert clock.waiting == 0
    assert await clock.wait(event, 60) is True


async def test_a_wait_ends_when_its_time_has_passed_and_not_before(clock: ManualClock) -> None:
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), 60))
    await clock.advance(seconds=59, milliseconds=999)
    assert not waiting.done()
    await clock.advance(milliseconds=1)
    assert waiting.result() is False


async def test_a_wait_of_no_time_lets_others_run_and_ends(clock: ManualClock) -> None:
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    assert await clock.wait(event, 0) is True
    assert await clock.wait(asyncio.Event(), -1) is False


async def test_a_loop_sees_every_instant_on_the_way(clock: ManualClock) -> None:
    seen: list[int] = []

    async def tick(every: float) -> None:
        while not await clock.wait(asyncio.Event(), every):
            seen.append((clock.now() - MONDAY) // 1000)

    tasks = [asyncio.create_task(tick(60)), asyncio.create_task(tick(90))]
    await clock.advance(minutes=5)
    assert seen == [60, 90, 120, 180, 180, 240, 270, 300]
    for task in tasks:
        task.cancel()


async def test_a_plain_move_wakes_once_for_all_that_was_missed(clock: ManualClock) -> None:
    seen: list[int] = []

    async def tick() -> None:
        while not await clock.wait(asyncio.Event(), 60):
            seen.append(clock.now() - MONDAY)

    task = asyncio.create_task(tick())
    await clock.settle()
    clock.move(hours=1)
    await clock.settle()
    assert seen == [3_600_000]
    task.cancel()


async def test_a_jump_of_the_wall_ends_no_wait(clock: ManualClock) -> None:
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), 60))
    await clock.settle()
    clock.jump(days=1)
    await clock.settle()
    assert not waiting.done()
    await clock.advance(minutes=1)
    assert waiting.done()


async def test_a_cancelled_wait_is_forgotten(clock: ManualClock) -> None:
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), 60))
    await clock.settle()
    waiting.cancel()
    await clock.settle()
    assert clock.waiting == 0
    assert waiting.cancelled()


async def test_an_advance_waits_for_work_in_threads(clock: ManualClock) -> None:
    class Server:
        async def ask(self) -> int:
            return await asyncio.to_thread(clock.now)

    server = Watched(Server(), clock)
    seen: list[int] = []

    async def poll() -> None:
        while not await clock.wait(asyncio.Event(), 1):
            seen.append(await server.ask() - MONDAY)

    task = asyncio.create_task(poll())
    await clock.advance(seconds=5)
    assert seen == [1000, 2000, 3000, 4000, 5000]
    task.cancel()


async def test_an_advance_waits_for_loops_of_other_threads(clock: ManualClock) -> None:
    seen: list[int] = []
    started = threading.Event()

    async def beat() -> None:
        started.set()
        while len(seen) < 3:
            await clock.wait(asyncio.Event(), 5)
            seen.append(clock.now() - MONDAY)

    thread = threading.Thread(target=lambda: asyncio.run(beat()))
    thread.start()
    await asyncio.to_thread(started.wait)
    while not clock.waiting:  # noqa: ASYNC110  # the other loop is on another thread
        await asyncio.sleep(0)
    await clock.advance(seconds=15)
    await asyncio.to_thread(thread.join)
    assert seen == [5000, 10_000, 15_000]


async def test_a_loop_that_never_waits_is_named(clock: ManualClock) -> None:
    async def spin() -> None:
        while True:  # noqa: ASYNC110  # the fault to be found
            await asyncio.sleep(0)

    task = asyncio.create_task(spin())
    with pytest.raises(NeverAtRest):
        await clock.settle()
    task.cancel()
