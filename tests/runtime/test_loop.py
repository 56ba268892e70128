"""The loop: it rests as long as it is told, never misses a wake-up, backs off after errors, and ends when told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from duly.runtime.chance import Chance
from duly.runtime.clock import SystemClock
from duly.runtime.events import Observer
from duly.runtime.loop import FIRST_BACKOFF, LONGEST_BACKOFF, Loop
from duly.testing import ManualClock

Work = Callable[[], Awaitable[float | None]]


class Listener(Observer):
    def __init__(self) -> None:
        self.failures: list[tuple[str, Exception]] = []

    def loop_failed(self, name: str, error: Exception) -> None:
        self.failures.append((name, error))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(0)


def make(work: Work, clock: ManualClock, observer: Observer | None = None) -> Loop:
    return Loop("test", work, clock=clock, chance=Chance(1), observer=observer or Observer())


@asynccontextmanager
async def running(loop: Loop, clock: ManualClock) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(loop.run())
    await clock.settle()
    yield task
    loop.stop()
    await clock.settle()
    assert task.done(), "the loop did not end when it was told"
    await task


async def test_it_rests_as_long_as_the_pass_says(clock: ManualClock) -> None:
    passes: list[int] = []
    rests = iter([2.0, 0.5, 10.0, 10.0])

    async def work() -> float:
        passes.append(clock.now())
        return next(rests)

    async with running(make(work, clock), clock):
        await clock.advance(seconds=5)
        assert passes == [0, 2000, 2500]


async def test_none_rests_until_woken(clock: ManualClock) -> None:
    passes: list[int] = []

    async def work() -> None:
        passes.append(clock.now())

    loop = make(work, clock)
    async with running(loop, clock):
        await clock.advance(days=3)
        assert passes == [0]
        loop.wake()
        await clock.settle()
        assert passes == [0, 3 * 86_400_000]


async def test_a_wake_up_ends_the_rest_at_once(clock: ManualClock) -> None:
    passes: list[int] = []

    async def work() -> float:
        passes.append(clock.now())
        return 60

    loop = make(work, clock)
    async with running(loop, clock):
        await clock.advance(seconds=7)
        loop.wake()
        await clock.settle()
        assert passes == [0, 7000]
        await clock.advance(seconds=60)
        assert passes == [0, 7000, 67_000], "the rest after a wake-up counts from the wake-up"


async def test_a_wake_up_during_a_pass_is_not_lost(clock: ManualClock) -> None:
    passes = 0
    gate = asyncio.Event()

    async def work() -> float:
        nonlocal passes
        passes += 1
        await gate.wait()
        return 3600

    loop = make(work, clock)
    async with running(loop, clock):
        assert passes == 1
        loop.wake()
        gate.set()
        await clock.settle()
        assert passes == 2, "the wake-up came while the pass looked elsewhere: it must look again"
        await clock.settle()
        assert passes == 2, "one wake-up, one more pass"


async def test_many_wake_ups_are_one(clock: ManualClock) -> None:
    passes = 0

    async def work() -> float:
        nonlocal passes
        passes += 1
        return 3600

    loop = make(work, clock)
    async with running(loop, clock):
        for _ in range(100):
            loop.wake()
        await clock.settle()
        assert passes == 2


async def test_a_rest_of_zero_lets_others_run(clock: ManualClock) -> None:
    seen: list[str] = []

    async def work() -> float:
        seen.append("loop")
        return 0 if len(seen) < 50 else 60

    async def other() -> None:
        await asyncio.sleep(0)
        seen.append("other")

    loop = make(work, clock)
    tasks = [asyncio.create_task(loop.run()), asyncio.create_task(other())]
    await clock.settle()
    loop.stop()
    await asyncio.gather(*tasks)
    assert seen.index("other") < 5
    assert seen.count("loop") == 49


async def test_an_error_is_told_and_the_loop_goes_on_after_a_pause(clock: ManualClock) -> None:
    listener = Listener()
    passes: list[int] = []

    async def work() -> float:
        passes.append(clock.now())
        if len(passes) == 1:
            raise RuntimeError("once")
        return 3600

    async with running(make(work, clock, listener), clock):
        assert [(name, str(error)) for name, error in listener.failures] == [("test", "once")]
        await clock.advance(seconds=1)
        assert len(passes) == 2
        assert FIRST_BACKOFF * 1000 <= passes[1] <= FIRST_BACKOFF * 2 * 1000 + 1


async def test_errors_back_off_to_a_limit_and_a_good_pass_forgets_them(clock: ManualClock) -> None:
    passes: list[int] = []
    broken = True

    async def work() -> float:
        passes.append(clock.now())
        if broken:
            raise OSError("down")
        return 1000

    async with running(make(work, clock), clock):
        await clock.advance(minutes=5)
        gaps = [after - before for before, after in pairwise(passes)]
        assert max(gaps) <= LONGEST_BACKOFF * 1000 + 1
        assert min(gaps) >= FIRST_BACKOFF * 1000
        assert len(passes) < 300, "five minutes of errors must not be a busy loop"
        assert max(gaps[10:]) > 10 * FIRST_BACKOFF * 1000, "the pauses grow"
        broken = False
        await clock.advance(seconds=LONGEST_BACKOFF + 1)
        healed_at = passes[-1]
        broken = True
        await clock.advance(seconds=1001)
        again = [at for at in passes if at > healed_at]
        assert again[1] - again[0] <= FIRST_BACKOFF * 2 * 1000 + 1, "the count of failures starts anew"


async def test_stop_lets_the_pass_in_flight_finish(clock: ManualClock) -> None:
    gate = asyncio.Event()
    finished = False

    async def work() -> float:
        nonlocal finished
        await gate.wait()
        finished = True
        return 3600

    loop = make(work, clock)
    task = asyncio.create_task(loop.run())
    await clock.settle()
    loop.stop()
    await clock.settle()
    assert not task.done()
    gate.set()
    await clock.settle()
    assert task.done()
    assert finished


async def test_a_stop_before_the_start_means_no_pass(clock: ManualClock) -> None:
    async def work() -> float:
        raise AssertionError("the loop was stopped")

    loop = make(work, clock)
    loop.stop()
    await loop.run()


async def test_cancelling_the_task_is_not_taken_for_an_error(clock: ManualClock) -> None:
    listener = Listener()

    async def work() -> float:
        await asyncio.Event().wait()
        return 0

    task = asyncio.create_task(make(work, clock, listener).run())
    await clock.settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert listener.failures == []


async def test_the_real_clock_wakes_and_times_out() -> None:
    clock, event = SystemClock(), asyncio.Event()
    assert await clock.wait(event, 0.005) is False
    assert await clock.wait(event, 0) is False
    assert await clock.wait(event, -1) is False
    asyncio.get_running_loop().call_later(0.005, event.set)
    assert await clock.wait(event, 30) is True
    assert await clock.wait(event, 0) is True
