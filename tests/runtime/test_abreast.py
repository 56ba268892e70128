"""Calls side by side: how many at once, in which order, and what an error ends."""

import asyncio

import pytest

from duly.runtime.abreast import in_turn


@pytest.mark.parametrize("abreast", [1, 2, 3])
async def test_answers_come_in_order_and_only_so_many_calls_are_on(abreast: int) -> None:
    on, most = 0, 0

    async def call(number: int) -> int:
        nonlocal on, most
        on += 1
        most = max(most, on)
        for _ in range(7 - number):  # later calls are quicker
            await asyncio.sleep(0)
        on -= 1
        return number * 10

    assert await in_turn(call, range(7), abreast=abreast) == [0, 10, 20, 30, 40, 50, 60]
    assert (on, most) == (0, abreast)


async def test_after_an_error_no_further_call_is_made_and_those_on_are_waited_for() -> None:
    begun: list[int] = []
    ended: list[int] = []

    async def call(number: int) -> None:
        begun.append(number)
        if number == 1:
            raise ValueError("refused")
        await asyncio.sleep(0)
        ended.append(number)

    with pytest.raises(ValueError, match="refused"):
        await in_turn(call, range(9), abreast=2)
    assert sorted([1, *ended]) == begun
    assert len(begun) < 9


def test_one_by_one_needs_no_event_loop() -> None:
    async def call(number: int) -> int:
        return number + 1

    going = in_turn(call, [1, 2], abreast=1)
    with pytest.raises(StopIteration) as end:
        going.send(None)
    assert end.value.value == [2, 3]
