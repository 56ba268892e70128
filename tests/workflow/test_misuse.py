"""What bodies and steps should not do: it is their own end, told in words, and never that of the worker."""

import asyncio
import json
import math
import sys
from typing import Any

import pytest

import duly
from duly import Duly, Retry, RunStatus, Snooze, WorkflowContext
from duly.core.errors import ValidationFailed
from tests.app.conftest import until
from tests.workflow.test_workflows import ended, suspended

LEAVE = "SystemExit: 3"


def leave(*_: Any) -> None:
    sys.exit(3)


async def leave_async() -> None:
    leave()


async def wait_for_what_is_cancelled() -> None:
    never = asyncio.get_running_loop().create_future()
    never.cancel()
    await never


@pytest.mark.parametrize(
    ("function", "timeout", "error"),
    [
        (leave, None, LEAVE),
        (leave_async, None, LEAVE),
        (leave_async, 60, LEAVE),
        (wait_for_what_is_cancelled, None, "CancelledError"),
        (wait_for_what_is_cancelled, 60, "CancelledError"),
    ],
)
async def test_a_step_that_leaves_or_is_cancelled_fails_alone_and_is_tried_and_undone(
    app: Duly, function: Any, timeout: float | None, error: str
) -> None:
    undone: list[str] = []

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> None:
        await ctx.step("first", str.lower, "A", compensate=undone.append)
        twice = Retry(max_attempts=2, delay=0.01, jitter=0)
        await ctx.step("second", function, retry=twice, timeout=timeout)

    async with app:
        run = await ended(app, await app.workflows.start("w"))
        (second,) = [step for step in await app.workflows.steps(run.id) if step.name == "second"]
    assert (run.status, run.attempt) == (RunStatus.FAILED, 1)
    assert run.error_message == f"StepFailed: second failed: {error}"
    assert (second.attempt, second.error) == (2, error)
    assert undone == ["a"]


async def test_a_transaction_and_an_undo_that_leave_fail_alone(app: Duly) -> None:
    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> None:
        await ctx.step("first", str.lower, "A", compensate=leave, compensate_retry=Retry(max_attempts=1))
        await ctx.transaction("second", leave)

    async with app:
        run = await ended(app, await app.workflows.start("w"))
    assert run.error_message == f"StepFailed: second failed: {LEAVE} (not undone: compensate:first: {LEAVE})"


async def test_a_body_that_leaves_has_failed_and_is_undone(app: Duly) -> None:
    undone: list[str] = []

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> None:
        await ctx.step("first", str.lower, "A", compensate=undone.append)
        await asyncio.gather(leave_async())

    async with app:
        run = await ended(app, await app.workflows.start("w"))
    assert (run.status, run.attempt, run.error_message) == (RunStatus.FAILED, 1, LEAVE)
    assert undone == ["a"]


LARGE = "x" * 300_000


not_kept = pytest.mark.parametrize(
    ("value", "why"),
    [
        (math.nan, "is not JSON: it holds NaN or infinity"),
        ([{"deep": math.inf}], "is not JSON: it holds NaN or infinity"),
        (object(), "is not JSON: Encoding objects of type object is unsupported"),
        (LARGE, "has 300002 bytes; at most 262144 are kept: store it elsewhere"),
    ],
    ids=["nan", "infinity", "object", "large"],
)


@not_kept
async def test_a_body_whose_answer_cannot_be_kept_has_failed_and_is_undone(app: Duly, value: Any, why: str) -> None:
    undone: list[str] = []

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> Any:
        await ctx.step("first", str.lower, "A", compensate=undone.append)
        return value

    async with app:
        run = await ended(app, await app.workflows.start("w"))
    assert (run.status, run.attempt, undone) == (RunStatus.FAILED, 1, ["a"])
    assert why.partition(";")[0] in (run.error_message or "")


@not_kept
async def test_what_cannot_be_kept_is_refused_where_it_is_given(app: Duly, value: Any, why: str) -> None:
    @app.workflow("child")
    async def child(ctx: WorkflowContext, input: Any) -> None: ...

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> list[str]:
        said: list[str] = []
        ways: list[Any] = [
            lambda: ctx.side_effect(lambda: value),
            lambda: ctx.publish("shown", value),
            lambda: ctx.child("child", value),
            lambda: ctx.start_child("child", value),
            lambda: ctx.continue_as_new(value),
        ]
        for way in ways:
            try:
                way()
            except duly.DulyError as error:
                said.append(str(error))
        try:
            await ctx.step("step", lambda: value, retry=Retry(max_attempts=9))
        except duly.StepFailed as failed:
            said.append(failed.error)
        return said

    async with app:
        run = await ended(app, await app.workflows.start("w"))
        assert (await app.runs.list(workflow="child")).items == []
    assert run.error_message is None
    assert [text.partition(why)[0].strip() for text in run.result] == [
        "the value '<lambda>'",
        "the published value 'shown'",
        "the input of workflow 'child'",
        "the input of workflow 'child'",
        "the input of the new run",
        "NotKept: the step's answer",
    ]
    assert all(why in text for text in run.result)


