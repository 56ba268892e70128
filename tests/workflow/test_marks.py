"""Workflows that are found by tags and attributes, one at a time by a key, and that go again after a death."""

from functools import partial
from typing import Any

import pytest

import duly
from duly import Duly, DulyError, RunStatus, WorkflowContext
from duly.core.marks import Compare, Marks, Wanted, make_marks, parse_attributes, wanted_attributes, write_attributes
from tests.acceptance.rules import rule
from tests.app.conftest import until
from tests.workflow.test_workflows import ended, suspended


@rule("S0d.13", "S0d.25")
async def test_runs_are_found_by_tags_and_attributes_of_the_start_of_the_code_and_of_the_body(app: Duly) -> None:
    @app.workflow("order", run_tags=["sales"])
    async def order(ctx: WorkflowContext, input: int) -> int:
        ctx.set_attributes(amount=input, paid=False)
        await ctx.wait_for_signal("paid")
        ctx.tag("done")
        ctx.set_attributes(paid=True)
        if input < 100:
            ctx.continue_as_new(100)
        return input

    async def found(**filters: Any) -> set[str]:
        return {run.id for run in (await app.runs.list(**filters)).items}

    async with app:
        small = await app.workflows.start("order", 5, tags=["vip"], attributes={"customer": "ann"})
        large = await app.workflows.start("order", 500, attributes={"customer": "bob"})
        for run in (small, large):
            await until(partial(suspended, app, run.id))
        assert await found(tags=["sales"]) == {small.id, large.id}
        assert await found(tags=["sales", "vip"]) == {small.id}
        assert await found(attributes={"customer": "bob"}, workflow="order") == {large.id}
        assert await found(attributes={"amount": ("gt", 5), "paid": False}) == {large.id}
        assert await found(tags=["sales"], status="completed") == set()
        await app.workflows.signal(small.id, "paid")
        last = (await ended(app, small)).result["continuedAs"]
        await until(lambda: suspended(app, last))
        assert await app.workflows.marks(last) == Marks(
            ("done", "sales", "vip"), {"amount": 100, "customer": "ann", "paid": False}
        )
        assert [run.id async for run in app.runs.iterate(tags=["vip"], limit=1)] == [last, small.id]


@pytest.mark.parametrize(
    ("tags", "attributes"),
    [
        ("vip", {}),
        ([""], {}),
        (["x" * 101], {}),
        ([5], {}),
        ([], {"": 1}),
        ([], {"ä": 1}),
        ([], {"a": None}),
        ([], {"a": [1]}),
        ([], {"a": "x" * 201}),
        ([], {"a": float("nan")}),
        ([], {"a": "\x00"}),
        ([f"t{n}" for n in range(51)], {}),
    ],
)
def test_what_cannot_be_a_mark_is_refused(tags: Any, attributes: Any) -> None:
    with pytest.raises(DulyError) as refused:
        make_marks(tags, attributes)
    assert refused.value.code == "VALIDATION_FAILED"


def test_conditions_are_read_from_a_text() -> None:
    assert parse_attributes('customer:ann,amount:gte:5,paid:true,code:"5,6",at:12:30') == (
        Wanted("customer", Compare.EQ, '"ann"'),
        Wanted("amount", Compare.GTE, "5"),
        Wanted("paid", Compare.EQ, "true"),
        Wanted("code", Compare.EQ, '"5,6"'),
        Wanted("at", Compare.EQ, '"12:30"'),
    )
    asked = {"customer": 'a"n,n', "amount": ("gte", 5.0), "paid": False}
    assert parse_attributes(write_attributes(asked)) == wanted_attributes(asked)
    for bad in ("", "amount", "amount:", "a b:1", "a:gte:", ",", '"'):
        with pytest.raises(DulyError):
            parse_attributes(bad)


@rule("S0d.61")
async def test_s0_61_of_a_singleton_key_one_workflow_is_open_the_next_goes_after_it_and_too_many_are_refused(
    app: Duly,
) -> None:
    order: list[int] = []

    @app.workflow("sync")
    async def sync(ctx: WorkflowContext, input: int) -> None:
        order.append(input)
        await ctx.wait_for_signal("go")

    async with app:
        first, second = [await app.workflows.start("sync", n, singleton="shop", max_queued=1) for n in (1, 2)]
        await until(lambda: suspended(app, first.id))
        with pytest.raises(DulyError) as refused:
            await app.workflows.start("sync", 3, singleton="shop", max_queued=1, id="never")
        assert refused.value.code == "SINGLETON_QUEUE_FULL"
        assert await app.runs.get("never") is None
        assert order == [1]
        await app.workflows.signal(first.id, "go")
        await until(lambda: suspended(app, second.id))
        assert order == [1, 2]


@rule("S0d.63", "F7")
async def test_f7_a_redriven_parent_takes_its_failed_children_along_and_not_what_was_done(app: Duly) -> None:
    luck: list[int] = []
    done: list[int] = []

    def need_luck(n: int) -> int:
        done.append(n)
        if n > 1 and not luck:
            raise ValueError("no luck")
        return n

    @app.workflow("part")
    async def part(ctx: WorkflowContext, input: int) -> int:
        return int(await ctx.step("try", need_luck, input))

    @app.workflow("whole")
    async def whole(ctx: WorkflowContext) -> list[int]:
        await ctx.step("before", need_luck, 0)
        return await ctx.all("part", [1, 2, 3])

    async with app:
        run = await ended(app, await app.workflows.start("whole"))
        assert (run.status, (run.error_message or "")[:12]) == (RunStatus.FAILED, "GatherFailed")
        luck.append(1)
        done.clear()
        await app.runs.redrive(run.id)
        assert (await ended(app, run)).result == [1, 2, 3]
    assert sorted(done) == [2, 3]


@rule("S0d.64")
async def test_f9_a_dead_workflow_with_another_input_is_a_new_linked_run_on_its_version(app: Duly) -> None:
    @app.workflow("picky", version="7")
    async def picky(ctx: WorkflowContext, input: int) -> int:
        if input < 0:
            raise duly.Fatal("negative")
        return input

    async with app:
        dead = await ended(app, await app.workflows.start("picky", -1, tags=["vip"]))
        made = await app.runs.redrive(dead.id, payload=4)
        end = await ended(app, made)
        assert (end.result, end.version, end.redrive_of) == (4, "7", dead.id)
        old = await app.runs.get(dead.id)
        assert old is not None
        assert (old.status, old.redriven_as) == (RunStatus.FAILED, end.id)
        assert (await app.workflows.marks(end.id)).tags == ("vip",)
