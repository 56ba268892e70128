"""Threads that work for event loops."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from duly.core.errors import StoreUnavailable
from duly.store.threads import Threads


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads(2, "worker")
    yield threads
    threads.close()


async def test_work_is_done_on_a_thread_and_answered_on_the_loop(threads: Threads) -> None:
    name = await threads.run(lambda: threading.current_thread().name)
    assert name in ("worker-1", "worker-2")


async def test_an_error_is_raised_to_who_asked_and_the_thread_goes_on(threads: Threads) -> None:
    def failing() -> None:
        raise KeyError("x")

    for _ in range(3):
        with pytest.raises(KeyError):
            await threads.run(failing)
    assert await threads.run(lambda: 5) == 5


async def test_what_no_future_takes_is_told_as_another_error(threads: Threads) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await threads.run(lambda: next(iter(())))


async def test_where_no_thread_can_be_started_the_caller_is_told_and_the_next_tries_again(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        if len(threads._threads) >= most:
            raise RuntimeError("can't start new thread")
        really_start(thread)

    really_start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", start)
    most = 0
    with pytest.raises(StoreUnavailable, match="no thread to work on: can't start"):
        await threads.run(lambda: 5)
    most = 1
    assert await threads.run(lambda: 5) == 5
    most = 2
    assert await threads.run(lambda: 6) == 6
    assert len(threads._threads) == 2


async def test_no_more_than_so_many_work_at_once_and_the_others_wait(threads: Threads) -> None:
    both = threading.Barrier(3)
    held = threading.Event()
    done: list[int] = []

    def hold() -> None:
        both.wait(60)
        held.wait(60)

    holding = [asyncio.ensure_future(threads.run(hold)) for _ in range(2)]
    await asyncio.to_thread(both.wait, 60)
    third = asyncio.ensure_future(threads.run(lambda: done.append(1)))
    await asyncio.sleep(0)
    assert not done
    held.set()
    await asyncio.gather(*holding, third)
    assert done == [1]


async def test_what_nobody_waits_for_any_more_is_not_begun(threads: Threads) -> None:
    both, held = threading.Barrier(3), threading.Event()
    done: list[int] = []

    def hold() -> None:
        both.wait(60)
        held.wait(60)

    holding = [asyncio.ensure_future(threads.run(hold)) for _ in range(2)]
    await asyncio.to_thread(both.wait, 60)
    given_up = asyncio.ensure_future(threads.run(lambda: done.append(1)))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    held.set()
    await asyncio.gather(*holding)
    assert await threads.run(lambda: 5) == 5
    assert done == []


async def test_a_close_waits_for_what_was_asked_for_and_refuses_what_comes_later() -> None:
    threads = Threads(1, "worker")
    asked = [asyncio.ensure_future(threads.run(partial(abs, n))) for n in range(5)]
    await asyncio.sleep(0)
    await asyncio.to_thread(threads.close)
    assert await asyncio.gather(*asked) == [0, 1, 2, 3, 4]
    with pytest.raises(StoreUnavailable, match="closed"):
        await threads.run(lambda: 5)


async def test_nothing_is_asked_for_behind_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is put there while somebody closes would never be answered: both are done under one lock."""
    threads = Threads(1, "worker")
    puts: list[tuple[bool, bool]] = []
    orders = threads._orders

    class Orders:
        get = staticmethod(orders.get)

        @staticmethod
        def put(order: Any) -> None:
            puts.append((order is None, threads._lock.locked()))
            orders.put(order)

    monkeypatch.setattr(threads, "_orders", Orders)
    assert await threads.run(lambda: 5) == 5
    await asyncio.to_thread(threads.close)
    assert puts == [(False, True), (True, True)]


def test_an_answer_for_a_loop_that_is_closed_is_dropped(threads: Threads) -> None:
    begun, held = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        held.wait(60)

    async def leave() -> None:
        asyncio.ensure_future(threads.run(hold))  # noqa: RUF006 - it is left behind
        await asyncio.to_thread(begun.wait, 60)

    asyncio.run(leave())
    held.set()
    assert asyncio.run(threads.run(lambda: 5)) == 5
