"""Calls that go side by side, a few at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


async def in_turn(call: Callable[[In], Coroutine[Any, Any, Out]], given: Iterable[In], *, abreast: int) -> list[Out]:
    """Call for each of what is given, at most ``abreast`` at once, and answer in order; one by one needs no event loop.

    The first error is raised: no further call is made then, and those that are on are waited for.
    """
    if abreast == 1:
        return [await call(one) for one in given]
    answers: list[Out] = []
    on: deque[asyncio.Task[Out]] = deque()
    try:
        for one in given:
            if len(on) == abreast:
                answers.append(await on.popleft())
            on.append(asyncio.create_task(call(one)))
        while on:
            answers.append(await on.popleft())
    finally:
        await asyncio.gather(*on, return_exceptions=True)
    return answers
