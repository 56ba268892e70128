"""The heartbeat's thread: it beats while handlers block, not for a loop that stands still."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from duly.config import Settings
from duly.core.errors import StoreUnavailable
from duly.engine.heartbeat import Heartbeat
from duly.runtime.clock import SystemClock
from duly.store.values import Beat
from tests.engine.lab import Recorder

SETTINGS = Settings(lease=0.66, heartbeat=0.2)


class Pulse:
    """A store that only beats; ``answer`` is called on the heartbeat's thread."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.threads: set[str] = set()
        self.answer: Callable[[], Beat] = lambda: Beat(0, True)

    def beat_sync(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        self.at.append(time.monotonic())
        self.threads.add(threading.current_thread().name)
        return self.answer()

    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        return self.beat_sync(session, lease_ms=lease_ms)


class Chest:
    def __init__(self) -> None:
        self.pulse = Pulse()
        self.session: int | None = 7
        self.heard: list[Beat] = []
        self.distrusted: list[int] = []
        self.recorder = Recorder()
        self.heart = Heartbeat(
            self.pulse,
            SETTINGS,
            SystemClock(),
            self.recorder,
            session=lambda: self.session,
            on_beat=lambda session, beat: self.heard.append(beat),
            on_distrust=self.distrusted.append,
        )

    async def watch(self) -> None:
        while True:  # noqa: ASYNC110  # what the loop of an instance does
            await asyncio.sleep(await self.heart.watch())

    async def beats(self, count: int, within: float = 10) -> None:
        goal, give_up_at = len(self.pulse.at) + count, time.monotonic() + within
        while len(self.pulse.at) < goal:
            assert time.monotonic() < give_up_at, "no beat"
            await asyncio.sleep(0.005)


@pytest.fixture
async def chest():
    chest = Chest()
    chest.heart.start()
    watching = asyncio.create_task(chest.watch())
    yield chest
    watching.cancel()
    await chest.heart.stop()


async def test_it_beats_on_a_thread_of_its_own_and_tells_on_the_loop(chest: Chest) -> None:
    await chest.beats(3)
    assert chest.pulse.threads == {"duly-heartbeat"}
    await asyncio.sleep(0.05)
    assert len(chest.heard) >= 2


async def test_it_goes_on_while_the_loop_is_blocked_but_not_for_half_a_lease(chest: Chest) -> None:
    await chest.beats(1)
    before = time.monotonic()
    time.sleep(1.0)  # noqa: ASYNC251  # the loop stands still
    during = [at - before for at in chest.pulse.at if at > before]
    assert during, "a moment of blocking does not stop the beats"
    assert max(during) <= SETTINGS.lease / 2 + 2 * SETTINGS.heartbeat, "an instance that cannot work must not keep it"
    await chest.beats(2)


async def test_a_beat_that_hung_is_followed_by_the_next_at_its_time(chest: Chest) -> None:
    """The loop was alive all the while: it must not be taken for standing still."""
    rests: list[float] = []

    def hang() -> Beat:
        time.sleep(SETTINGS.lease / 2 + 0.1)
        rests.append(time.monotonic())
        return Beat(0, True)

    for _ in range(3):
        chest.pulse.answer = hang
        await chest.beats(1)
        chest.pulse.answer = lambda: Beat(0, True)
        await chest.beats(1)
        rests[-1] = chest.pulse.at[-1] - rests[-1]
    assert min(rests) < 1.6 * SETTINGS.heartbeat, "not one beat was left out in all three tries"


async def test_a_new_session_after_a_long_time_without_one_beats_at_once(chest: Chest) -> None:
    chest.session = None
    await asyncio.sleep(0.7)
    count = len(chest.pulse.at)
    opened = time.monotonic()
    chest.session = 8
    await chest.beats(1)
    assert chest.pulse.at[count] - opened < 1.7 * SETTINGS.heartbeat


async def test_distrust_begins_before_the_lease_runs_out_although_the_beat_hangs(chest: Chest) -> None:
    hanging = threading.Event()

    def hang() -> Beat:
        hanging.wait(10)
        raise StoreUnavailable("it took too long")

    await chest.beats(1)
    sent_at = chest.pulse.at[-1]
    chest.pulse.answer = hang
    try:
        while not chest.distrusted:
            await asyncio.sleep(0.005)
            assert time.monotonic() - sent_at < 5
        assert time.monotonic() - sent_at < SETTINGS.lease
        assert not chest.heart.trusted
        assert chest.recorder.count("beat_failed") == 0, "nobody knows yet how the beat ends"
        assert chest.recorder.all("lease_doubted") == [(7,)]
    finally:
        chest.pulse.answer = lambda: Beat(0, True)
        hanging.set()
    await chest.beats(2)
    assert chest.heart.trusted
    assert chest.distrusted == [7], "told once"


async def test_distrust_begins_when_the_lease_of_the_last_good_beat_has_run_out(chest: Chest) -> None:
    def away() -> Beat:
        raise StoreUnavailable("gone")

    await chest.beats(1)
    since = time.monotonic()
    chest.pulse.answer = away
    while not chest.distrusted:
        await asyncio.sleep(0.005)
        assert time.monotonic() - since < 10
    assert time.monotonic() - since >= SETTINGS.lease - 2 * SETTINGS.heartbeat
    assert chest.recorder.count("beat_failed") >= 2
    assert set(chest.distrusted) == {7}


async def test_a_beat_is_made_at_once_when_somebody_asks(chest: Chest) -> None:
    await chest.beats(1)
    count, asked = len(chest.pulse.at), time.monotonic()
    chest.heart.beat_soon()
    await chest.beats(1)
    assert chest.pulse.at[count] - asked < SETTINGS.heartbeat


async def test_stop_ends_the_thread_promptly() -> None:
    chest = Chest()
    chest.heart.start()
    thread = chest.heart._thread
    assert thread is not None
    before = time.monotonic()
    await chest.heart.stop()
    assert not thread.is_alive()
    assert time.monotonic() - before < 1
