"""Bodies that wait stay in memory and go on without a replay; and how long a record may become."""

import logging
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from duly import Duly, RunStatus, Settings, WorkflowContext
from duly.core.steps import Journal
from tests.app.conftest import MakeApp, until
from tests.store_choice import postgres_too
from tests.workflow.conftest import QUICK
from tests.workflow.test_workflows import all_suspended, ended, suspended


def counting(app: Duly, entered: list[str]) -> Duly:
    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> list[Any]:
        entered.append(ctx.id)
        got = [await ctx.wait_for_signal("n") for _ in range(2)]
        return [*got, await ctx.step("after", lambda: "done")]

    return app


async def test_a_body_that_waits_goes_on_where_it_was_and_nothing_is_read_again(
    app: Duly, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[str] = []
    read: list[str] = []
    read_journal = app._world.read_journal

    async def counted(run_id: str) -> Journal:
        read.append(run_id)
        return await read_journal(run_id)

    monkeypatch.setattr(app._world, "read_journal", counted)
    async with counting(app, entered):
        run = await app.workflows.start("w")
        for n in range(2):
            await until(lambda: suspended(app, run.id))
            await app.workflows.signal(run.id, "n", n)
            await until(partial(taken, app, run.id, n + 1))
        assert (await ended(app, run)).result == [0, 1, "done"]
    assert (entered, read) == ([run.id], [])
    assert (app._world.residents.resumed, app._world.residents.replayed) == (2, 0)


async def taken(app: Duly, run_id: str, ends: int) -> bool:
    return sum(step.seq is not None for step in await app.workflows.steps(run_id)) >= ends


@postgres_too("two instances on one store")
async def test_one_that_another_process_had_meanwhile_is_replayed(make_app: MakeApp) -> None:
    here: list[str] = []
    there: list[str] = []
    first = counting(make_app(), here)
    async with first:
        run = await first.workflows.start("w")
        await until(lambda: suspended(first, run.id))
    async with counting(make_app(), there) as second:
        await second.workflows.signal(run.id, "n", 0)
        await until(lambda: taken(second, run.id, 1))
        await until(lambda: suspended(second, run.id))
    async with first:  # it still has the body as it was before
        await first.workflows.signal(run.id, "n", 1)
        assert (await ended(first, run)).result == [0, 1, "done"]
    assert (here, there) == ([run.id] * 2, [run.id])
    assert first._world.residents.replayed == 1


async def test_no_more_than_so_many_are_kept_and_the_others_are_replayed(make_app: MakeApp) -> None:
    entered: list[str] = []
    async with counting(make_app(settings=replace(QUICK, resident_workflows=1)), entered) as app:
        runs = [await app.workflows.start("w") for _ in range(3)]
        await until(lambda: all_suspended(app, [run.id for run in runs]))
        for n in range(2):
            for run in runs:
                await app.workflows.signal(run.id, "n", n)
        assert [(await ended(app, run)).result for run in runs] == [[0, 1, "done"]] * 3
        assert len(app._world.residents._kept) <= 1
    assert len(entered) > 3


@pytest.mark.parametrize(
    ("settings", "warnings"), [(replace(QUICK, history_steps=10), 1), (replace(QUICK, history_bytes=30), 1)]
)
async def test_a_record_that_grows_too_long_fails_its_run_with_advice(
    make_app: MakeApp, settings: Settings, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(settings=settings)

    @app.workflow("endless")
    async def endless(ctx: WorkflowContext) -> None:
        while True:
            await ctx.step("work", lambda: "0123456")

    @app.workflow("wise")
    async def wise(ctx: WorkflowContext, input: int) -> int:
        while ctx.history_size < 3:
            await ctx.step("work", lambda: None)
        if input:
            ctx.continue_as_new(input - 1)
        return ctx.history_size

    with caplog.at_level(logging.WARNING, "duly.workflow"):
        async with app:
            end = await ended(app, await app.workflows.start("endless"))
            long = await app.workflows.history(end.id)
            done = await ended(app, await app.workflows.start("wise", 2))
            short = await app.workflows.history(done.id)
    assert end.status is RunStatus.FAILED
    assert "ctx.continue_as_new" in (end.error_message or "")
    assert done.status is RunStatus.COMPLETED
    assert (long.warning or "").startswith(f"it has recorded {long.count} steps with {long.bytes} bytes; beyond ")
    assert short.warning is None
    warned = [record.getMessage() for record in caplog.records if "it has recorded" in record.getMessage()]
    assert len(warned) == warnings
    assert warned[0].startswith(f"run {end.id} of workflow endless is long: it has recorded ")
