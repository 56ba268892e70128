"""The heartbeat's thread: it beats while handlers block, not for a loop that stands still."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from duly.config import Settings
from duly.core.errors import StoreUnavailable
from duly.engine.heartbeat import MARGIN, Heartbeat
from duly.store.values import Beat
from duly.testing import ManualClock
from tests.engine.lab import Recorder
from tests.threads import deny_threads

SETTINGS = Settings(lease=15_000.0, heartbeat=5_000.0)
"""So long that the thread makes no beat of its own while a test makes them by hand."""

LEASE = SETTINGS.lease
PATIENCE = 60


class Pulse:
    """A store that only beats; ``answer`` is called on the thread that beats."""

    def __init__(self) -> None:
        self.sessions: list[int] = []
        self.threads: set[str] = set()
        self.answer: Callable[[], Beat] = lambda: Beat(0, True)
        self.beaten = threading.Semaphore(0)

    def beat_sync(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        self.sessions.append(session)
        self.threads.add(threading.current_thread().name)
        self.beaten.release()
        return self.answer()

    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        return self.beat_sync(session, lease_ms=lease_ms)


class Chest:
    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.pulse = Pulse()
        self.clock = ManualClock()
        self.session: int | None = 7
        self.heard: list[Beat] = []
        self.distrusted: list[int] = []
        self.recorder = Recorder()
        self.heart = Heartbeat(
            self.pulse,
            settings,
            self.clock,
            self.recorder,
            session=lambda: self.session,
            on_beat=lambda session, beat: self.heard.append(beat),
            on_distrust=self.distrusted.append,
        )

    @property
    def beats(self) -> int:
        return len(self.pulse.sessions)

    async def beat(self) -> None:
        """What the thread does when it is time, with a loop that turns."""
        await asyncio.to_thread(self.heart.beat_once)
        await asyncio.sleep(0)  # what it told is heard

    def beat_with_the_loop_blocked(self) -> None:
        thread = threading.Thread(target=self.heart.beat_once)
        thread.start()
        thread.join(PATIENCE)

    async def beaten(self, times: int) -> None:
        """The thread itself has beaten so often."""
        for _ in range(times):
            assert await asyncio.to_thread(self.pulse.beaten.acquire, timeout=PATIENCE), "no beat"


@pytest.fixture
async def chest() -> AsyncIterator[Chest]:
    chest = Chest()
    chest.heart.start()
    yield chest
    await chest.heart.stop()


async def test_it_beats_on_a_thread_of_its_own_and_tells_on_the_loop() -> None:
    chest = Chest(Settings(lease=0.03, heartbeat=0.01))
    chest.heart.start()
    try:
        await chest.beaten(3)
    finally:
        await chest.heart.stop()
    assert chest.pulse.threads == {"duly-heartbeat"}
    assert len(chest.heard) >= 2
    assert chest.recorder.count("beat_failed") == 0


async def test_it_goes_on_while_the_loop_is_blocked_but_not_for_half_a_lease(chest: Chest) -> None:
    await chest.beat()
    chest.clock.move(seconds=LEASE / 2)
    chest.beat_with_the_loop_blocked()
    assert chest.beats == 2, "a moment of blocking does not stop the beats"
    chest.clock.move(seconds=1)
    chest.beat_with_the_loop_blocked()
    chest.clock.move(seconds=LEASE)
    chest.beat_with_the_loop_blocked()
    assert chest.beats == 2, "an instance that cannot work must not keep it"
    await asyncio.sleep(0)  # it turns again
    await chest.beat()
    assert chest.beats == 3


async def test_a_beat_that_hung_is_followed_by_the_next_at_its_time(chest: Chest) -> None:
    """The loop was alive all the while: it must not be taken for standing still."""
    loop, turned = asyncio.get_running_loop(), threading.Event()

    def hang() -> Beat:
        loop.call_soon_threadsafe(turned.set)  # after all that the loop was told before
        assert turned.wait(PATIENCE)
        chest.clock.move(seconds=LEASE / 2 + 1)
        return Beat(0, True)

    chest.pulse.answer = hang
    await chest.beat()
    chest.pulse.answer = lambda: Beat(0, True)
    await chest.beat()
    assert chest.beats == 2


async def test_a_beat_that_hung_and_failed_is_followed_by_the_next_at_its_time(chest: Chest) -> None:
    loop, turned = asyncio.get_running_loop(), threading.Event()

    def hang() -> Beat:
        loop.call_soon_threadsafe(turned.set)
        assert turned.wait(PATIENCE)
        chest.clock.move(seconds=LEASE / 2 + 1)
        raise StoreUnavailable("it took too long")

    chest.pulse.answer = hang
    await chest.beat()
    await chest.beat()
    assert chest.beats == 2
    assert chest.recorder.count("beat_failed") == 2


async def test_a_beat_that_fails_in_a_way_nobody_foresaw_does_not_end_the_thread() -> None:
    chest = Chest(Settings(lease=0.03, heartbeat=0.01))

    def fail() -> Beat:
        raise RuntimeError("nobody foresaw it")

    chest.pulse.answer = fail
    chest.heart.start()
    try:
        await chest.beaten(3)
    finally:
        await chest.heart.stop()
    await asyncio.sleep(0)
    assert chest.recorder.count("beat_failed") >= 2


async def test_a_new_session_after_a_long_time_without_one_beats_at_once(chest: Chest) -> None:
    chest.session = None
    chest.clock.move(seconds=10 * LEASE)
    await chest.beat()
    assert chest.beats == 0
    chest.session = 8
    await chest.beat()
    assert chest.pulse.sessions == [8]


async def test_distrust_begins_before_the_lease_runs_out_although_the_beat_hangs(chest: Chest) -> None:
    hangs, end = threading.Event(), threading.Event()

    def hang() -> Beat:
        hangs.set()
        assert end.wait(PATIENCE)
        raise StoreUnavailable("it took too long")

    await chest.beat()
    chest.pulse.answer = hang
    hanging = asyncio.create_task(chest.beat())
    try:
        assert await asyncio.to_thread(hangs.wait, PATIENCE)
        left = await chest.heart.watch()
        assert left == pytest.approx(LEASE * (1 - MARGIN))
        chest.clock.move(seconds=left - 1)
        assert await chest.heart.watch() == pytest.approx(1)
        assert chest.heart.trusted
        chest.clock.move(seconds=1)
        await chest.heart.watch()
        assert not chest.heart.trusted
        assert chest.distrusted == [7]
        assert chest.recorder.count("beat_failed") == 0, "nobody knows yet how the beat ends"
        assert chest.recorder.all("lease_doubted") == [(7,)]
    finally:
        chest.pulse.answer = lambda: Beat(0, True)
        end.set()
        await hanging
    await chest.heart.watch()
    assert chest.distrusted == [7], "told once"
    await chest.beat()
    assert chest.heart.trusted


async def test_distrust_begins_when_the_lease_of_the_last_good_beat_has_run_out(chest: Chest) -> None:
    def away() -> Beat:
        raise StoreUnavailable("gone")

    await chest.beat()
    chest.pulse.answer = away
    for _ in range(2):
        chest.clock.move(seconds=SETTINGS.heartbeat)
        await chest.beat()
        assert 0 < await chest.heart.watch() <= LEASE
    assert not chest.distrusted
    chest.clock.move(seconds=SETTINGS.heartbeat)
    await chest.beat()
    await chest.heart.watch()
    assert chest.recorder.count("beat_failed") == 3
    assert chest.distrusted == [7]


async def test_the_lease_counts_from_when_the_beat_was_sent(chest: Chest) -> None:
    def slow() -> Beat:
        chest.clock.move(seconds=LEASE / 4)
        return Beat(0, True)

    chest.pulse.answer = slow
    await chest.beat()
    assert await chest.heart.watch() == pytest.approx(LEASE * (1 - MARGIN) - LEASE / 4)


async def test_a_session_that_is_gone_is_not_trusted_anew(chest: Chest) -> None:
    chest.clock.move(seconds=SETTINGS.heartbeat)
    chest.pulse.answer = lambda: Beat(0, False)
    await chest.beat()
    assert chest.heard == [Beat(0, False)]
    assert await chest.heart.watch() == pytest.approx(LEASE * (1 - MARGIN) - SETTINGS.heartbeat)


async def test_a_beat_is_made_at_once_when_somebody_asks(chest: Chest) -> None:
    chest.heart.beat_soon()
    await chest.beaten(1)
    assert chest.pulse.threads == {"duly-heartbeat"}


async def test_stop_ends_the_thread() -> None:
    chest = Chest()
    chest.heart.start()
    thread = chest.heart._thread
    assert thread is not None
    await chest.heart.stop()
    assert not thread.is_alive()


async def test_a_heartbeat_that_never_had_a_thread_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    deny_threads(monkeypatch, "duly-heartbeat")
    heart = Chest().heart
    with pytest.raises(RuntimeError, match="can't start new thread"):
        heart.start()
    await heart.stop()
