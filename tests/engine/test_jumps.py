"""The jump guard: after a leap of the store's clock nothing fires and nobody is declared dead for one lease."""

from datetime import timedelta

import pytest

from duly import Every, Once, RunContext
from duly.core.instants import to_datetime
from duly.core.run import RunStatus
from duly.engine.jumps import JumpGuard
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.engine.lab import Lab, Recorder


def make(clock: ManualClock) -> tuple[JumpGuard, Recorder]:
    recorder = Recorder()
    return JumpGuard(clock, recorder, limit=5, hold=15), recorder


def test_a_leap_forward_or_back_is_seen_and_held_for_one_lease(clock: ManualClock) -> None:
    for leap in (3600, -3600, 6, -6):
        guard, recorder = make(clock)
        assert not guard.saw(clock.now(), clock.steady())
        clock.move(seconds=60)
        clock.jump(seconds=leap)
        assert guard.saw(clock.now(), clock.steady())
        assert recorder.all("clock_jumped") == [(leap * 1000,)]
        assert guard.held_for() == 15
        clock.move(seconds=15)
        assert guard.held_for() == 0
        assert not guard.saw(clock.now(), clock.steady()), "the leap is over"


def test_a_small_step_is_no_leap(clock: ManualClock) -> None:
    guard, recorder = make(clock)
    for step in (4, -4, 5, -5):
        guard.saw(clock.now(), clock.steady())
        clock.jump(seconds=step)
        clock.move(seconds=1)
        assert not guard.saw(clock.now(), clock.steady())
    assert recorder.told == []


def test_a_slow_answer_is_no_leap_neither_at_once_nor_at_the_next_look(clock: ManualClock) -> None:
    """The store reads its clock somewhere between the question and the answer."""
    guard, recorder = make(clock)
    guard.saw(clock.now(), clock.steady())
    for read_late in (False, True, False, False, True, True):
        clock.move(seconds=1)
        asked_at, early = clock.steady(), clock.now()
        clock.move(seconds=20)
        assert not guard.saw(clock.now() if read_late else early, asked_at)
    assert recorder.told == []


async def test_t03_a_leap_of_an_hour_fires_nothing_for_one_lease_then_what_the_policy_says(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    schedule = await lab.create("k", Every(minutes=1))
    await lab.clock.advance(minutes=2, seconds=30)
    assert len(await lab.runs(schedule)) == 2
    lab.clock.jump(hours=1)
    leapt_at = lab.clock.now()
    await lab.clock.advance(seconds=14)
    assert len(await lab.runs(schedule)) == 2, "held"
    assert lab.recorder.all("clock_jumped") == [(3_600_000,)]
    await lab.clock.advance(seconds=3)
    *_, skipped, caught_up = sorted(await lab.runs(schedule), key=lambda run: run.window_at or 0)
    assert skipped.status is RunStatus.SKIPPED
    assert caught_up.status is RunStatus.COMPLETED
    assert caught_up.window_at is not None
    assert timedelta(0) <= to_datetime(leapt_at) - caught_up.window_at < timedelta(minutes=1), "the newest missed one"
    await lab.clock.advance(minutes=5)
    windows = [run.window_at for run in await lab.runs(schedule)]
    assert len(windows) == len(set(windows)), "no double"


@pytest.mark.parametrize("after_ms", [32_200, 31_200], ids=["recovery sees it first", "the scheduler sees it first"])
async def test_t03_a_leap_takes_no_lease_from_the_living(lab: Lab, after_ms: int) -> None:
    """Every lease has run out by the new clock; the holders live and must be given time to say so."""
    done = []

    @lab.job("long")
    async def long() -> None:
        await lab.nap(120)
        done.append(lab.clock.now())

    await lab.start(roles=("worker",))
    await lab.start(roles=("scheduler",))
    run = await lab.enqueue("long")
    # The scheduler looks every second, recovery every two and a half, and the worker beats every five.
    await lab.clock.advance(milliseconds=after_ms)
    for leap in (40, -20):
        lab.clock.jump(minutes=leap)
        await lab.clock.advance(seconds=40)
    assert lab.recorder.all("runs_recovered") == []
    assert lab.recorder.all("session_lost") == []
    await lab.clock.advance(seconds=60)
    ended = await lab.run(run.id)
    assert (ended.status, ended.attempt, len(done)) == (RunStatus.COMPLETED, 1, 1)


@pytest.mark.parametrize("leap", [1, -1])
async def test_t03_leaps_between_beats_put_no_lease_in_doubt(lab: Lab, leap: int) -> None:
    """How long a lease may be trusted is counted by a clock that nobody sets."""
    starts: list[int] = []

    @lab.job("long")
    async def long(run: RunContext) -> None:
        starts.append(run.fence)
        await lab.nap(60)

    await lab.start()
    run = await lab.enqueue("long")
    for _ in range(30):
        lab.clock.jump(minutes=leap)
        await lab.clock.advance(seconds=1)
    assert lab.recorder.all("lease_doubted") == []
    await lab.clock.advance(seconds=60)
    ended = await lab.run(run.id)
    assert (ended.status, ended.attempt, starts) == (RunStatus.COMPLETED, 1, [1])


async def test_t03_a_step_back_doubles_no_window(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    schedule = await lab.create("k", Every(seconds=10))
    await lab.clock.advance(minutes=2)
    before = {run.window_at for run in await lab.runs(schedule)}
    assert len(before) == 12
    lab.clock.jump(minutes=-1)
    await lab.clock.advance(minutes=2)
    runs = await lab.runs(schedule)
    assert len(runs) == len({run.window_at for run in runs}) == 12 + 6


@rule("A13")
async def test_a13_an_instance_whose_own_clock_is_wrong_neither_fires_early_nor_reclaims(lab: Lab) -> None:
    """The store's clock decides; an instance's own wall clock is not asked."""

    class Skewed(ManualClock):
        def now(self) -> int:
            return lab.clock.now() + 3_600_000

        def steady(self) -> float:
            return lab.clock.steady()

        async def wait(self, event, timeout):
            return await lab.clock.wait(event, timeout)

    @lab.job("work")
    async def work() -> None: ...

    schedule = await lab.create("k", Once(to_datetime(lab.clock.now() + 60_000)))
    await lab.start(clock=Skewed())
    await lab.clock.advance(seconds=59)
    assert await lab.runs(schedule) == []
    await lab.clock.advance(seconds=1)
    (run,) = await lab.runs(schedule)
    assert run.status is RunStatus.COMPLETED
    assert run.fired_at == run.window_at
