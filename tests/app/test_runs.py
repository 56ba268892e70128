"""``app.runs`` and ``app.enqueue``: ask for runs, wait for them, look at them, cancel them."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from duly import Duly, Retry, RunContext, RunStatus, Snooze, WaitTimeout
from duly.core.errors import EnqueueFailure, NotFound, OutcomeUnknown, StoreUnavailable, ValidationFailed
from tests.acceptance.rules import rule
from tests.app.conftest import MakeApp
from tests.store_choice import postgres_too

SOME_ID = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
async def app(make_app: MakeApp):
    app = make_app()

    @app.job("echo")
    async def echo(payload):
        return payload

    @app.job("slow")
    async def slow(run: RunContext) -> None:
        await asyncio.Event().wait()

    @app.job("bad", retry=Retry(max_attempts=2, delay=0.01, jitter=0))
    async def bad() -> None:
        raise ValueError("no")

    async with app:
        yield app


async def test_wait_answers_the_finished_run(app: Duly) -> None:
    done = await app.runs.wait((await app.enqueue("echo", {"user": 42})).id, timeout=30)
    assert (done.status, done.result, done.error_message) == (RunStatus.COMPLETED, {"user": 42}, None)
    failed = await app.runs.wait((await app.enqueue("bad")).id, timeout=30)
    assert (failed.status, failed.error_message, failed.attempt) == (RunStatus.FAILED, "ValueError: no", 2)


async def test_wait_gives_up_in_time_and_the_run_goes_on(app: Duly) -> None:
    run = await app.enqueue("slow")
    before = time.monotonic()
    with pytest.raises(WaitTimeout) as raised:
        await app.runs.wait(run.id, timeout=0.2)
    assert time.monotonic() - before >= 0.19, "not before its time; that it comes at all, the slow run shows"
    assert raised.value.code == "WAIT_TIMEOUT"
    assert isinstance(raised.value, TimeoutError)
    with pytest.raises(WaitTimeout):
        await app.runs.wait(run.id, timeout=0)
    assert (await app.runs.get(run.id)).status in (RunStatus.PENDING, RunStatus.RUNNING)  # type: ignore[union-attr]


@postgres_too("a notification on another connection")
async def test_a_run_of_another_instance_can_be_waited_for(app: Duly, make_app: MakeApp) -> None:
    async with make_app(roles=()) as other:
        run = await other.enqueue("echo", [1])
        assert (await other.runs.wait(run.id, timeout=30)).result == [1]


@postgres_too("300 writers at once")
async def test_many_enqueues_at_once_are_all_stored_and_all_run(app: Duly) -> None:
    runs = await asyncio.gather(*(app.enqueue("echo", number) for number in range(300)))
    assert len({run.id for run in runs}) == 300
    done = [await app.runs.wait(run.id, timeout=60) for run in runs]
    assert [run.result for run in done] == list(range(300))


async def test_enqueue_many_answers_in_order(app: Duly) -> None:
    runs = await app.runs.enqueue_many("echo", list(range(1500)), priority=2)
    assert len(runs) == 1500
    assert (await app.runs.wait(runs[1234].id, timeout=60)).result == 1234
    assert {run.priority for run in runs} == {2}


@rule("S0.25", "A6")
@postgres_too("two writers at once")
async def test_a6_the_same_id_twice_is_one_run_and_both_answers_are_it(app: Duly, make_app: MakeApp) -> None:
    async with make_app(roles=()) as other:
        answers = await asyncio.gather(*(a.enqueue("echo", 1, id=SOME_ID) for a in (app, other) * 10))
    assert {run.id for run in answers} == {SOME_ID}
    done = await app.runs.wait(SOME_ID, timeout=30)
    assert (done.status, done.attempt) == (RunStatus.COMPLETED, 1)
    again = await app.enqueue("echo", 2, id=SOME_ID)
    assert (again.status, again.payload) == (RunStatus.COMPLETED, 1), "never a reset to pending"


async def test_a_run_may_wait_for_its_time(app: Duly) -> None:
    at = datetime.now(UTC) + timedelta(seconds=0.5)
    done = await app.runs.wait((await app.enqueue("echo", 1, run_at=at)).id, timeout=30)
    assert done.started_at is not None
    assert done.started_at >= at.replace(microsecond=at.microsecond // 1000 * 1000)
    with pytest.raises(ValidationFailed, match="run_at"):
        await app.enqueue("echo", 1, run_at=datetime(2027, 1, 1))  # noqa: DTZ001  # the mistake


async def test_cancel_ends_a_waiting_run_and_leaves_an_ended_one(app: Duly) -> None:
    later = await app.enqueue("echo", 1, run_at=datetime.now(UTC) + timedelta(hours=1))
    assert (await app.runs.cancel(later.id)).status is RunStatus.CANCELLED
    assert (await app.runs.cancel(later.id)).status is RunStatus.CANCELLED
    done = await app.runs.wait((await app.enqueue("echo", 1)).id, timeout=30)
    assert (await app.runs.cancel(done.id)).status is RunStatus.COMPLETED


async def test_lists_filter_and_leave_payloads_out(app: Duly) -> None:
    runs = await app.runs.enqueue_many("echo", [{"big": "x" * 1000}] * 7)
    for run in runs:
        await app.runs.wait(run.id, timeout=30)
    bad = await app.enqueue("bad")
    await app.runs.wait(bad.id, timeout=30)
    page = await app.runs.list(job="echo", limit=5)
    assert len(page.items) == 5
    assert all(run.payload is None and run.result is not None for run in page.items)
    rest = await app.runs.list(job="echo", limit=5, cursor=page.next_cursor)
    assert {run.id for run in (*page.items, *rest.items)} == {run.id for run in runs}
    assert [run.id async for run in app.runs.iterate(limit=3, status="failed")] == [bad.id]
    assert (await app.runs.list(schedule="no-such-key")).items == []


async def test_unknown_runs_are_none_for_get_and_not_found_for_the_others(app: Duly) -> None:
    for ref in (SOME_ID, "nope", "", "sched:nope:5", "sched::", "x" * 1000):
        assert await app.runs.get(ref) is None
        for call in (app.runs.cancel, app.runs.wait):
            with pytest.raises(NotFound):
                await call(ref)


@rule("S2.50")
@pytest.mark.parametrize("error", [StoreUnavailable, OutcomeUnknown])
@postgres_too("a lost connection")
async def test_a_store_that_loses_the_write_is_an_enqueue_failure_with_the_id_to_try_again(
    app: Duly, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    async def lost(*args: object, **kwargs: object) -> None:
        raise error("injected")

    monkeypatch.setattr(app._store, "enqueue", lost)
    with pytest.raises(EnqueueFailure) as raised:
        await app.enqueue("echo", 1)
    assert raised.value.code == "SCHEDULE_ENQUEUE_FAILURE"
    with pytest.raises(EnqueueFailure):
        await app.runs.enqueue_many("echo", [1, 2])
    monkeypatch.undo()
    run = await app.enqueue("echo", 1, id=raised.value.details["id"])
    assert run.id == raised.value.details["id"]


async def test_the_time_that_was_asked_for_stays_through_retries_and_snoozes(make_app: MakeApp) -> None:
    app = make_app()
    seen: list[datetime] = []

    @app.job("again", retry=Retry(max_attempts=3, delay=0.01, jitter=0))
    async def again(run: RunContext) -> Snooze | None:
        seen.append(run.scheduled_at)
        if len(seen) == 1:
            raise ValueError("not yet")
        return Snooze(seconds=0.01) if len(seen) == 2 else None

    async with app:
        asked = await app.enqueue("again")
        done = await app.runs.wait(asked.id, timeout=30)
    assert seen == [asked.scheduled_at] * 3
    assert done.scheduled_at == asked.scheduled_at
    assert (done.window_key, done.attempt) == (None, 2)


async def test_runs_are_listed_by_the_time_that_was_asked_for(app: Duly) -> None:
    far = await app.enqueue("echo", run_at=datetime(2099, 3, 15, tzinfo=UTC))
    near = await app.enqueue("echo")
    assert [run.id for run in (await app.runs.list()).items] == [far.id, near.id]
