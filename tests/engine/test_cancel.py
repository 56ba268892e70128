"""Cancel: a waiting run ends at once, a running one is told to stop, and no late success counts."""

import asyncio
from functools import partial

import pytest

from duly import Every, Retry, RunContext
from duly.core.rules import editing
from duly.core.run import RunStatus
from tests.acceptance.rules import rule
from tests.engine.lab import Lab


async def cancel(lab: Lab, run_id: str) -> None:
    await lab.plain.request_cancel(run_id)
    for instance in lab.instances:
        instance.cancel_soon()
    await lab.clock.settle()


async def test_a_waiting_run_ends_at_once_and_is_never_started(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None:
        raise AssertionError("cancelled")

    run = await lab.enqueue("work")
    await cancel(lab, run.id)
    done = await lab.run(run.id)
    assert (done.status, done.reason, done.attempt) == (RunStatus.CANCELLED, "cancel_requested", 0)
    await lab.start()
    await lab.clock.advance(seconds=5)
    assert lab.recorder.count("attempt_started") == 0


async def test_a_run_that_waits_for_its_retry_is_tried_no_more(lab: Lab) -> None:
    @lab.job("work", retry=Retry(max_attempts=9, delay=10))
    async def work() -> None:
        raise OSError

    await lab.start()
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=2)
    await cancel(lab, run.id)
    await lab.clock.advance(minutes=5)
    done = await lab.run(run.id)
    assert (done.status, done.attempt) == (RunStatus.CANCELLED, 1)


@rule("I10")
@pytest.mark.parametrize("max_attempts", [1, 3])
async def test_an_async_handler_is_cancelled_where_it_waits(lab: Lab, max_attempts: int) -> None:
    seen: list[bool] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        try:
            await lab.nap(600)
        finally:
            seen.append(run.cancelled)

    await lab.start()
    run = await lab.enqueue("work", max_attempts=max_attempts)
    await cancel(lab, run.id)
    assert seen == [True]
    assert (await lab.run(run.id)).status is RunStatus.CANCELLED


async def test_a_cancel_asked_for_elsewhere_is_learned_with_the_next_heartbeat(lab: Lab) -> None:
    seen: list[float] = []

    @lab.job("work")
    async def work() -> None:
        try:
            await lab.nap(600)
        finally:
            seen.append(lab.clock.steady())

    await lab.start()
    run = await lab.enqueue("work")
    await lab.clock.advance(seconds=1)
    await lab.plain.request_cancel(run.id)
    await lab.clock.advance(seconds=4)
    assert seen == [5.0]
    assert (await lab.run(run.id)).status is RunStatus.CANCELLED


@rule("D4")
async def test_d4_a_late_success_of_a_cancelled_run_is_refused(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> str:
        try:
            await lab.nap(600)
        except asyncio.CancelledError:
            return "a success after all"
        return ""

    await lab.start()
    run = await lab.enqueue("work")
    await cancel(lab, run.id)
    done = await lab.run(run.id)
    assert (done.status, done.result) == (RunStatus.CANCELLED, None)


@rule("I10")
async def test_i10_a_handler_that_ignores_the_cancel_is_cut_off_and_its_result_is_dropped(
    lab: Lab,
) -> None:
    ended: list[str] = []

    @lab.job("work")
    async def work(run: RunContext) -> str:
        for _ in range(60):
            try:
                await lab.nap(1)
            except asyncio.CancelledError:
                continue
        ended.append("late")
        return "late"

    await lab.start()
    run = await lab.enqueue("work")
    await cancel(lab, run.id)
    await lab.clock.advance(seconds=20)
    done = await lab.run(run.id)
    assert done.status is RunStatus.CANCELLED, "after cancel_grace nobody waits for it"
    await lab.clock.advance(seconds=60)
    assert ended == ["late"]
    assert (await lab.run(run.id)).result is None


@rule("S3.60", "D4")
async def test_d4_cancel_previous_stops_the_run_before_and_starts_the_next_after_it(lab: Lab) -> None:
    spans: list[tuple[int, str]] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        spans.append((lab.clock.now(), "start"))
        try:
            await lab.nap(600)
        finally:
            spans.append((lab.clock.now(), "end"))

    await lab.start()
    schedule = await lab.create("k", Every(seconds=30), overlap="cancel_previous")
    await lab.clock.advance(seconds=100)
    statuses = [run.status for run in await lab.runs(schedule)]
    assert statuses == [RunStatus.CANCELLED, RunStatus.CANCELLED, RunStatus.RUNNING]
    assert [what for _, what in spans] == ["start", "end", "start", "end", "start"]
    starts, ends = [at for at, what in spans if what == "start"], [at for at, what in spans if what == "end"]
    assert starts[1:] == ends == [starts[0] + 30_000, starts[0] + 60_000], "at once, and not by the next heartbeat"


@rule("S2.23", "I11")
async def test_i11_cancelling_a_schedule_gives_its_running_run_no_further_attempt(lab: Lab) -> None:
    @lab.job("work", retry=Retry(max_attempts=5, delay=1, jitter=0))
    async def work() -> None:
        await lab.nap(10)
        raise OSError("again")

    await lab.start()
    schedule = await lab.create("k", Every(seconds=30), overlap="allow")
    await lab.clock.advance(seconds=31)
    for _ in range(2):
        changed = await lab.plain.change_schedule("k", partial(editing.cancel, by=None))
        assert changed is not None
        assert changed.status == "cancelled"
    await lab.clock.advance(minutes=5)
    (run,) = await lab.runs(schedule)
    assert (run.status, run.attempt) == (RunStatus.FAILED, 1)
