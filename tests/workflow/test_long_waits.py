"""Long waits on a clock that moves when told, through the real engine on both stores, over restarts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import duly
from duly import Duly, Retry, RunStatus, Settings, WorkflowContext
from duly.core.steps import StepKind
from duly.testing import ManualClock, Watched
from duly.testing.travelling import travel_settings
from tests.acceptance.rules import rule

START = "2026-03-25T00:00:00Z"
WEEK = 7 * 86_400_000
RESTFUL = travel_settings()
ALERT = Settings(lease=30, heartbeat=10, poll=10)
Declare = Callable[[Duly], None]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@asynccontextmanager
async def living(url: str, clock: ManualClock, declare: Declare, settings: Settings = RESTFUL) -> AsyncIterator[Duly]:
    """A process with its own memory, from its start to its end."""
    app = Duly(url, clock=clock, settings=settings)
    app._store.driver = Watched(app._store.driver, clock)
    declare(app)
    await app.start()
    try:
        await clock.settle()
        yield app
    finally:
        await app.stop(grace=0)


def no_jobs(app: Duly) -> None:
    """Another process, which looks for what is lost."""


async def looked_at(app: Duly, run: duly.Run) -> duly.Run:
    found = await app.runs.get(run.id)
    assert found is not None
    return found


@rule("H8")
async def test_h8_a_sleep_of_seven_days_survives_restarts_and_wakes_at_its_instant(
    url: str, clock: ManualClock
) -> None:
    woke: list[int] = []

    async def wake() -> None:
        woke.append(clock.now())

    def declare(app: Duly) -> None:
        @app.workflow("week")
        async def week(ctx: WorkflowContext) -> float:
            began = ctx.now()
            await ctx.sleep("7d")
            await ctx.step("wake", wake)
            return (ctx.now() - began).total_seconds()

    began = clock.now()
    async with living(url, clock, declare) as app:
        run = await app.workflows.start("week")
        await clock.settle()
        found = await looked_at(app, run)
        assert (found.status, found.instance) == (RunStatus.SUSPENDED, None), "nobody holds it"
    clock.move(days=3)  # nobody lives
    async with living(url, clock, declare) as app:
        await clock.advance(days=2)  # over the night in which the clocks change
        (sleep,) = [step for step in await app.workflows.steps(run.id) if step.kind is StepKind.SLEEP]
        assert sleep.due_at == began + WEEK
        clock.jump(hours=1)
        await clock.advance(hours=1)
    async with living(url, clock, declare) as app:
        await clock.advance(milliseconds=began + WEEK - clock.now() - 1)
        assert (woke, (await looked_at(app, run)).status) == ([], RunStatus.SUSPENDED)
        await clock.advance(milliseconds=1)
        end = await looked_at(app, run)
        assert (end.status, end.result) == (RunStatus.COMPLETED, WEEK / 1000)
    assert woke == [began + WEEK], "once, at the instant that was fixed when it fell asleep"


@rule("H8")
async def test_h8_one_that_is_late_wakes_at_once_and_says_when_it_should_have(url: str, clock: ManualClock) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("week")
        async def week(ctx: WorkflowContext) -> float:
            await ctx.sleep("7d")
            return ctx.now().timestamp()

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("week")
        await clock.settle()
    clock.move(days=30)
    async with living(url, clock, declare) as app:
        end = await looked_at(app, run)
        steps = await app.workflows.steps(run.id)
    assert end.status is RunStatus.COMPLETED
    assert steps[1].due_at == steps[0].asked_at + WEEK


async def test_h9_one_that_took_a_message_before_a_restart_waits_again_without_being_claimed_over_and_over(
    url: str, clock: ManualClock
) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("twice")
        async def twice(ctx: WorkflowContext) -> Any:
            await ctx.wait_for_signal("a")
            await ctx.sleep("1h")
            return await ctx.wait_for_signal("b", timeout="1h")

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("twice")
        await app.workflows.signal(run.id, "a")
        await clock.settle()
        before = await looked_at(app, run)
    async with living(url, clock, declare) as app:
        await clock.advance(hours=1)
        woken = await looked_at(app, run)
        assert (woken.status, woken.fence) == (RunStatus.SUSPENDED, before.fence + 1)
        await app.workflows.signal(run.id, "b", 7)
        await clock.settle()
        assert (await looked_at(app, run)).result == 7


@rule("S0.33", "H7")
async def test_h7_now_random_and_uuid_are_the_same_after_a_restart(url: str, clock: ManualClock) -> None:
    told: list[list[Any]] = []

    def declare(app: Duly) -> None:
        @app.workflow("drawn")
        async def drawn(ctx: WorkflowContext) -> list[Any]:
            first = [ctx.now().isoformat(), ctx.random(), ctx.uuid()]
            told.append(first)
            await ctx.sleep("1h")
            second = [ctx.now().isoformat(), ctx.random(), ctx.uuid()]
            told.append(second)
            await ctx.sleep("1h")
            return [first, second]

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("drawn")
        await clock.settle()
    async with living(url, clock, declare) as app:
        await clock.advance(hours=1)
    async with living(url, clock, declare) as app:
        await clock.advance(hours=1)
        end = await looked_at(app, run)
    first, second = told[0], told[2]
    assert told == [first, first, second, first, second], "each process draws what the first one drew"
    assert end.result == [first, second]
    assert len({str(value) for value in first + second}) == 6, "and nothing is drawn twice"


@rule("H10")
@pytest.mark.parametrize("after_ms", [-1, 0, 1])
async def test_h10_a_signal_beside_the_deadline_has_one_outcome_and_is_not_lost(
    url: str, clock: ManualClock, after_ms: int
) -> None:
    async def heard(ctx: WorkflowContext, timeout: float) -> str:
        try:
            return str(await ctx.wait_for_signal("go", timeout=timeout))
        except duly.SignalTimeout:
            return "gave up"

    def declare(app: Duly) -> None:
        @app.workflow("w")
        async def w(ctx: WorkflowContext) -> list[str]:
            said = [await heard(ctx, 5), await heard(ctx, 60)]
            await ctx.sleep("1h")  # the other process replays what this one decided
            return said

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("w")
        await clock.settle()
        if after_ms > 0:
            await clock.advance(seconds=5, milliseconds=after_ms)
        else:
            clock.move(milliseconds=5000 + after_ms)  # the worker wakes, and the signal is sent, in one instant
        await app.workflows.signal(run.id, "go", "came")
        await clock.advance(seconds=61)
        decided = [(s.name, s.status, s.result, s.error) for s in await app.workflows.steps(run.id)][1:3]
    async with living(url, clock, declare) as app:
        await clock.advance(hours=1)
        said = (await looked_at(app, run)).result
    if after_ms:
        assert said == (["came", "gave up"] if after_ms < 0 else ["gave up", "came"])
    assert sorted(said) == ["came", "gave up"], "one outcome, and the signal was given once"
    assert [status for _, status, _, _ in decided] == ["done" if one == "came" else "failed" for one in said]


@rule("H11")
async def test_h11_a_parent_waits_for_days_without_compute_and_gets_its_child_s_output(
    url: str, clock: ManualClock
) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("child")
        async def child(ctx: WorkflowContext, input: int) -> int:
            await ctx.sleep("3d")
            return input * 2

        @app.workflow("parent")
        async def parent(ctx: WorkflowContext) -> Any:
            return await ctx.child("child", 4)

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("parent")
        await clock.advance(days=1)
        found = await looked_at(app, run)
        assert (found.status, found.instance, found.attempt) == (RunStatus.SUSPENDED, None, 0)
    async with living(url, clock, declare) as app:
        await clock.advance(days=2)
        end = await looked_at(app, run)
        assert (end.status, end.result, end.attempt) == (RunStatus.COMPLETED, 8, 1)


@rule("H12")
async def test_h12_a_replay_of_a_fan_out_starts_nobody_twice(url: str, clock: ManualClock) -> None:
    began: list[int] = []

    async def begin(number: int) -> None:  # not in a thread, for which the clock would not wait
        began.append(number)

    def declare(app: Duly) -> None:
        @app.workflow("part")
        async def part(ctx: WorkflowContext, input: int) -> int:
            await ctx.step("begin", begin, input)
            await ctx.sleep(days=4 - input)  # the last one is ready first
            return input * 10

        @app.workflow("whole")
        async def whole(ctx: WorkflowContext) -> Any:
            return await ctx.all("part", [1, 2, 3])

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("whole")
        await clock.settle()
    for _ in range(3):
        async with living(url, clock, declare) as app:
            await clock.advance(days=1)
            end = await looked_at(app, run)
            parts = (await app.runs.list(workflow="part")).items
    assert (end.status, end.result) == (RunStatus.COMPLETED, [10, 20, 30])
    assert (len(parts), sorted(began)) == (3, [1, 2, 3])


@rule("H11")
async def test_h11_a_child_that_nobody_knows_fails_the_parent_instead_of_hanging(url: str, clock: ManualClock) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("known")
        async def known(ctx: WorkflowContext) -> None: ...

        @app.workflow("parent")
        async def parent(ctx: WorkflowContext, input: list[Any]) -> Any:
            return await ctx.child(input[0], version=input[1])

        @app.workflow("careful")
        async def careful(ctx: WorkflowContext) -> str:
            try:
                await ctx.child("nobody")
            except duly.StepFailed as error:
                return error.error
            return "done"

    async with living(url, clock, declare) as app:
        for named in (["nobody", None], ["known", "9"]):
            run = await app.workflows.start("parent", named)
            await clock.advance(seconds=1)
            end = await looked_at(app, run)
            assert end.status is RunStatus.FAILED, end
            assert "is known neither to this app nor to a live worker" in (end.error_message or "")
        caught = await app.workflows.start("careful")
        await clock.advance(seconds=1)
        assert "known neither" in (await looked_at(app, caught)).result
        assert (await app.runs.list(workflow="nobody")).items == [], "no run waits for somebody who knows it"


@rule("E12")
async def test_e12_a_step_that_is_done_elsewhere_for_long_costs_its_run_no_attempt(
    url: str, clock: ManualClock
) -> None:
    """Its worker holds it for longer than any lease; the workflow that waits is neither recovered nor counted."""

    def declare(app: Duly) -> None:
        @app.job("render")
        async def render(n: int) -> int:
            await clock.wait(asyncio.Event(), 300)
            return n

        @app.workflow("film")
        async def film(ctx: WorkflowContext) -> Any:
            return await ctx.step(render.bind(7), queue="slow")

    async with living(url, clock, declare, ALERT) as app, living(url, clock, no_jobs, ALERT):
        run = await app.workflows.start("film")
        for _ in range(4):
            await clock.advance(minutes=1)
            found = await looked_at(app, run)
            assert (found.status, found.attempt, found.instance) == (RunStatus.SUSPENDED, 0, None)
        await clock.advance(minutes=1)
        end = await looked_at(app, run)
        assert (end.status, end.result, end.attempt) == (RunStatus.COMPLETED, 7, 1)
        (below,) = (await app.runs.list(job="render")).items
        assert (below.status, below.attempt) == (RunStatus.COMPLETED, 1)
        assert [one.outcome for one in await app.runs.attempts(run.id)] == ["completed"]


@rule("I8")
async def test_i8_two_that_find_the_same_time_over_end_the_whole_tree_once(url: str, clock: ManualClock) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("leaf")
        async def leaf(ctx: WorkflowContext) -> None:
            await ctx.sleep("1d")

        @app.workflow("branch")
        async def branch(ctx: WorkflowContext) -> None:
            ctx.start_child("leaf")
            await ctx.child("leaf")

        @app.workflow("tree", execution_timeout=60)
        async def tree(ctx: WorkflowContext) -> None:
            await ctx.all("branch", [1, 2])

    async with living(url, clock, declare, ALERT) as app, living(url, clock, declare, ALERT):
        run = await app.workflows.start("tree")
        await clock.advance(milliseconds=59_999)
        assert {one.status for one in (await app.runs.list()).items} == {RunStatus.SUSPENDED}
        await clock.advance(milliseconds=1)
        ends = (await app.runs.list()).items
        assert len(ends) == 7
        assert {one.status for one in ends} == {RunStatus.CANCELLED}
        end = await looked_at(app, run)
        assert (end.reason, end.attempt) == ("execution_timeout", 1)
        await clock.advance(minutes=1)
        clock.move(days=2)
        await clock.settle()
        after = (await app.runs.list()).items
        assert [(one.id, one.status, one.fence) for one in after] == [
            (one.id, one.status, one.fence) for one in ends
        ], "no timer brings anything back"


@rule("H11")
async def test_h11_a_redrive_asks_again_once_somebody_knows_the_child(url: str, clock: ManualClock) -> None:
    def parent_only(app: Duly) -> None:
        @app.workflow("parent")
        async def parent(ctx: WorkflowContext) -> Any:
            return await ctx.child("child")

    def both(app: Duly) -> None:
        parent_only(app)

        @app.workflow("child")
        async def child(ctx: WorkflowContext) -> int:
            return 5

    async with living(url, clock, parent_only) as app:
        run = await app.workflows.start("parent")
        await clock.advance(seconds=1)
        assert (await looked_at(app, run)).status is RunStatus.FAILED
    async with living(url, clock, both) as app:
        await app.runs.redrive(run.id)
        await clock.advance(seconds=1)
        end = await looked_at(app, run)
        assert (end.status, end.result) == (RunStatus.COMPLETED, 5)


@rule("S0d.54")
async def test_s0d_54_the_next_try_of_a_step_survives_a_restart_and_comes_at_its_instant(
    url: str, clock: ManualClock
) -> None:
    tried: list[int] = []

    async def flaky() -> str:
        tried.append(clock.now())
        if len(tried) < 3:
            raise ConnectionError("not yet")
        return "done"

    def declare(app: Duly) -> None:
        @app.workflow("w")
        async def w(ctx: WorkflowContext) -> Any:
            hourly = Retry(max_attempts=5, backoff="fixed", delay=3600, jitter=0)
            return await ctx.step("flaky", flaky, retry=hourly)

    began = clock.now()
    async with living(url, clock, declare) as app:
        run = await app.workflows.start("w")
        await clock.advance(minutes=10)
        found = await looked_at(app, run)
        assert (found.status, found.instance) == (RunStatus.SUSPENDED, None), "nobody holds it meanwhile"
    clock.move(minutes=20)
    async with living(url, clock, declare) as app:
        await clock.advance(milliseconds=30 * 60_000 - 1)
        assert len(tried) == 1
        await clock.advance(hours=1, milliseconds=1)
        assert (await looked_at(app, run)).result == "done"
    assert tried == [began, began + 3_600_000, began + 7_200_000]


@rule("S0d.41")
async def test_s0d_41_a_signal_starts_its_run_and_both_are_one_commit(url: str, clock: ManualClock) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("cart")
        async def cart(ctx: WorkflowContext, input: int) -> list[Any]:
            return [input, await ctx.wait_for_signal("add"), await ctx.wait_for_signal("add")]

    async with living(url, clock, declare) as app:
        first = await app.workflows.signal_with_start("cart", "add", "a", id="cart-7", input=1)
        second = await app.workflows.signal_with_start("cart", "add", "b", id="cart-7", input=2)
        await clock.settle()
        assert first.id == second.id
        assert (await looked_at(app, first)).result == [1, "a", "b"]
        with pytest.raises(duly.DulyError, match="has ended as completed"):
            await app.workflows.signal_with_start("cart", "add", "c", id="cart-7", input=1)
        with pytest.raises(duly.DulyError, match="known neither"):
            await app.workflows.signal_with_start("none", "add", "c", id="cart-8")
        assert await app.runs.get("cart-8") is None


@rule("H13")
@pytest.mark.parametrize("compensate", [False, True])
async def test_h13_a_cancel_of_the_first_id_reaches_what_the_run_has_gone_on_as(
    url: str, clock: ManualClock, compensate: bool
) -> None:
    undone: list[int] = []

    async def undo(output: int) -> None:
        undone.append(output)

    async def count(number: int) -> int:
        return number

    def declare(app: Duly) -> None:
        @app.workflow("entity")
        async def entity(ctx: WorkflowContext, input: int) -> None:
            await ctx.step("count", count, input, compensate=undo)
            await ctx.wait_for_signal("more")
            ctx.continue_as_new(input + 1)

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("entity", 1, id="cart-7")
        await clock.settle()
        newest = run.id
        for _ in range(2):
            await app.workflows.signal(newest, "more")
            await clock.advance(seconds=1)
            gone = await app.runs.get(newest)
            assert gone is not None
            newest = gone.result["continuedAs"]
        cancelled = await app.workflows.cancel("cart-7", compensate=compensate)
        assert cancelled.id == newest
        await clock.settle()
        end = await app.runs.get(newest)
        assert end is not None
        assert end.status is RunStatus.CANCELLED
        assert undone == ([3] if compensate else [])
        again = await app.workflows.cancel("cart-7", compensate=compensate)
        assert (again.id, again.status) == (newest, RunStatus.CANCELLED), "twice is harmless"


async def test_h13_a_cancel_that_undoes_follows_a_run_that_goes_on_at_that_moment(
    url: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def declare(app: Duly) -> None:
        @app.workflow("entity")
        async def entity(ctx: WorkflowContext, input: int) -> None:
            await ctx.wait_for_signal("more")
            ctx.continue_as_new(input + 1)

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("entity", 1)
        await clock.settle()
        store = app.workflows._store
        cancel_softly = store.cancel_softly

        async def too_late(run_id: str) -> bool:
            if run_id == run.id:
                await app.workflows.signal(run_id, "more")
                await clock.advance(seconds=1)
            return await cancel_softly(run_id)

        monkeypatch.setattr(store, "cancel_softly", too_late)
        cancelled = await app.workflows.cancel(run.id, compensate=True)
        await clock.settle()
        gone = await looked_at(app, run)
        assert cancelled.id == gone.result["continuedAs"]
        assert (await looked_at(app, cancelled)).status is RunStatus.CANCELLED


@rule("S0d.63")
async def test_f7_a_fan_out_that_failed_fast_fails_again_when_redriven_and_does_not_hang(
    url: str, clock: ManualClock
) -> None:
    """The child that failed goes again; those that were cancelled because of it stay so, and say it."""
    luck: list[bool] = []

    async def need_luck() -> bool:
        return luck[0]

    def declare(app: Duly) -> None:
        @app.workflow("part")
        async def part(ctx: WorkflowContext, input: int) -> Any:
            if input:
                await ctx.sleep("1d")
                return input
            await ctx.sleep(seconds=1)
            return await ctx.step("luck", need_luck)

        @app.workflow("whole")
        async def whole(ctx: WorkflowContext) -> Any:
            return await ctx.all("part", [0, 1], mode="fail_fast")

    async with living(url, clock, declare) as app:
        run = await app.workflows.start("whole")
        await clock.advance(seconds=2)
        assert (await looked_at(app, run)).status is RunStatus.FAILED
        luck.append(True)
        await app.runs.redrive(run.id)
        await clock.advance(days=2)
        end = await looked_at(app, run)
        assert (end.status, "cancelled" in (end.error_message or "")) == (RunStatus.FAILED, True), end
