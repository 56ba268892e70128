"""The loop of a body: order, and what it refuses."""

import asyncio

import pytest

from duly.core.errors import NonDeterminismError
from duly.workflow.loop import BodyLoop
from duly.workflow.runner import outside
from tests.acceptance.rules import rule


def drained(loop: BodyLoop) -> None:
    outside(loop.drain)


async def test_callbacks_run_in_the_order_they_were_asked_for_and_the_outer_loop_stays_the_running_one() -> None:
    loop = BodyLoop()  # type: ignore[abstract]
    seen: list[str] = []

    async def body() -> str:
        seen.append("began")
        done = await asyncio.gather(part("a"), part("b"))
        return "".join(done)

    async def part(name: str) -> str:
        await asyncio.sleep(0)
        seen.append(name)
        return name

    task = loop.create_task(body())
    here = asyncio.get_running_loop()
    drained(loop)
    assert task.result() == "ab"
    assert seen == ["began", "a", "b"]
    assert asyncio.get_running_loop() is here


@rule("S0.32", "S0d.36")
@pytest.mark.parametrize(
    "forbidden",
    [
        lambda: asyncio.sleep(1),
        lambda: asyncio.to_thread(print),
        lambda: asyncio.open_connection("127.0.0.1", 1),
        lambda: asyncio.wait_for(asyncio.get_running_loop().create_future(), 1),
    ],
)
async def test_what_would_differ_in_a_replay_is_refused_by_name(forbidden: object) -> None:
    loop = BodyLoop()  # type: ignore[abstract]

    async def body() -> None:
        await forbidden()  # type: ignore[operator]

    task = loop.create_task(body())
    drained(loop)
    assert isinstance(task.exception(), NonDeterminismError)
    assert loop.unheard


async def test_a_body_that_swallows_the_refusal_is_noticed_all_the_same() -> None:
    loop = BodyLoop()  # type: ignore[abstract]

    async def body() -> str:
        try:
            await asyncio.sleep(1)
        except Exception:  # noqa: BLE001
            return "went on"
        return "never"

    task = loop.create_task(body())
    drained(loop)
    assert task.result() == "went on"
    assert isinstance(loop.unheard[0], NonDeterminismError)
