"""Timeouts of attempts: each at its own instant, by the clock of the engine."""

import asyncio
import threading
from typing import Any

import pytest

from duly import RunContext
from duly.core.run import Claim, Completed, Reason, RunStatus
from duly.engine.attempt import Attempt
from duly.engine.deadlines import Deadlines
from duly.engine.registry import make_handler
from duly.engine.threads import Threads
from duly.testing import ManualClock
from tests.engine.lab import Lab

TIMEOUT = 10
PATIENCE = 60


class Handler:
    """Notes when its time is over."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.at: float | None = None

    def time_out(self) -> None:
        self.at = self._clock.steady()


async def test_each_attempt_is_timed_out_at_its_own_deadline_unless_it_ended_before(clock: ManualClock) -> None:
    deadlines = Deadlines(clock)
    attempts = {seconds: Handler(clock) for seconds in (30, 5, 15, 600)}
    ended = Handler(clock)
    deadlines.watch(ended, 2)
    for seconds, attempt in attempts.items():
        deadlines.watch(attempt, seconds)
    deadlines.forget(ended)
    await clock.advance(seconds=100)
    assert {seconds: attempt.at for seconds, attempt in attempts.items()} == {30: 30, 5: 5, 15: 15, 600: None}
    assert ended.at is None
    later = Handler(clock)
    deadlines.watch(later, 1)
    await clock.advance(seconds=1)
    assert later.at == 101
    deadlines.close()


@pytest.mark.parametrize("leap", [1, -1])
async def test_a_clock_that_is_set_times_nothing_out_and_puts_nothing_off(clock: ManualClock, leap: int) -> None:
    deadlines = Deadlines(clock)
    attempts = {seconds: Handler(clock) for seconds in (30, 60)}
    for seconds, attempt in attempts.items():
        deadlines.watch(attempt, seconds)
    await clock.advance(seconds=10)
    clock.jump(hours=leap)
    await clock.advance(seconds=90)
    assert {seconds: attempt.at for seconds, attempt in attempts.items()} == {30: 30, 60: 60}
    deadlines.close()


async def test_an_attempt_that_ends_before_anybody_looks_does_not_hide_those_after_it(clock: ManualClock) -> None:
    """As one of an async handler that never waits does."""
    deadlines = Deadlines(clock)
    deadlines.watch(ended := Handler(clock), 5)
    deadlines.forget(ended)
    await clock.advance(seconds=1)
    deadlines.watch(attempt := Handler(clock), 5)
    await clock.advance(seconds=10)
    assert (ended.at, attempt.at) == (None, 6)
    deadlines.close()


async def test_after_a_rest_without_attempts_the_next_one_is_watched_again(clock: ManualClock) -> None:
    deadlines = Deadlines(clock)
    for start in (0, 10, 20):
        await clock.advance_to(ManualClock().now() + start * 1000)
        attempt = Handler(clock)
        deadlines.watch(attempt, 3)
        await clock.advance(seconds=5)
        assert attempt.at == start + 3
    deadlines.close()


async def test_an_attempt_that_is_watched_while_others_time_out_is_not_forgotten(clock: ManualClock) -> None:
    deadlines = Deadlines(clock)
    second = Handler(clock)

    class First(Handler):
        def time_out(self) -> None:
            super().time_out()
            deadlines.watch(second, 2)

    deadlines.watch(First(clock), 1)
    await clock.advance(seconds=10)
    assert second.at == 3
    deadlines.close()


async def test_waiting_for_a_thread_is_not_running(clock: ManualClock) -> None:
    """One thread, three attempts that take half of their time each: each is timed from when its handler begins."""
    threads, deadlines = Threads(1), Deadlines(clock)
    begun, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def half() -> str:
        begun.release()
        return "done" if go_on.acquire(timeout=PATIENCE) else "nobody came"

    handler = make_handler("half", half)
    attempts = [Attempt(claim(f"r{number}", "half"), 1, handler, threads, deadlines, 1000) for number in range(3)]
    outcomes = []
    for attempt in attempts:
        task: asyncio.Task[Any] = asyncio.create_task(attempt.run())
        attempt.task = task
        outcomes.append(task)
    for outcome in outcomes:
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
        await clock.advance(seconds=TIMEOUT / 2)
        go_on.release()
        assert await outcome == Completed('"done"')
    deadlines.close()
    threads.close()


def claim(id: str, job: str) -> Claim:
    return Claim(
        id=id, job=job, kind="direct", queue="default", attempt=1, max_attempts=1, fence=1, payload=None,
        schedule_id=None, revision=None, window_at=None, due_at=0, fired_at=0, lane=None,
        timeout_ms=TIMEOUT * 1000, tenant="",
    )  # fmt: skip


@pytest.mark.parametrize("attempts", [1, 2])
async def test_f5_an_attempt_over_its_limit_is_stopped_and_counted_as_failed(lab: Lab, attempts: int) -> None:
    stopped: list[tuple[int, float]] = []

    @lab.job("slow", timeout_ms=60_000, has_timeout=True)
    async def slow(run: RunContext) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append((run.attempt, lab.clock.steady()))
            raise

    await lab.start()
    run = await lab.enqueue("slow", max_attempts=attempts)
    await lab.clock.advance(seconds=55)
    assert stopped == []
    await lab.clock.advance(minutes=3)
    assert [attempt for attempt, _ in stopped] == list(range(1, attempts + 1))
    assert stopped[0][1] == pytest.approx(60, abs=1.1)
    done = await lab.run(run.id)
    assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.TIMEOUT, attempts)