async def test_a_step_that_snoozes_goes_again_without_counting_and_a_body_may_not(app: Duly) -> None:
    calls: list[int] = []

    def not_yet() -> Any:
        step = duly.current_step()
        assert step is not None
        calls.append(step.attempt)
        return Snooze(seconds=0.01) if len(calls) < 3 else "done"

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> Any:
        return await ctx.step("poll", not_yet)

    @app.workflow("lazy")
    async def lazy(ctx: WorkflowContext) -> Any:
        return Snooze(minutes=5)

    async with app:
        assert (await ended(app, await app.workflows.start("w"))).result == "done"
        refused = await ended(app, await app.workflows.start("lazy"))
    assert calls == [1, 1, 1]
    assert (refused.status, refused.error_message) == (
        RunStatus.FAILED,
        "ValidationFailed: the body answered Snooze, which is for jobs; wait with ctx.sleep",
    )


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda ctx: ctx.step("s", leave, retry=5), "retry of step 's' is 5; expected Retry(max_attempts=...)"),
        (lambda ctx: ctx.step("s", leave, timeout="5m"), "timeout of step 's' is '5m'; expected seconds above 0"),
        (lambda ctx: ctx.step("s", leave, timeout=0), "timeout of step 's' is 0; expected seconds above 0"),
        (lambda ctx: ctx.sleep(math.nan), "duration is nan; expected at most ten years"),
        (lambda ctx: ctx.sleep(days=1e12), "expected at most ten years"),
        (lambda ctx: ctx.wait_for_signal("s", timeout=1e15), "duration is 1000000000000000.0; expected at most ten"),
        (lambda ctx: ctx.sleep(True), "duration is True; expected seconds, '5m' or a timedelta"),
    ],
)
async def test_a_wrong_number_is_told_in_the_body(app: Duly, ask: Any, words: str) -> None:
    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> Any:
        return await ask(ctx)

    async with app:
        run = await ended(app, await app.workflows.start("w"))
    assert run.status is RunStatus.FAILED
    assert words in (run.error_message or "")


async def test_no_time_at_all_is_a_sleep_too(app: Duly) -> None:
    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> str:
        for nothing in ("0s", 0, -5):
            await ctx.sleep(nothing)
        return "awake"

    async with app:
        assert (await ended(app, await app.workflows.start("w"))).result == "awake"


async def test_a_step_that_logs_too_much_says_so_in_its_last_line(app: Duly) -> None:
    def chatty() -> None:
        step = duly.current_step()
        assert step is not None
        for n in range(300):
            step.log(f"line {n}")

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> None:
        await ctx.step("chatty", chatty)

    async with app:
        run = await ended(app, await app.workflows.start("w"))
        lines = json.loads((await app.workflows.steps(run.id))[1].log or "")
    assert lines[199:] == [["info", "line 199"], ["warning", "further lines are not kept: 200 are the most of one try"]]


@pytest.mark.parametrize("compensate", [False, True])
async def test_a_run_that_nobody_knows_is_told_by_the_name_that_was_given(app: Duly, compensate: bool) -> None:
    async with app:
        with pytest.raises(duly.DulyError, match="there is no run with id or key 'nobody'"):
            await app.workflows.cancel("nobody", compensate=compensate)


@pytest.mark.parametrize("words", [{"delay": 0.2}, {"backoff": "fixed"}, {"max_delay": 60}, {"jitter": 0}])
async def test_delays_beside_a_queue_are_refused_because_they_are_the_job_s(app: Duly, words: dict[str, Any]) -> None:
    @app.job("mail")
    async def mail(n: int) -> int:
        return n

    @app.workflow("w")
    async def w(ctx: WorkflowContext) -> Any:
        first = await ctx.step(mail.bind(n=1), queue="slow", retry=Retry(max_attempts=2))
        try:
            return await ctx.step(mail.bind(n=2), queue="slow", retry=Retry(max_attempts=2, **words))
        except ValidationFailed as error:
            await ctx.wait_for_signal("go")
            return [first, str(error)]

    async with app:
        made = await app.workflows.start("w")
        await until(lambda: suspended(app, made.id))
        app._world.residents.take(made.id, 0)  # so that it is replayed
        await app.workflows.signal(made.id, "go")
        run = await ended(app, made)
    assert run.result[0] == 1
    assert "give max_attempts alone here, and the delays to the job 'mail'" in run.result[1]
