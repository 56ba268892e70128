"""The pool of handler threads, and the one timer for all timeouts."""

import asyncio
import threading
import time

import pytest

from duly.engine.threads import Threads
from tests.threads import deny_threads

PATIENCE = 60


async def _until(condition) -> None:
    give_up_at = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up_at
        await asyncio.sleep(0.005)


async def test_values_and_errors_come_back_to_the_loop() -> None:
    threads = Threads(4)
    begun: list[str] = []
    value = threads.submit(lambda: threading.current_thread().name, lambda: begun.append("value"))
    error = threads.submit(lambda: 1 / 0, lambda: begun.append("error"))
    stop = threads.submit(lambda: next(iter([])), lambda: begun.append("stop"))
    assert await value == "duly-handler"
    with pytest.raises(ZeroDivisionError):
        await error
    with pytest.raises(RuntimeError, match="StopIteration"):
        await stop
    assert sorted(begun) == ["error", "stop", "value"]
    threads.close()


async def test_no_more_threads_than_allowed_and_idle_ones_are_used_again() -> None:
    threads = Threads(3)
    all_at_work = threading.Barrier(3, timeout=PATIENCE)
    lock, names, running, most = threading.Lock(), set(), 0, 0

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            names.add(threading.get_ident())
        all_at_work.wait()
        with lock:
            running -= 1

    await asyncio.gather(*(threads.submit(work, lambda: None) for _ in range(30)))
    assert (most, len(names)) == (3, 3)
    threads.close()


async def test_what_was_cancelled_before_its_turn_is_never_called() -> None:
    """Its run was given back when the instance stopped: it must not begin here as well."""
    threads = Threads(1)
    gate, called, begun = threading.Event(), [], []
    first = threads.submit(lambda: gate.wait(PATIENCE), lambda: begun.append(1))
    second = threads.submit(lambda: called.append(2), lambda: begun.append(2))
    third = threads.submit(lambda: called.append(3), lambda: begun.append(3))
    await _until(lambda: begun == [1])
    second.cancel()
    gate.set()
    await first
    await third
    assert (called, begun) == ([3], [1, 3])
    threads.close()


async def test_a_stuck_thread_that_was_abandoned_makes_room_for_another() -> None:
    threads = Threads(1)
    gate, begun = threading.Event(), []
    stuck = threads.submit(lambda: gate.wait(PATIENCE), lambda: begun.append(1))
    await _until(lambda: begun == [1])
    stuck.cancel()
    threads.abandon()
    assert await asyncio.wait_for(threads.submit(lambda: "free", lambda: None), PATIENCE) == "free"
    gate.set()
    threads.close()


async def test_close_lets_the_threads_end() -> None:
    others = set(threading.enumerate())  # of former tests, which may end at any time

    def handlers() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "duly-handler"} - others

    threads = Threads(4)
    all_at_work = threading.Barrier(4, timeout=PATIENCE)
    await asyncio.gather(*(threads.submit(all_at_work.wait, lambda: None) for _ in range(8)))
    assert len(handlers()) == 4
    threads.close()
    await _until(lambda: not handlers())


async def test_what_no_thread_could_be_started_for_is_refused_and_never_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its attempt has failed by then, and another may be under way elsewhere."""
    deny_threads(monkeypatch, "duly-handler")
    threads, called = Threads(1), []
    with pytest.raises(RuntimeError, match="can't start new thread"):
        threads.submit(lambda: called.append(1), lambda: None)
    await asyncio.wait_for(threads.submit(lambda: called.append(2), lambda: None), PATIENCE)
    assert called == [2]
    threads.close()


async def test_where_no_other_thread_can_be_started_those_at_work_must_do(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, gate = Threads(2), threading.Event()
    first = threads.submit(lambda: gate.wait(PATIENCE), lambda: None)
    deny_threads(monkeypatch, "duly-handler")
    second = threads.submit(lambda: threading.get_ident(), lambda: None)
    gate.set()
    assert await first
    assert await asyncio.wait_for(second, PATIENCE)
    threads.close()


async def test_nothing_waits_for_threads_that_are_all_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, gate, begun = Threads(1), threading.Event(), []
    stuck = threads.submit(lambda: gate.wait(PATIENCE), lambda: begun.append(1))
    await _until(lambda: begun == [1])
    stuck.cancel()
    threads.abandon()
    deny_threads(monkeypatch, "duly-handler")
    with pytest.raises(RuntimeError, match="can't start new thread"):
        threads.submit(lambda: None, lambda: None)
    gate.set()
    threads.close()
