"""Waits that a body has given up: they take nothing from those that come after them, also after a restart."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from duly import Duly, RunStatus, WorkflowContext
from duly.core.steps import StepKind
from duly.testing import ManualClock
from tests.workflow.test_long_waits import START, living, looked_at


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


async def first_of(*waits: Awaitable[Any]) -> Any:
    """The answer that comes first; the other waits are given up."""
    done, pending = await asyncio.wait(map(asyncio.ensure_future, waits), return_when=asyncio.FIRST_COMPLETED)
    for wait in pending:
        wait.cancel()
    return done.pop().result()


@pytest.mark.parametrize("restarted", [False, True], ids=["here", "elsewhere"])
async def test_h9_the_next_wait_gets_the_signal(url: str, clock: ManualClock, restarted: bool) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("w")
        async def w(ctx: WorkflowContext) -> list[Any]:
            first = await first_of(ctx.wait_for_signal("go"), ctx.sleep("1m"))
            await ctx.sleep("1m")
            second = await first_of(ctx.wait_for_signal("go"), ctx.sleep("1h"))
            third = await ctx.wait_for_signal("go", timeout="1h")
            return [first, second, third]

    async def go_on(app: Duly, stage: int) -> None:
        if stage < 2:
            await clock.advance(minutes=1)
        else:
            await app.workflows.signal(run.id, "go", stage)
            await clock.settle()

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("w")
        await clock.settle()
        for stage in range(0 if restarted else 4):
            await go_on(app, stage)
    for stage in range(4 if restarted else 0):
        async with living(url, clock, declare) as app:
            await go_on(app, stage)
    async with living(url, clock, declare) as app:
        end = await looked_at(app, run)
        steps = await app.workflows.steps(run.id)
    assert (end.status, end.result) == (RunStatus.COMPLETED, [None, 2, 3])
    given_up = [(step.position, step.kind, step.status) for step in steps if step.error == "cancelled"]
    assert given_up == [(1, StepKind.SIGNAL, "failed"), (5, StepKind.SLEEP, "failed")]


async def test_an_event_of_the_time_between_is_not_kept_for_the_next_wait(url: str, clock: ManualClock) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("w")
        async def w(ctx: WorkflowContext) -> Any:
            await first_of(ctx.wait_for_event("door"), ctx.sleep("1m"))
            await ctx.sleep("1m")
            return await ctx.wait_for_event("door")

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("w")
        await clock.settle()
        await clock.advance(minutes=1)
        assert (await app.workflows.publish("door", 1)).told == 0
        await clock.advance(minutes=1)
        await app.workflows.publish("door", 2)
        await clock.settle()
        assert (await looked_at(app, run)).result == 2


async def test_nobody_is_woken_for_a_sleep_that_was_given_up(url: str, clock: ManualClock) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("w")
        async def w(ctx: WorkflowContext) -> None:
            await first_of(ctx.wait_for_signal("go"), ctx.sleep("1h"))
            await ctx.wait_for_signal("go")

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("w")
        await clock.settle()
        await app.workflows.signal(run.id, "go")
        await clock.settle()
        before = await looked_at(app, run)
        await clock.advance(hours=2)
        assert (await looked_at(app, run)).fence == before.fence
