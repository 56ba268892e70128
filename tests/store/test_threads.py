"""Threads that work for event loops."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial

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
