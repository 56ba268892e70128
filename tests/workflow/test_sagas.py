"""Undoing on a cancel, and what a parent hears of a child that goes on as a new run."""

import asyncio
from typing import Any

import pytest

import duly
from duly import Duly, DulyError, Retry, RunStatus, WorkflowContext
from duly.core.steps import StepKind, StepStatus
from tests.acceptance.rules import rule
from tests.app.conftest import until
from tests.workflow.test_workflows import ended, suspended


@rule("S0d.58", "I5")
async def test_i5_a_run_is_cancelling_until_all_is_undone_and_a_failing_undo_is_shown(app: Duly) -> None:
    may_go = asyncio.Event()
    undone: list[str] = []

    async def undo(output: str) -> None:
        await may_go.wait()
        undone.append(output)

    def broken(output: str) -> None:
        raise duly.Fatal("cannot be undone")

    @app.workflow("trip")
    async def trip(ctx: WorkflowContext) -> None:
        await ctx.step("flight", str.upper, "flight", compensate=undo)
        await ctx.step("hotel", str.upper, "hotel", compensate=broken)
        await ctx.wait_for_signal("never")

    @app.job("plain")
    async def plain() -> None: ...

    async with app:
        run = await app.workflows.start("trip")
        await until(lambda: suspended(app, run.id))
        told = await app.workflows.cancel(run.id, compensate=True)
        assert told.status is RunStatus.CANCELLING
        assert (await app.workflows.cancel(run.id, compensate=True)).status is RunStatus.CANCELLING
        assert [one.id for one in (await app.runs.list(status="cancelling")).items] == [run.id]
        may_go.set()
        end = await ended(app, run)
        assert (end.status, end.reason) == (RunStatus.CANCELLED, "cancel_requested")
        assert end.error_message == "not undone: compensate:hotel: Fatal: cannot be undone"
        undos = {s.name: s.status for s in await app.workflows.steps(run.id) if s.kind is StepKind.UNDO}
        assert undos == {"compensate:flight": StepStatus.DONE, "compensate:hotel": StepStatus.FAILED}
        with pytest.raises(DulyError, match="one of job 'plain'"):
            await app.workflows.cancel((await app.enqueue("plain")).id, compensate=True)
    assert undone == ["FLIGHT"]


@rule("I5")
async def test_i5_a_cancel_that_comes_while_the_last_step_is_done_still_undoes(app: Duly) -> None:
    begun, may_go = asyncio.Event(), asyncio.Event()
    undone: list[Any] = []

    async def last() -> str:
        begun.set()
        await may_go.wait()
        return "done"

    @app.workflow("short")
    async def short(ctx: WorkflowContext) -> str:
        await ctx.step("first", str.upper, "first", compensate=undone.append)
        return str(await ctx.step("last", last, compensate=undone.append))

    async with app:
        run = await app.workflows.start("short")
        await begun.wait()
        await app.workflows.cancel(run.id, compensate=True)
        may_go.set()
        assert (await ended(app, run)).status is RunStatus.CANCELLED
    assert undone == ["done", "FIRST"]


async def test_an_undo_that_waits_for_its_next_try_holds_no_worker_and_the_run_is_still_cancelling(app: Duly) -> None:
    tries: list[str] = []

    def shaky(output: str) -> None:
        tries.append(output)
        raise ValueError("later")

    @app.workflow("stubborn")
    async def stubborn(ctx: WorkflowContext) -> None:
        retry = Retry(max_attempts=2, delay=3600, jitter=0)
        await ctx.step("A", str.lower, "A", compensate=shaky, compensate_retry=retry)
        await ctx.wait_for_signal("never")

    async with app:
        run = await app.workflows.start("stubborn")
        await until(lambda: suspended(app, run.id))
        await app.workflows.cancel(run.id, compensate=True)

        async def asleep() -> bool:
            found = await app.runs.get(run.id)
            return bool(tries) and found is not None and found.hold == 4

        await until(asleep)
        found = await app.runs.get(run.id)
        assert found is not None
        assert found.status is RunStatus.CANCELLING
        assert (await app.runs.cancel(run.id)).status is RunStatus.CANCELLED  # a plain one does not wait for it


@rule("J5")
async def test_j5_an_undo_does_not_wait_behind_the_queue_that_failed(app: Duly) -> None:
    undone: list[int] = []

    @app.job("charge")
    async def charge(amount: int) -> int:
        if amount > 5:
            await app.queues.pause("bank")  # so that whatever comes after the failure would wait in it
            raise duly.Fatal("too much")
        return amount

    @app.workflow("pay")
    async def pay(ctx: WorkflowContext) -> None:
        await ctx.step(charge.bind(amount=5), queue="bank", compensate=undone.append)
        await ctx.step(charge.bind(amount=6), queue="bank")

    async with app:
        end = await ended(app, await app.workflows.start("pay"))
        (bank,) = [queue for queue in await app.queues.list() if queue.name == "bank"]
    assert (end.error_message or "").startswith("StepFailed: charge failed: Fatal: too much")
    assert (undone, bank.paused) == ([5], True)


@rule("H13")
async def test_h13_a_parent_hears_of_the_last_of_the_runs_that_its_child_went_on_as(app: Duly) -> None:
    @app.workflow("count")
    async def count(ctx: WorkflowContext, input: int) -> int:
        await ctx.step("work", lambda: None)
        if input < 3:
            ctx.continue_as_new(input + 1)
        return input

    @app.workflow("parent")
    async def parent(ctx: WorkflowContext) -> list[Any]:
        return [await ctx.child("count", 1), *await ctx.all("count", [2, 3])]

    async with app:
        assert (await ended(app, await app.workflows.start("parent"))).result == [3, 3, 3]


async def test_i7_a_cancel_reaches_the_run_that_a_child_went_on_as(app: Duly) -> None:
    @app.workflow("heir")
    async def heir(ctx: WorkflowContext, input: int) -> None:
        if input == 0:
            ctx.continue_as_new(1)
        await ctx.sleep(days=1)

    @app.workflow("top")
    async def top(ctx: WorkflowContext) -> None:
        await ctx.child("heir", 0)

    async def sleeping() -> str | None:
        found = (await app.runs.list(workflow="heir", status="suspended")).items
        return found[0].id if found else None

    async with app:
        run = await app.workflows.start("top")
        last = await until(sleeping)
        await app.runs.cancel(run.id)
        found = await app.runs.get(last)
        assert found is not None
        assert found.status is RunStatus.CANCELLED
