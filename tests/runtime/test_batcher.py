"""The batcher: one flush in flight, what arrives meanwhile is the next batch, and errors go where they belong."""

import asyncio
from collections.abc import Sequence

import pytest

from duly.runtime.batcher import Batcher


class Flush:
    """Records the batches it is given; each waits until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, items: Sequence[int]) -> list[int | Exception]:
        self.batches.append(list(items))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.gate.wait()
            if 666 in items:
                raise OSError("the whole batch failed")
            return [ValueError(item) if item < 0 else item * 10 for item in items]
        finally:
            self.in_flight -= 1


async def _turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_lone_item_is_flushed_at_once() -> None:
    flush = Flush()
    assert await Batcher(flush).put(4) == 40
    assert flush.batches == [[4]]


async def test_what_arrives_during_a_flush_is_the_next_batch_in_order() -> None:
    flush = Flush()
    batcher: Batcher[int, int] = Batcher(flush)
    flush.gate.clear()
    first = asyncio.create_task(batcher.put(1))
    await _turns()
    rest = [asyncio.create_task(batcher.put(item)) for item in range(2, 100)]
    await _turns()
    assert flush.batches == [[1]], "one flush in flight"
    flush.gate.set()
    assert await asyncio.gather(first, *rest) == [item * 10 for item in range(1, 100)]
    assert flush.batches == [[1], list(range(2, 100))]
    assert flush.most_in_flight == 1


async def test_calls_of_the_same_moment_share_a_batch() -> None:
    flush = Flush()
    batcher: Batcher[int, int] = Batcher(flush)
    assert await asyncio.gather(*map(batcher.put, range(50))) == [item * 10 for item in range(50)]
    assert flush.batches == [list(range(50))]


async def test_a_batch_has_a_largest_size() -> None:
    flush = Flush()
    batcher: Batcher[int, int] = Batcher(flush, most=20)
    await asyncio.gather(*map(batcher.put, range(50)))
    assert [len(batch) for batch in flush.batches] == [20, 20, 10]


async def test_an_items_own_error_is_raised_to_its_caller_alone() -> None:
    batcher: Batcher[int, int] = Batcher(Flush())
    good, bad, also_good = await asyncio.gather(*map(batcher.put, (1, -1, 2)), return_exceptions=True)
    assert (good, also_good) == (10, 20)
    assert isinstance(bad, ValueError)


async def test_an_error_of_the_flush_is_raised_to_the_whole_batch_and_to_no_other() -> None:
    flush = Flush()
    batcher: Batcher[int, int] = Batcher(flush, most=3)
    answers = await asyncio.gather(*map(batcher.put, (1, 666, 2, 3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [OSError, OSError, OSError, int]
    assert await batcher.put(5) == 50, "the batcher goes on"


async def test_a_caller_that_gives_up_does_not_hinder_the_others() -> None:
    flush = Flush()
    batcher: Batcher[int, int] = Batcher(flush)
    flush.gate.clear()
    gone, stays = asyncio.create_task(batcher.put(1)), asyncio.create_task(batcher.put(2))
    await _turns()
    gone.cancel()
    await _turns()
    flush.gate.set()
    assert await stays == 20
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert await batcher.put(3) == 30


async def test_a_caller_that_gives_up_does_not_keep_an_error_from_the_others() -> None:
    flush = Flush()
    batcher: Batcher[int, int] = Batcher(flush)
    flush.gate.clear()
    gone, stays = asyncio.create_task(batcher.put(1)), asyncio.create_task(batcher.put(666))
    await _turns()
    gone.cancel()
    await _turns()
    flush.gate.set()
    async with asyncio.timeout(60):
        with pytest.raises(OSError, match="the whole batch failed"):
            await stays
    assert await batcher.put(3) == 30


async def test_an_answer_of_the_wrong_length_reaches_the_callers_as_an_error() -> None:
    async def short(items: Sequence[int]) -> list[int]:
        return [0]

    batcher: Batcher[int, int] = Batcher(short)
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*map(batcher.put, (1, 2)), return_exceptions=True)
    assert any(isinstance(answer, Exception) for answer in answers)
