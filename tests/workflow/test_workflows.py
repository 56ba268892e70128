"""Workflows through the whole engine, on both stores."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import duly
from duly import Duly, DulyError, Retry, RunStatus, WorkflowContext
from duly.core.steps import StepKind, StepStatus
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.app.conftest import PATIENCE, MakeApp, until
from tests.workflow.test_long_waits import living, looked_at


async def ended(app: Duly, run: duly.Run, within: float = PATIENCE) -> duly.Run:
    return await app.runs.wait(run.id, timeout=within)


@rule("S0.29", "S0d.10", "S0d.11", "S0d.20")
async def test_s0_a_step_s_result_is_recorded_and_used_and_the_return_value_is_the_output(app: Duly) -> None:
    calls: list[str] = []

    async def gather() -> list[int]:
        calls.append("gather")
        return [1, 2, 3]

    def mail(rows: list[int]) -> str:
        calls.append("mail")
        return f"mailed {len(rows)}"

    @app.workflow("report", version="1")
    async def report(ctx: WorkflowContext, input: dict[str, Any]) -> dict[str, Any]:
        rows = await ctx.step("gather", gather)
        return {"to": input["to"], "said": await ctx.step("mail", mail, rows)}

    async with app:
        run = await ended(app, await app.workflows.start("report", {"to": "ann"}))
        steps = await app.workflows.steps(run.id)
    assert (run.status, run.result) == (RunStatus.COMPLETED, {"to": "ann", "said": "mailed 3"})
    assert calls == ["gather", "mail"]
    assert [(s.position, s.kind, s.name, s.status) for s in steps] == [
        (0, StepKind.START, "1", StepStatus.DONE),
        (1, StepKind.STEP, "gather", StepStatus.DONE),
        (2, StepKind.STEP, "mail", StepStatus.DONE),
    ]


@rule("S0d.12")
async def test_s0_start_is_idempotent_by_id_and_a_name_is_an_id(app: Duly) -> None:
    @app.workflow("one")
    async def one(ctx: WorkflowContext, input: Any) -> Any:
        return input

    async with app:
        first = await app.workflows.start("one", 1, id="order-7")
        second = await app.workflows.start("one", 2, id="order-7")
        assert first.id == second.id
        assert (await ended(app, second)).result == 1
        found = await app.runs.get("order-7")
        assert found is not None
        assert found.id == first.id


async def test_an_id_that_a_run_of_something_else_has_is_refused(app: Duly) -> None:
    @app.workflow("one")
    @app.workflow("two")
    async def body(ctx: WorkflowContext, input: Any) -> Any:
        return await ctx.wait_for_signal("go")

    @app.job("job")
    async def job() -> None: ...

    async with app:
        first = await app.workflows.start("one", id="s1")
        made = await app.enqueue("job")
        with pytest.raises(DulyError, match=f"'s1' is that of run {first.id}, .* of workflow 'one', not .* 'two'"):
            await app.workflows.start("two", id="s1")
        with pytest.raises(DulyError, match=f"run {first.id}, .* of workflow 'one', not .* 'two'"):
            await app.workflows.signal_with_start("two", "go", 1, id="s1")
        with pytest.raises(DulyError, match="which is one of job 'job', not of workflow 'two'"):
            await app.workflows.start("two", id=made.id)
        await app.workflows.signal("s1", "go", 2)
        assert (await ended(app, first)).result == 2


async def test_a_child_of_a_version_that_nobody_has_is_named_with_it(app: Duly) -> None:
    @app.workflow("below", version="1")
    async def below(ctx: WorkflowContext) -> None: ...

    @app.workflow("above")
    async def above(ctx: WorkflowContext) -> None:
        await ctx.child("below", version="9")

    async with app:
        run = await ended(app, await app.workflows.start("above"))
    assert "workflow 'below' in version '9' is known neither" in (run.error_message or "")
    assert "this app knows version 1" in (run.error_message or "")


@rule("S0.1", "S0.3")
async def test_a_schedule_starts_a_workflow_once_per_window(app: Duly) -> None:
    @app.workflow("nightly", every="1s")
    async def nightly(ctx: WorkflowContext, input: Any) -> str:
        return str(await ctx.step("where", lambda: ctx.window_key))

    async with app:
        page = await until(lambda: completed_twice(app))
    keys = [run.window_key for run in page]
    assert len(set(keys)) == len(keys)
    assert all(key.startswith("sched:nightly:") for key in keys)
    assert {run.job for run in page} == {"workflow:nightly@1"}


async def completed_twice(app: Duly) -> list[Any] | None:
    page = await app.runs.list(schedule="nightly", status="completed")
    return page.items if len(page.items) >= 2 else None


@rule("S0d.17", "H3")
async def test_h3_parallel_steps_keep_their_positions_and_h8_a_sleep_survives_its_process(url: str) -> None:
    done: list[str] = []
    clock = ManualClock()

    def declare(app: Duly) -> None:
        async def work(name: str) -> str:
            done.append(name)
            return name

        @app.workflow("fan")
        async def fan(ctx: WorkflowContext) -> list[Any]:
            async def branch(name: str) -> str:
                first = await ctx.step(f"{name}1", work, f"{name}1")
                return str(await ctx.step(f"{name}2", work, first + f"{name}2"))

            both = await asyncio.gather(branch("a"), branch("b"))
            await ctx.sleep(seconds=1)
            return [*both, ctx.now().isoformat(), ctx.random(), ctx.uuid()]

    async with living(url, clock, declare) as first:
        run = await first.workflows.start("fan")
        await clock.settle()
        assert await suspended(first, run.id)
    async with living(url, clock, declare) as second:
        await clock.advance(seconds=1)
        end = await looked_at(second, run)
    assert end.status is RunStatus.COMPLETED
    assert end.result[:2] == ["a1a2", "b1b2"]
    assert sorted(done) == ["a1", "a1a2", "b1", "b1b2"]


async def suspended(app: Duly, run_id: str) -> bool:
    run = await app.runs.get(run_id)
    return run is not None and run.status is RunStatus.SUSPENDED


@rule("S0.32", "S0d.30", "H4")
async def test_h4_a_changed_step_under_a_live_run_is_told_and_a_redrive_with_the_old_code_goes_on(
    make_app: MakeApp,
) -> None:
    def declare(app: Duly, name: str) -> Duly:
        @app.workflow("steady")
        async def steady(ctx: WorkflowContext) -> str:
            await ctx.step(name, lambda: 1)
            await ctx.wait_for_signal("go")
            return "done"

        return app

    async with declare(make_app(), "first") as app:
        run = await app.workflows.start("steady")
        await until(lambda: suspended(app, run.id))
    async with declare(make_app(), "renamed") as app:
        await app.workflows.signal(run.id, "go")
        end = await ended(app, run)
        assert end.status is RunStatus.FAILED
        assert "position 1" in (end.error_message or "")
        assert "'renamed'" in (end.error_message or "")
        assert "'first'" in (end.error_message or "")
    async with declare(make_app(), "first") as app:
        await app.runs.redrive(run.id)
        end = await ended(app, run)
    assert (end.status, end.result) == (RunStatus.COMPLETED, "done")


@rule("H4")
@pytest.mark.parametrize("end", ["returns", "raises"])
async def test_h4_a_wait_that_was_taken_out_of_the_code_is_told_and_nothing_is_undone(
    make_app: MakeApp, end: str
) -> None:
    undone: list[str] = []

    def declare(app: Duly, waits: bool) -> Duly:
        @app.workflow("patient")
        async def patient(ctx: WorkflowContext) -> str:
            await ctx.step("pay", str.lower, "A", compensate=undone.append)
            if waits:
                await ctx.wait_for_signal("approved")
            elif end == "raises":
                raise ValueError("nobody is asked any more")
            return "done"

        return app

    async with declare(make_app(), True) as app:
        run = await app.workflows.start("patient")
        await until(lambda: suspended(app, run.id))
    async with declare(make_app(), False) as app:
        await app.workflows.signal(run.id, "approved")
        told = await ended(app, run)
        assert told.status is RunStatus.FAILED
        assert "position 2: signal 'approved' was recorded, and the body no longer asks" in (told.error_message or "")
    async with declare(make_app(), True) as app:
        await app.runs.redrive(run.id)
        assert (await ended(app, run)).result == "done"
    assert undone == []


@rule("S0.28", "S0.31", "S0d.32", "S0d.33", "S0d.34", "H5")
async def test_h5_a_run_ends_on_its_version_and_one_that_nobody_has_waits(make_app: MakeApp) -> None:
    def declare(app: Duly, *versions: str) -> Duly:
        for version in versions:

            @app.workflow("v", version=version)
            async def body(ctx: WorkflowContext) -> str:
                await ctx.wait_for_signal("go")
                return ctx.version

        return app

    async with declare(make_app(), "9") as app:
        old = await app.workflows.start("v")
        await until(lambda: suspended(app, old.id))
    async with declare(make_app(), "10") as app:
        await app.workflows.signal(old.id, "go")
        new = await app.workflows.start("v")
        await app.workflows.signal(new.id, "go")
        assert (await ended(app, new)).result == "10"
        waiting = await app.runs.get(old.id)
        assert waiting is not None
        assert not waiting.status.terminal
        with pytest.raises(DulyError, match="version '3'") as refused:
            await app.workflows.start("v", version="3", id="never")
        assert refused.value.code == "WORKFLOW_UNKNOWN"
        assert await app.runs.get("never") is None
    async with declare(make_app(), "9", "10") as app:
        assert (await ended(app, old)).result == "9"
        both = await app.workflows.start("v", version="9")
        await app.workflows.signal(both.id, "go")
        assert (await ended(app, both)).result == "9"


@rule("S0.34", "S0d.35", "H6")
async def test_h6_patched_gives_old_runs_the_old_branch_and_new_ones_the_new(make_app: MakeApp) -> None:
    def old(app: Duly) -> Duly:
        @app.workflow("p")
        async def p(ctx: WorkflowContext) -> list[str]:
            await ctx.wait_for_signal("go")
            return [await ctx.step("old", lambda: "old")]

        return app

    def new(app: Duly) -> Duly:
        @app.workflow("p")
        async def p(ctx: WorkflowContext) -> list[str]:
            fresh = ctx.patched("better")
            said = [await ctx.step("extra", lambda: "extra")] if fresh else []
            await ctx.wait_for_signal("go")
            return [
                *said,
                await ctx.step("new", lambda: "new") if ctx.patched("better") else await ctx.step("old", lambda: "old"),
            ]

        return app

    async with old(make_app()) as app:
        begun = await app.workflows.start("p")
        await until(lambda: suspended(app, begun.id))
    async with new(make_app()) as app:
        fresh = await app.workflows.start("p")
        await until(lambda: suspended(app, fresh.id))
        for run in (begun, fresh):
            await app.workflows.signal(run.id, "go")
        assert (await ended(app, begun)).result == ["old"]
        assert (await ended(app, fresh)).result == ["extra", "new"]


async def test_h6_a_patch_that_is_deprecated_fits_runs_that_have_its_marker_and_new_ones(make_app: MakeApp) -> None:
    def workflow(app: Duly, look: Callable[[WorkflowContext], object]) -> Duly:
        @app.workflow("p")
        async def p(ctx: WorkflowContext) -> str:
            look(ctx)
            await ctx.wait_for_signal("go")
            return str(await ctx.step("new", lambda: "new"))

        return app

    async with workflow(make_app(), lambda ctx: ctx.patched("better")) as app:
        begun = await app.workflows.start("p")
        await until(lambda: suspended(app, begun.id))
    async with workflow(make_app(), lambda ctx: ctx.deprecate_patch("better")) as app:
        fresh = await app.workflows.start("p")
        for run in (begun, fresh):
            await app.workflows.signal(run.id, "go")
        assert [(await ended(app, run)).result for run in (begun, fresh)] == ["new", "new"]


@rule("S0d.40", "H9")
async def test_h9_signals_are_kept_in_order_and_given_once_each(app: Duly) -> None:
    @app.workflow("s")
    async def s(ctx: WorkflowContext) -> list[Any]:
        got = [await ctx.wait_for_signal("n") for _ in range(3)]
        await ctx.step("between", lambda: None)
        return [*got, await ctx.wait_for_signal("other")]

    async with app:
        run = await app.workflows.start("s")
        for n in range(3):
            await app.workflows.signal(run.id, "n", n)
        await app.workflows.signal(run.id, "other", "x")
        assert (await ended(app, run)).result == [0, 1, 2, "x"]
        with pytest.raises(DulyError, match="has ended"):
            await app.workflows.signal(run.id, "n", 4)


@rule("S0d.39", "H10")
async def test_h10_a_wait_that_is_over_takes_its_branch(app: Duly) -> None:
    @app.workflow("t")
    async def t(ctx: WorkflowContext) -> str:
        try:
            await ctx.wait_for_signal("never", timeout=0.05)
        except duly.SignalTimeout:
            return "gave up"
        return "came"

    async with app:
        assert (await ended(app, await app.workflows.start("t"))).result == "gave up"


@rule("H11")
async def test_h11_a_parent_waits_for_its_child_and_hears_of_its_failure(app: Duly) -> None:
    @app.workflow("child")
    async def child(ctx: WorkflowContext, input: int) -> int:
        if input < 0:
            raise ValueError("negative")
        return input * 2

    @app.workflow("parent")
    async def parent(ctx: WorkflowContext) -> list[Any]:
        good = await ctx.child("child", 4)
        try:
            await ctx.child("child", -1)
        except duly.StepFailed as error:
            return [good, error.error]
        return [good]

    async with app:
        assert (await ended(app, await app.workflows.start("parent"))).result == [8, "ValueError: negative"]


@rule("S0d.44", "H12")
async def test_h12_a_fan_out_answers_in_order_and_tells_all_failures(app: Duly) -> None:
    @app.workflow("half")
    async def half(ctx: WorkflowContext, input: int) -> int:
        if input % 2:
            raise ValueError(f"{input} is odd")
        return input // 2

    @app.workflow("many")
    async def many(ctx: WorkflowContext) -> list[Any]:
        good = await ctx.all("half", [2, 4, 6])
        none = await ctx.all("half", [])
        try:
            await ctx.all("half", [1, 2, 3])
        except duly.GatherFailed as error:
            return [good, none, [(index, text) for index, _, text in error.failures]]
        return []

    async with app:
        end = await ended(app, await app.workflows.start("many"))
    assert end.result == [[1, 2, 3], [], [[0, "ValueError: 1 is odd"], [2, "ValueError: 3 is odd"]]]


@rule("S0d.23", "H13")
async def test_h13_continue_as_new_starts_with_a_clean_record(app: Duly) -> None:
    @app.workflow("loop")
    async def loop(ctx: WorkflowContext, input: int) -> int:
        await ctx.step("work", lambda: None)
        if input < 3:
            ctx.continue_as_new(input + 1)
        return input

    async with app:
        run = await ended(app, await app.workflows.start("loop", 2))
        assert run.status is RunStatus.COMPLETED
        last = await app.runs.wait(run.result["continuedAs"], timeout=PATIENCE)
        assert last.result == 3
        assert [step.name for step in await app.workflows.steps(last.id)] == ["1", "work"]


@rule("S0.35", "S0d.18", "S0d.21", "S0d.24", "S0d.53", "S0d.54")
async def test_a_step_is_tried_again_and_its_last_error_is_raised_in_the_body(app: Duly) -> None:
    tries: list[str] = []

    def flaky() -> str:
        step = duly.current_step()
        assert step is not None
        tries.append(step.id)
        step.log(f"try {step.attempt}")
        if len(tries) < 3:
            raise ValueError("not yet")
        return "at last"

    def hopeless() -> None:
        raise duly.Fatal("no use")

    @app.workflow("r")
    async def r(ctx: WorkflowContext) -> list[Any]:
        said = await ctx.step("flaky", flaky, retry=Retry(max_attempts=5, delay=0.01, jitter=0))
        try:
            await ctx.step("hopeless", hopeless, retry=Retry(max_attempts=5))
        except duly.StepFailed as error:
            return [said, error.error]
        return []

    async with app:
        run = await ended(app, await app.workflows.start("r"))
        steps = await app.workflows.steps(run.id)
    assert run.result == ["at last", "Fatal: no use"]
    assert len(tries) == 3
    assert set(tries) == {f"{run.id}:1"}
    assert [(s.attempt, s.status) for s in steps[1:]] == [(3, StepStatus.DONE), (1, StepStatus.FAILED)]
    assert steps[1].log == '[["info","try 3"]]'


@rule("S0.36", "S0d.57", "I1", "I3", "I4")
async def test_i1_i3_undos_run_in_reverse_and_a_failing_one_hides_nothing(app: Duly) -> None:
    undone: list[tuple[str, str]] = []

    def undo(output: str, name: str) -> None:
        undone.append((output, name))

    def broken(output: str) -> None:
        raise duly.Fatal("cannot be undone")

    @app.workflow("saga")
    async def saga(ctx: WorkflowContext) -> None:
        await ctx.step("A", str.lower, "A", compensate=undo)
        await ctx.step("B", str.lower, "B", compensate=broken)
        await ctx.step("C", str.lower, "C", compensate=undo)
        raise ValueError("the first error")

    @app.workflow("fine")
    async def fine(ctx: WorkflowContext) -> str:
        return str(await ctx.step("A", str.lower, "A", compensate=undo))

    async with app:
        run = await ended(app, await app.workflows.start("saga"))
        steps = await app.workflows.steps(run.id)
        assert run.status is RunStatus.FAILED
        assert (run.error_message or "").startswith("ValueError: the first error")
        assert "cannot be undone" in (run.error_message or "")
        assert undone == [("c", "C"), ("a", "A")]
        undos = [(s.name, s.status) for s in steps if s.kind is StepKind.UNDO]
        assert undos[::-1] == [
            ("compensate:C", StepStatus.DONE),
            ("compensate:B", StepStatus.FAILED),
            ("compensate:A", StepStatus.DONE),
        ]
        assert (await ended(app, await app.workflows.start("fine"))).result == "a"
    assert undone == [("c", "C"), ("a", "A")]


async def test_i7_a_cancel_reaches_children_and_i6_nothing_brings_it_back(app: Duly) -> None:
    @app.workflow("leaf")
    async def leaf(ctx: WorkflowContext) -> None:
        await ctx.sleep(days=1)

    @app.workflow("root")
    async def root(ctx: WorkflowContext) -> None:
        ctx.publish("child", ctx.start_child("leaf"))
        await ctx.child("leaf")

    async with app:
        run = await app.workflows.start("root")
        await until(lambda: suspended(app, run.id))
        children = (await app.runs.list(workflow="leaf")).items
        await until(lambda: all_suspended(app, [r.id for r in children]))
        cancelled = await app.runs.cancel(run.id)
        assert cancelled.status is RunStatus.CANCELLED
        below = (await app.runs.list(workflow="leaf")).items
        assert [leaf.status for leaf in below] == [RunStatus.CANCELLED] * 2
        with pytest.raises(DulyError):
            await app.workflows.signal(run.id, "x")


async def all_suspended(app: Duly, ids: list[str]) -> bool:
    return all([await suspended(app, id) for id in ids])


@rule("S0d.50")
async def test_tasks_are_ended_from_outside_once(app: Duly) -> None:
    tokens: list[str] = []

    @app.workflow("ask")
    async def ask(ctx: WorkflowContext) -> list[Any]:
        said = await ctx.task("approve", tokens.append)
        try:
            await ctx.task("approve", tokens.append)
        except duly.StepFailed as error:
            return [said, error.error]
        return []

    async with app:
        run = await app.workflows.start("ask")
        await until(lambda: len(tokens) == 1)
        assert await app.workflows.complete_task(tokens[0], "yes") is True
        assert await app.workflows.complete_task(tokens[0], "no") is False
        await until(lambda: len(tokens) == 2)
        assert await app.workflows.fail_task(tokens[1], "refused") is True
        assert (await ended(app, run)).result == ["yes", "refused"]
        with pytest.raises(DulyError):
            await app.workflows.complete_task("nonsense", 1)


@rule("S0d.47")
async def test_an_event_reaches_all_who_wait(app: Duly) -> None:
    @app.workflow("listener")
    async def listener(ctx: WorkflowContext) -> Any:
        return await ctx.wait_for_event("door")

    async with app:
        runs = [await app.workflows.start("listener") for _ in range(3)]
        await until(lambda: all_suspended(app, [run.id for run in runs]))
        assert (await app.workflows.publish("door", "open")).told == 3
        assert [(await ended(app, run)).result for run in runs] == ["open"] * 3
        assert (await app.workflows.publish("door", "late")).told == 0


@rule("S0d.19")
async def test_a_bound_job_is_a_step_also_in_a_queue_of_its_own(app: Duly) -> None:
    @app.job("double")
    async def double(n: int) -> int:
        return n * 2

    @app.workflow("bound")
    async def bound(ctx: WorkflowContext) -> list[int]:
        return [await ctx.step(double.bind(n=2)), await ctx.step(double.bind(n=5), queue="slow")]

    async with app:
        run = await ended(app, await app.workflows.start("bound"))
        assert run.result == [4, 10]
        (queued,) = (await app.runs.list(job="double")).items
        assert (queued.queue, queued.kind) == ("slow", "child")


@rule("S0.33", "S0d.31", "S0d.42", "H7", "H16")
async def test_values_are_made_once_and_shown_values_can_be_asked_for(make_app: MakeApp) -> None:
    made: list[int] = []

    def declare(app: Duly) -> Duly:
        def draw() -> int:
            made.append(1)
            return len(made)

        @app.workflow("once")
        async def once(ctx: WorkflowContext) -> int:
            value = ctx.side_effect(draw)
            ctx.publish("value", value)
            await ctx.wait_for_signal("go")
            return int(value)

        return app

    async with declare(make_app()) as app:
        run = await app.workflows.start("once")
        await until(lambda: suspended(app, run.id))
        recorded = await app.workflows.steps(run.id)
        assert await app.workflows.query(run.id, "value") == 1
        assert await app.workflows.query(run.id, "nothing") is None
        assert await app.workflows.steps(run.id) == recorded, "to ask changes nothing"
    async with declare(make_app()) as app:
        await app.workflows.signal(run.id, "go")
        assert (await ended(app, run)).result == 1
        assert await app.workflows.query(run.id, "value") == 1
    assert made == [1]


@pytest.mark.parametrize("bad", [lambda ctx, a, b: None, 5, lambda ctx: None])
def test_what_is_no_body_is_refused_when_it_is_declared(bad: Any) -> None:
    with pytest.raises(DulyError):
        Duly("sqlite:///never.db").workflow("x")(bad)


async def test_a_sleep_until_an_instant_that_is_past_goes_on_at_once(app: Duly) -> None:
    @app.workflow("late")
    async def late(ctx: WorkflowContext) -> str:
        await ctx.sleep_until(datetime.now(UTC) - timedelta(days=1))
        return "on"

    async with app:
        assert (await ended(app, await app.workflows.start("late"))).result == "on"


@rule("S0d.44", "H12")
async def test_h12_fail_fast_cancels_the_siblings(app: Duly) -> None:
    @app.workflow("part")
    async def part(ctx: WorkflowContext, input: int) -> int:
        if input == 0:
            raise ValueError("the first is bad")
        await ctx.sleep(days=1)
        return input

    @app.workflow("hasty")
    async def hasty(ctx: WorkflowContext) -> str:
        try:
            await ctx.all("part", [0, 1, 2], mode="fail_fast")
        except duly.StepFailed as error:
            return error.error
        return "never"

    async with app:
        assert (await ended(app, await app.workflows.start("hasty"))).result == "ValueError: the first is bad"
        parts = (await app.runs.list(workflow="part")).items
        ends = [(await ended(app, one)).status for one in parts]
    assert sorted(ends) == ["cancelled", "cancelled", "failed"]


@rule("I4")
async def test_i5_a_cancel_may_undo_first_and_i4_a_plain_one_undoes_nothing(make_app: MakeApp) -> None:
    undone: list[str] = []

    def declare(app: Duly) -> Duly:
        @app.workflow("leaf")
        async def leaf(ctx: WorkflowContext) -> None:
            await ctx.sleep(days=1)

        @app.workflow("trip")
        async def trip(ctx: WorkflowContext) -> None:
            for name in ("flight", "hotel"):
                await ctx.step(name, str.upper, name, compensate=undone.append)
            await ctx.child("leaf")

        return app

    async with declare(make_app()) as app:
        soft, plain = [await app.workflows.start("trip") for _ in range(2)]
        await until(lambda: all_suspended(app, [soft.id, plain.id]))
        assert (await app.workflows.cancel(plain.id)).status is RunStatus.CANCELLED
        assert undone == []
    async with declare(make_app()) as app:
        await app.workflows.cancel(soft.id, compensate=True)
        await app.workflows.cancel(soft.id, compensate=True)
        end = await ended(app, soft)
        assert (end.status, end.reason) == (RunStatus.CANCELLED, "cancel_requested")
        assert undone == ["HOTEL", "FLIGHT"]
        leaves = [await ended(app, one) for one in (await app.runs.list(workflow="leaf")).items]
        assert {leaf.status for leaf in leaves} == {RunStatus.CANCELLED}
        assert (await app.workflows.cancel(soft.id, compensate=True)).status is RunStatus.CANCELLED


@rule("S0d.28", "I8")
async def test_i8_a_workflow_that_takes_too_long_ends_with_all_below_it(app: Duly) -> None:
    @app.workflow("below")
    async def below(ctx: WorkflowContext) -> None:
        await ctx.sleep(days=1)

    @app.workflow("endless", execution_timeout=1)
    async def endless(ctx: WorkflowContext) -> None:
        ctx.start_child("below")
        await ctx.child("below")

    async with app:
        end = await ended(app, await app.workflows.start("endless"))
        assert (end.status, end.reason) == (RunStatus.CANCELLED, "execution_timeout")
        assert "took longer than its timeout of 1 s" in (end.error_message or "")
        children = [await ended(app, one) for one in (await app.runs.list(workflow="below")).items]
    assert [child.status for child in children] == [RunStatus.CANCELLED] * 2


async def test_a_redriven_workflow_goes_on_from_its_failed_step(app: Duly) -> None:
    done: list[str] = []
    luck: list[str] = []

    def need_luck() -> str:
        return luck[0]

    @app.workflow("unlucky")
    async def unlucky(ctx: WorkflowContext) -> str:
        await ctx.step("first", done.append, "first")
        return str(await ctx.step("second", need_luck))

    async with app:
        run = await ended(app, await app.workflows.start("unlucky"))
        assert (run.status, run.error_message) == (
            RunStatus.FAILED,
            "StepFailed: second failed: IndexError: list index out of range",
        )
        luck.append("at last")
        await app.runs.redrive(run.id)
        assert (await ended(app, run)).result == "at last"
    assert done == ["first"]


async def test_an_undo_has_its_own_retries_and_an_event_may_have_to_match(app: Duly) -> None:
    tries: list[str] = []

    def shaky(output: str) -> None:
        tries.append(output)
        if len(tries) < 5:
            raise ValueError("not yet")

    @app.workflow("picky")
    async def picky(ctx: WorkflowContext) -> None:
        retry = Retry(max_attempts=5, delay=0.01, jitter=0)
        await ctx.step("A", str.lower, "A", compensate=shaky, compensate_retry=retry)
        await ctx.wait_for_event("paid", match=lambda order: order["id"] == 7, timeout=60)
        raise ValueError("now undo")

    async with app:
        run = await app.workflows.start("picky")
        await until(lambda: suspended(app, run.id))
        assert (await app.workflows.publish("paid", {"id": 6})).told == 1
        await until(lambda: heard(app, run.id))
        assert (await app.workflows.publish("paid", {"id": 7})).told == 1
        end = await ended(app, run)
    assert end.error_message == "ValueError: now undo"
    assert tries == ["a"] * 5


async def heard(app: Duly, run_id: str) -> bool:
    return any(step.position == 3 for step in await app.workflows.steps(run_id))
