"""Functions that look plain and answer something to be awaited: behind a decorator, or without an ``await``."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

import duly
from duly import Duly, Every
from tests.app.conftest import PATIENCE


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as people write them: what it leaves is a plain function, whatever it is given."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


async def test_what_a_plain_function_answers_is_awaited_if_it_must_be(app: Duly) -> None:
    told: list[str] = []

    @app.job("work")
    @logged
    async def work(number: int) -> int:
        await asyncio.sleep(0)
        return number

    @app.on("schedule.rent.arrived")
    @logged
    async def listen(event: duly.ScheduleArrived) -> None:
        told.append(event.topic)

    @app.on("schedule.dues.arrived")
    @logged
    async def refuse(event: duly.ScheduleArrived) -> None:
        raise duly.Fatal("no dues")

    async with app:
        end = await app.runs.wait((await app.enqueue("work", {"number": 5})).id, timeout=PATIENCE)
        assert (end.status, end.result) == (duly.RunStatus.COMPLETED, 5)
        for topic, status in (("rent", duly.RunStatus.COMPLETED), ("dues", duly.RunStatus.FAILED)):
            await app.schedules.create(topic, Every("1h"), topic=topic)
            assert (await app.runs.wait((await app.schedules.trigger(topic)).id, timeout=PATIENCE)).status is status
    assert told == ["rent"]


@pytest.mark.parametrize("how", ["cancel", "timeout"])
async def test_what_a_plain_function_left_to_be_awaited_can_be_stopped(app: Duly, how: str) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    @app.job("work", retry=duly.Retry(max_attempts=1), timeout=0.5 if how == "timeout" else None)
    @logged
    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with app:
        run = await app.enqueue("work")
        if how == "cancel":
            await asyncio.wait_for(begun.wait(), PATIENCE)
            await app.runs.cancel(run.id)
        end = await app.runs.wait(run.id, timeout=PATIENCE)
        assert end.status is (duly.RunStatus.CANCELLED if how == "cancel" else duly.RunStatus.FAILED)
        assert stopped.is_set() == begun.is_set()  # a busy machine may have no time to begin it


async def test_a_forgotten_await_is_named(app: Duly) -> None:
    async def later() -> int:
        return 5

    @app.job("work")
    async def work() -> Any:
        return later()

    async with app:
        end = await app.runs.wait((await app.enqueue("work")).id, timeout=PATIENCE)
        assert (end.status, end.attempt) == (duly.RunStatus.FAILED, 1)
        assert "a coroutine that nobody awaited; write `return await ...`" in (end.error_message or "")
