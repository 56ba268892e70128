"""Runs that go on as new ones: who knows the first id reaches what it is now, and nothing of it is lost."""

import asyncio
from typing import Any

import pytest

from duly import Duly, RunStatus, WorkflowContext
from duly.core.errors import Conflict
from duly.core.policy import Overlap
from tests.app.conftest import PATIENCE, until
from tests.workflow.test_workflows import ended, suspended


def counting(app: Duly) -> Duly:
    """A counter that begins anew after every second number."""

    @app.workflow("counter", updates={"add": lambda n: 1 // max(n, 0)})
    async def counter(ctx: WorkflowContext, total: int) -> int:
        ctx.publish("total", total)
        for _ in range(2):
            said = await ctx.wait_for_signal("add")
            if said is None:
                return total
            total += int(said)
        return ctx.continue_as_new(total)

    return app


async def test_h13_signals_are_neither_lost_nor_refused(app: Duly) -> None:
    async with counting(app):
        run = await app.workflows.start("counter", 0, id="shop", queue="slow", priority=3)
        for n in range(1, 10):
            await app.workflows.signal("shop", "add", n)
        await until(lambda: shown(app, "shop", 36))
        first = await ended(app, run)
        await app.workflows.signal(first.id, "add", 10)
        await until(lambda: shown(app, "shop", 55))
        await app.workflows.signal_with_start("counter", "add", id="shop", input=0)
        last = await until(lambda: last_of(app, run.id))
        assert (last.result, last.queue, last.priority) == (55, "slow", 3)
        with pytest.raises(Conflict, match="has ended as completed"):
            await app.workflows.signal("shop", "add", 1)


async def shown(app: Duly, ref: str, total: int) -> bool:
    return bool(await app.workflows.query(ref, "total") == total)


async def last_of(app: Duly, run_id: str) -> Any:
    found = await app.runs._newest(run_id)
    return found if found is not None and found.status.terminal else None


async def test_h13_an_update_and_a_signal_reach_it_by_any_of_its_ids(app: Duly) -> None:
    @app.workflow("w", updates={"name": lambda name: None})
    async def w(ctx: WorkflowContext, input: list[Any]) -> list[Any]:
        said = await (ctx.wait_for_signal("go") if len(input) < 3 else ctx.wait_for_update("name"))
        if len(input) == 3:
            return [*input, said]
        return ctx.continue_as_new([*input, said])

    @app.workflow("above")
    async def above(ctx: WorkflowContext) -> Any:
        return await ctx.child("w", [])

    async with app:
        top = await app.workflows.start("above")
        (child,) = await until(lambda: running(app, "w"))
        ids = [child.id]
        for n in range(3):
            await app.workflows.signal(ids[0], "go", n)
            gone = await app.runs.wait(ids[-1], timeout=PATIENCE)
            ids.append(gone.result["continuedAs"])
        assert (await app.workflows.update(ids[1], "name", "ann")).accepted
        assert (await ended(app, top)).result == [0, 1, 2, "ann"]


async def test_h13_a_cancel_reaches_it_by_any_of_its_ids(app: Duly) -> None:
    @app.workflow("w")
    async def w(ctx: WorkflowContext, left: int) -> None:
        if left:
            ctx.continue_as_new(left - 1)
        await ctx.wait_for_signal("never")

    @app.workflow("above")
    async def above(ctx: WorkflowContext) -> Any:
        return await ctx.child("w", 2)

    async with app:
        top = await app.workflows.start("above")
        *_, child = await until(lambda: running(app, "w"))  # the newest come first
        await until(lambda: waits_at_last(app, child.id))
        assert (await app.runs.cancel(child.id)).status is RunStatus.CANCELLED
        assert "cancelled" in ((await ended(app, top)).error_message or "")


async def running(app: Duly, workflow: str) -> list[Any]:
    return (await app.runs.list(workflow=workflow)).items


async def test_h13_one_of_a_key_is_open_at_a_time_also_after_it_has_gone_on(app: Duly) -> None:
    inside: list[str] = []
    most: list[int] = []

    async def enter(id: str) -> None:
        inside.append(id)
        most.append(len(inside))
        await asyncio.sleep(0)
        inside.remove(id)

    @app.workflow("w")
    async def w(ctx: WorkflowContext, left: int) -> None:
        await ctx.step("enter", enter, ctx.id)
        if left:
            ctx.continue_as_new(left - 1)
        await ctx.wait_for_signal("go")

    async with app:
        first, second = [await app.workflows.start("w", 2, singleton="shop") for _ in range(2)]
        await until(lambda: waits_at_last(app, first.id))
        waiting = await app.runs.get(second.id)
        assert waiting is not None
        assert (waiting.status, waiting.fence) == (RunStatus.PENDING, 0)
        await app.workflows.signal(first.id, "go")
        await until(lambda: waits_at_last(app, second.id))
    assert (len(most), max(most)) == (6, 1)


async def waits_at_last(app: Duly, run_id: str) -> bool:
    run = await app.runs._newest(run_id)
    return run is not None and run.id != run_id and await suspended(app, run.id)


async def test_h13_a_window_is_skipped_while_what_the_last_one_went_on_as_is_open(app: Duly) -> None:
    @app.workflow("w", every="1s", overlap=Overlap.SKIP)
    async def w(ctx: WorkflowContext, input: Any) -> None:
        if input != "again":
            ctx.continue_as_new("again")
        await ctx.wait_for_signal("go")

    async with app:
        page = await until(lambda: skipped(app))
    assert sorted(run.kind for run in page if run.status is not RunStatus.SKIPPED) == ["child", "window"]


async def skipped(app: Duly) -> list[Any] | None:
    page = await app.runs.list(schedule="w")
    return page.items if any(run.status is RunStatus.SKIPPED for run in page.items) else None
