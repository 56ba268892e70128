"""Scenarios from other projects' test suites and faults that no older test of ours shows; the letters name them."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duly import Duly, Every, Once, Retry, RunContext, RunStatus, Schedule, Settings
from duly.core.errors import ClientRequestIdInUse
from duly.core.run import Failed
from tests.acceptance.rules import rule
from tests.app.conftest import until
from tests.engine.lab import Lab
from tests.store_choice import postgres_too

MINUTE = timedelta(minutes=1)
SELDOM = Every(days=3650)
"""Its next window is in December 2029: on a real clock it does not fire in the middle of a test."""


@rule("S3.55", "C3")
async def test_c3_catching_up_starts_only_the_windows_that_did_not_run(lab: Lab) -> None:
    ran: list[str | None] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        ran.append(run.window_key)

    first = await lab.start()
    schedule = await lab.create("k", Every(minutes=1), catch_up="all")
    await lab.clock.advance(minutes=3)
    await lab.stop(first)
    lab.clock.move(minutes=5, seconds=30)
    await lab.start()
    await lab.clock.advance(seconds=20)
    runs = await lab.runs(schedule)
    start = datetime(2026, 1, 5, tzinfo=UTC)
    assert [run.scheduled_at for run in runs] == [start + number * MINUTE for number in range(1, 9)]
    assert {(run.status, run.attempt) for run in runs} == {(RunStatus.COMPLETED, 1)}
    assert ran == [run.window_key for run in runs], "the first three were not started again, the others oldest first"


@rule("F1")
async def test_f1_three_attempts_are_three_failures_two_retries_and_one_end(lab: Lab) -> None:
    executions: list[int] = []

    @lab.job("work", retry=Retry(max_attempts=3, delay=5, jitter=0))
    async def work(run: RunContext) -> None:
        executions.append(run.attempt)
        raise ValueError(f"try {run.attempt}")

    await lab.start()
    schedule = await lab.create("k", Every(minutes=10), max_runs=1)
    await lab.clock.advance(minutes=12)
    assert executions == [1, 2, 3]
    outcomes = [outcome for _, outcome in lab.recorder.all("attempt_ended")]
    assert [isinstance(outcome, Failed) for outcome in outcomes] == [True] * 3
    ends = [dict(ended) for _, ended, _ in lab.recorder.all("attempts_settled")]
    (run,) = await lab.runs(schedule)
    assert [end for end in ends if end] == [{run.id: RunStatus.FAILED}], "twice it goes back, once it ends"
    done = await lab.run(run.id)
    assert (done.status, done.error_message, done.dead) == (RunStatus.FAILED, "ValueError: try 3", True)


@rule("S2.13", "G1")
@postgres_too("ten writers at once")
async def test_g1_ten_creates_of_one_client_request_id_at_once_make_one_schedule(url: str) -> None:
    app = Duly(url, settings=Settings(poll=0.05))

    @app.job("work")
    async def work() -> None: ...

    def create(key: str) -> Coroutine[Any, Any, Schedule]:
        soon = Once(datetime(2000, 1, 1, tzinfo=UTC), on_past="fire")
        return app.schedules.create(key, soon, job="work", metadata={"client_request_id": "order-7"})

    async with app:
        answers = await asyncio.gather(*(create(f"k{number}") for number in range(10)), return_exceptions=True)
        (made,) = [answer for answer in answers if not isinstance(answer, BaseException)]
        refusals = [answer for answer in answers if isinstance(answer, ClientRequestIdInUse)]
        assert len(refusals) == 9
        assert {refusal.existing_id for refusal in refusals} == {made.id}

        async def completed() -> bool:
            found = await app.schedules.get(made.id)
            return found is not None and found.status == "completed"

        await until(completed)
        with pytest.raises(ClientRequestIdInUse):
            await create("after-its-end")
        assert [schedule.id async for schedule in app.schedules.iterate()] == [made.id]
        assert len((await app.runs.list()).items) == 1


@rule("I9")
async def test_i9_a_cancel_by_filter_touches_only_what_matches_and_lives(url: str) -> None:
    app = Duly(url, settings=Settings(poll=0.05))
    begun, go_on = asyncio.Event(), asyncio.Event()

    @app.job("quick")
    async def quick() -> None: ...

    @app.job("slow", retry=Retry(max_attempts=5))
    async def slow() -> None:
        begun.set()
        await go_on.wait()
        raise ValueError

    past = Once(datetime(2000, 1, 1, tzinfo=UTC), on_past="fire")
    async with app:
        done = await app.schedules.create("done", past, job="quick", tags=["etl"])
        await app.schedules.create("waits", SELDOM, job="quick", tags=["etl"])
        running = await app.schedules.create("runs", past, job="slow", tags=["etl"])
        await app.schedules.create("other", SELDOM, job="quick", tags=["mail"])

        async def completed() -> bool:
            found = await app.schedules.get(done.id)
            return found is not None and found.status == "completed"

        await until(completed)
        await asyncio.wait_for(begun.wait(), 60)
        before = {schedule.key: schedule async for schedule in app.schedules.iterate()}
        cancelled = await app.schedules.cancel_many(tag="etl", by="ann")
        after = {schedule.key: schedule async for schedule in app.schedules.iterate()}
        assert cancelled.changed == 2
        assert {key: schedule.status.value for key, schedule in after.items()} == {
            "done": "completed", "waits": "cancelled", "runs": "cancelled", "other": "pending",
        }  # fmt: skip
        assert (after["done"], after["other"]) == (before["done"], before["other"])
        (run,) = (await app.runs.list(schedule=running.id)).items
        assert run.status is RunStatus.RUNNING
        go_on.set()
        ended = await app.runs.wait(run.id, timeout=60)
    assert (ended.status, ended.attempt) == (RunStatus.FAILED, 1), "its attempt may finish, and gets no other"


@rule("K1")
async def test_k1_a_list_of_ten_thousand_runs_has_pages_of_rows_without_payloads_and_exact_counts(url: str) -> None:
    async with Duly(url, roles=()) as app:
        await app.runs.enqueue_many("work", [{"text": "x" * 200}] * 10_000)
        page = await app.runs.list(limit=100)
        assert (len(page.items), page.next_cursor is None) == (100, False)
        assert {run.payload for run in page.items} == {None}
        assert (await app.schedules.stats()).load.ready == 10_000
