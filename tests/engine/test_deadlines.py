"""Timeouts of attempts: each at its own instant, by the clock of the engine."""

import asyncio

import pytest

from duly import RunContext
from duly.core.run import Reason, RunStatus
from duly.engine.deadlines import Deadlines
from duly.testing import ManualClock
from tests.engine.lab import Lab


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
