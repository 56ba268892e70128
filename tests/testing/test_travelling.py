"""Time travel through the real engine, and what tests say of it."""

import re
import time
from itertools import pairwise
from typing import Any

import pytest

from duly import Duly, Every, Retry, RunContext, Settings, WorkflowContext
from duly.core.instants import to_datetime, to_ms
from duly.testing import ManualClock, assert_enqueued, assert_fired, drain, travel
from duly.testing.travelling import travel_settings


async def test_thirty_days_of_an_hourly_schedule_fire_each_window_once(duly_app: Duly, duly_clock: ManualClock) -> None:
    hours: list[int] = []

    @duly_app.job("tick", cron="0 * * * *")
    async def tick() -> None:
        hours.append(duly_clock.now() // 3_600_000)

    async with duly_app:
        await duly_clock.advance(days=30)
        runs = await assert_fired(duly_app, "tick", times=720)
    assert [b - a for a, b in pairwise(hours)] == [1] * 719, "each at its own hour"
    assert all(run.status == "completed" and run.started_at == run.window_at for run in runs)


@pytest.mark.duly_start("2026-03-28T00:00:00Z")
async def test_the_clock_begins_where_the_mark_says(duly_clock: ManualClock) -> None:
    assert duly_clock.now() == 1_774_656_000_000


async def test_an_app_is_given_back_as_it_was_whatever_happens(tmp_path: Any) -> None:
    app = Duly(f"sqlite:///{tmp_path / 'own.db'}", settings=Settings(concurrency=7))

    @app.job("work", cron="0 0 * * *")
    async def work() -> None: ...

    before = app.url, app.settings, app.clock

    async def broken() -> None:
        async with travel(app) as clock:
            assert app.settings.concurrency == 7
            await clock.advance(days=2)
            await assert_fired(app, "work", times=2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await broken()
    assert (app.url, app.settings, app.clock) == before
    assert not (tmp_path / "own.db").exists()
    async with travel(app) as clock:
        await clock.advance(days=1)
        await assert_fired(app, "work", times=1)


async def test_handlers_in_threads_and_steps_in_threads_are_waited_for(duly_app: Duly, duly_clock: ManualClock) -> None:
    done: list[str] = []

    def slowly(name: str) -> None:
        time.sleep(0.05)
        done.append(name)

    @duly_app.job("plain")
    def plain() -> None:
        slowly("plain")

    @duly_app.workflow("flow", version="1")
    async def flow(ctx: WorkflowContext, input: Any) -> None:
        await ctx.step("one", slowly, "step")
        await ctx.sleep(minutes=5)

    @duly_app.on("run.completed")
    def told(event: Any) -> None:
        slowly("told")

    async with duly_app:
        await duly_app.enqueue("plain")
        await duly_app.workflows.start("flow", {})
        assert await drain(duly_app) == {"completed": 2}
        await duly_clock.settle()
        assert sorted(done) == ["plain", "step", "told", "told"]


@pytest.mark.timeout(20)
async def test_an_app_stops_although_a_handler_is_at_work_and_nobody_moves_the_clock(
    duly_app: Duly, duly_clock: ManualClock
) -> None:
    @duly_app.job("endless")
    async def endless(run: RunContext) -> None:
        await run.wait_cancelled()

    async with duly_app:
        await duly_app.enqueue("endless")
        await duly_clock.settle()
        assert (await duly_app.runs.list(status="running")).items


async def test_what_never_ends_by_itself_is_named(duly_app: Duly, duly_clock: ManualClock) -> None:
    async with duly_app:
        run = await duly_app.enqueue("nobody-has-this")
        with pytest.raises(AssertionError, match=f"do not end by themselves: nobody-has-this {run.id}"):
            await drain(duly_app)


async def test_an_assertion_says_what_was_there_instead(duly_app: Duly, duly_clock: ManualClock) -> None:
    @duly_app.job("send", retry=Retry(max_attempts=1))
    async def send(user: int) -> None: ...

    async with duly_app:
        await duly_app.schedules.create("hourly", Every(hours=1), job="send", payload={"user": 1})
        with pytest.raises(AssertionError, match="'hourly' has not fired; it is 2026-01-05T00:00:00"):
            await assert_fired(duly_app, "hourly")
        with pytest.raises(AssertionError, match="no schedule 'monthly'"):
            await assert_fired(duly_app, "monthly")
        await duly_clock.advance(hours=2)
        with pytest.raises(AssertionError, match="fired 2 times; expected 3"):
            await assert_fired(duly_app, "hourly", times=3)
        with pytest.raises(AssertionError, match=re.escape("did not fire at 2026-01-05T03:00:00+00:00; fired at 2026")):
            await assert_fired(duly_app, "hourly", at=["2026-01-05T01:00:00Z", "2026-01-05T03:00:00Z"])
        with pytest.raises(AssertionError, match="no run of 'send' was enqueued"):
            await assert_enqueued(duly_app, "send")
        await duly_app.enqueue("send", {"user": 42})
        with pytest.raises(AssertionError, match="43} was enqueued; there are 1 with "):
            await assert_enqueued(duly_app, "send", {"user": 43})
        (run,) = await assert_enqueued(duly_app, "send", {"user": 42}, times=1)
        assert run.payload == {"user": 42}


async def test_a_real_clock_is_refused() -> None:
    with pytest.raises(AssertionError, match="on a real clock"):
        await drain(Duly("sqlite:///:memory:"))


def test_the_pace_of_travel_leaves_the_other_settings_alone() -> None:
    paced = travel_settings(Settings(concurrency=3, default_max_attempts=9))
    assert (paced.concurrency, paced.default_max_attempts, paced.poll) == (3, 9, 86_400)


async def test_two_travels_do_not_meet() -> None:
    apps = [Duly("sqlite:///:memory:") for _ in range(2)]
    async with travel(apps[0]) as one, travel(apps[1]) as other:
        await one.advance(days=1)
        await other.advance(days=2)
        assert one.now() < other.now()


async def test_the_clock_stands_still_while_a_handler_is_at_work_in_a_thread(
    duly_app: Duly, duly_clock: ManualClock
) -> None:
    took: list[int] = []

    @duly_app.job("plain", cron="0 * * * *")
    def plain() -> None:
        began = duly_clock.now()
        time.sleep(0.03)
        took.append(duly_clock.now() - began)

    async with duly_app:
        await duly_clock.advance(hours=3)
    assert took == [0, 0, 0]


async def test_an_interval_after_completion_goes_on_from_each_end(duly_app: Duly, duly_clock: ManualClock) -> None:
    @duly_app.job("work")
    async def work() -> None: ...

    async with duly_app:
        await duly_app.schedules.create("k", Every(minutes=10, after_completion=True), job="work")
        await duly_clock.advance(hours=1)
        await assert_fired(duly_app, "k", times=6)


async def test_a_run_that_is_to_stop_hears_of_it_at_once(duly_app: Duly, duly_clock: ManualClock) -> None:
    @duly_app.job("work")
    async def work(run: RunContext) -> None:
        await run.wait_cancelled()

    async with duly_app:
        made = await duly_app.schedules.create("k", Every(minutes=10), job="work", overlap="cancel_previous")
        await duly_clock.advance(minutes=20)
        assert [run.status for run in (await duly_app.runs.list(schedule=made.id)).items] == ["running", "cancelled"]
        await duly_app.schedules.delete("k", cancel_running=True)
        await duly_clock.settle()
        assert [run.status for run in (await duly_app.runs.list(schedule=made.id)).items] == ["cancelled"] * 2


async def test_a_pause_ends_exactly_at_its_end(duly_app: Duly, duly_clock: ManualClock) -> None:
    resumed: list[int] = []

    @duly_app.job("tick", cron="0 * * * *")
    async def tick() -> None:
        resumed.append(duly_clock.now())

    async with duly_app:
        start = duly_clock.now()
        await duly_clock.advance(minutes=10)
        for hours in (2, 30):  # before the next heartbeat, and after it
            until = to_datetime(duly_clock.now() + hours * 3_600_000)
            paused = await duly_app.schedules.pause("tick", until=until)
            await duly_clock.advance(hours=hours, milliseconds=-1)
            found = await duly_app.schedules.get(paused.id)
            assert found is not None
            assert not found.enabled
            await duly_clock.advance(milliseconds=1)
            found = await duly_app.schedules.get(paused.id)
            assert found is not None
            assert found.enabled
            resumed.clear()
            await duly_clock.advance(minutes=50)
            assert resumed == [to_ms(until) + 50 * 60_000], "the next window fires on time"
            await duly_clock.advance(minutes=10)
        assert duly_clock.now() == start + 34 * 3_600_000 + 10 * 60_000


async def test_pauses_of_many_end_exactly_at_their_end(duly_app: Duly, duly_clock: ManualClock) -> None:
    @duly_app.job("tick", cron="30 * * * *")
    async def tick() -> None: ...

    async with duly_app:
        until = to_datetime(duly_clock.now() + 3_600_000)
        await duly_app.schedules.pause_many(until=until, everything=True)
        await duly_clock.advance(minutes=60)
        assert (await duly_app.schedules.list(enabled=True)).items
        await duly_clock.advance(minutes=30)
        await assert_fired(duly_app, "tick", times=1)
