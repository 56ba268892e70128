"""The worker: it claims what it knows for free slots, and turns whatever a handler does into one outcome."""

import asyncio
from datetime import timedelta

import pytest

from duly import Cron, Every, RunContext
from duly.config import Settings
from duly.core.errors import ValidationFailed
from duly.core.instants import to_datetime
from duly.core.run import Reason, RunStatus
from duly.engine.registry import Registry
from tests.acceptance.rules import rule
from tests.engine.lab import Lab


async def test_a_run_is_claimed_at_once_and_its_result_is_kept(lab: Lab) -> None:
    seen: list[RunContext] = []

    @lab.job("work")
    async def work(run: RunContext, user: int):
        seen.append(run)
        return {"sum": user + 1, "list": [None, True, "ü"]}

    await lab.start()
    run = await lab.enqueue("work", {"user": 41})
    done = await lab.run(run.id)
    assert done.status is RunStatus.COMPLETED
    assert done.result == {"sum": 42, "list": [None, True, "ü"]}
    assert done.payload == {"user": 41}
    (context,) = seen
    assert (context.id, context.job, context.attempt, context.max_attempts) == (run.id, "work", 1, 3)
    assert (context.payload, context.cancelled, context.window_key) == ({"user": 41}, False, None)
    assert context.fence == done.fence >= 1
    assert context.scheduled_at == run.due_at


@rule("S1.20")
async def test_a_scheduled_run_knows_its_window(lab: Lab) -> None:
    seen: list[RunContext] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        seen.append(run)

    await lab.start(settings=Settings(poll=60, lease=180, heartbeat=60))
    schedule = await lab.create("nightly", Cron("0 2 * * *"), payload={"a": [1]}, jitter=(60_000, 60_000))
    await lab.clock.advance(hours=2, minutes=2)
    (context,) = seen
    two = to_datetime(lab.clock.now()) - timedelta(minutes=2)
    assert context.scheduled_at == two
    assert context.fired_at == two + timedelta(minutes=1), "the jitter moves the start, not the window"
    assert context.window_key == f"sched:nightly:{round(two.timestamp() * 1000)}"
    assert (context.schedule_key, context.schedule_id) == ("nightly", schedule.id)
    assert context.payload == {"a": [1]}


@rule("S0.4", "F10")
async def test_f10_any_json_payload_and_result_round_trips(lab: Lab) -> None:
    payloads = [0, False, "", None, {}, [], 0.5, "\x7f☃", 2**53 + 1, {"a": {"b": [1, {"c": None}]}}]
    seen: dict[str, object] = {}

    @lab.job("work")
    async def work(run: RunContext, payload):
        seen[run.id] = payload
        return payload

    await lab.start(settings=Settings(concurrency=50))
    runs = await lab.plain.enqueue([lab.request("work", payload) for payload in payloads])
    await lab.clock.advance(seconds=1)
    for run, payload in zip(runs, payloads, strict=True):
        assert seen[run.id] == payload
        assert type(seen[run.id]) is type(payload)
        done = await lab.run(run.id)
        assert done.status is RunStatus.COMPLETED
        assert done.result == done.payload == payload
        assert type(done.result) is type(payload)


async def test_no_more_runs_than_slots_are_in_hand_and_all_get_their_turn(lab: Lab) -> None:
    lab.settings = Settings(concurrency=4)
    running = most = 0
    order: list[int] = []

    @lab.job("work")
    async def work(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(number)
        await lab.nap(10)
        running -= 1

    instance = await lab.start()
    runs = []
    for number in range(20):
        runs.append(await lab.enqueue("work", {"number": number}))
        await lab.clock.advance(milliseconds=1)
    await lab.clock.advance(seconds=9)
    assert instance.active == 4
    held = [run for run in await lab.runs() if run.status is RunStatus.RUNNING]
    assert len(held) == 4, "what it cannot run now it leaves to others"
    await lab.clock.advance(seconds=45)
    assert most == 4
    assert order == list(range(20)), "oldest first"
    assert {(await lab.run(run.id)).status for run in runs} == {RunStatus.COMPLETED}


async def test_long_handlers_leave_the_other_slots_to_others(lab: Lab) -> None:
    """More than half of the slots are busy for hours; the rest must still be used within a poll."""
    lab.settings = Settings(concurrency=3)

    @lab.job("long")
    async def long() -> None:
        await lab.nap(36_000)

    @lab.job("short")
    async def short() -> None: ...

    await lab.start()
    for _ in range(2):
        await lab.enqueue("long")
    await lab.clock.advance(seconds=5)
    for _ in range(3):
        short_run = await lab.enqueue("short")
        await lab.clock.advance(seconds=2)
        assert (await lab.run(short_run.id)).status is RunStatus.COMPLETED


@rule("E9")
async def test_e9_a_worker_leaves_a_job_it_does_not_know_to_one_that_does(lab: Lab) -> None:
    old, new = Registry(), Registry()
    by: list[str] = []

    @lab.job("known", into=old)
    async def known() -> None:
        by.append("old")

    @lab.job("fresh", into=new)
    async def fresh() -> None:
        by.append("new")

    await lab.start(registry=old)
    fresh_run = await lab.enqueue("fresh")
    known_run = await lab.enqueue("known")
    await lab.clock.advance(minutes=2)
    assert by == ["old"]
    waiting = await lab.run(fresh_run.id)
    assert (waiting.status, waiting.attempt) == (RunStatus.PENDING, 0), "neither killed nor spent"
    assert (await lab.run(known_run.id)).status is RunStatus.COMPLETED
    assert ((("fresh", 1),),) in [(tuple(jobs),) for (jobs,) in lab.recorder.all("jobs_unknown")], "and reported"
    await lab.start(registry=new)
    await lab.clock.advance(seconds=2)
    assert by == ["old", "new"]
    assert (await lab.run(fresh_run.id)).status is RunStatus.COMPLETED


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Leaving(Exception):
    def __str__(self) -> str:
        raise SystemExit("a script that became a job")


class Panic(BaseException):
    """Native extensions and green threads raise such."""


RAISED: list[tuple[BaseException, str]] = [
    (ValueError("a\x00b"), "ValueError: a\\x00b"),
    (ValueError("no file " + b"caf\xe9".decode("utf-8", "surrogateescape")), "ValueError: no file caf\\udce9"),
    (ValueError("x" * 10_000), "xxx..."),
    (Wordless(), "Wordless: (its text cannot be read: RuntimeError)"),
    (Leaving(), "Leaving: (its text cannot be read: SystemExit)"),
    (SystemExit(3), "SystemExit: 3"),
    (GeneratorExit(), "GeneratorExit"),
    (asyncio.CancelledError("a task it waited for"), "CancelledError: a task it waited for"),
    (TimeoutError("its own"), "TimeoutError: its own"),
    (
        ExceptionGroup("several", [ValueError("one"), KeyError()]),
        "ExceptionGroup: several (2 sub-exceptions): ValueError: one; KeyError",
    ),
    (Panic("the extension panicked"), "Panic: the extension panicked"),
    (StopAsyncIteration("own"), "StopAsyncIteration: own"),
]


async def test_whatever_a_handler_raises_is_a_failed_attempt_and_hurts_nobody_else(lab: Lab) -> None:
    @lab.job("bad")
    async def bad(number: int) -> None:
        raise RAISED[number][0]

    @lab.job("good")
    async def good() -> None: ...

    await lab.start(settings=Settings(concurrency=50))
    bad_runs = [await lab.enqueue("bad", {"number": number}, max_attempts=2) for number in range(len(RAISED))]
    good_run = await lab.enqueue("good")
    await lab.clock.advance(seconds=30)
    for run, (_, text) in zip(bad_runs, RAISED, strict=True):
        done = await lab.run(run.id)
        assert (done.status, done.attempt) == (RunStatus.FAILED, 2), text
        assert text in (done.error_message or "")
        assert len(done.error_message or "") <= 4096
    assert (await lab.run(good_run.id)).status is RunStatus.COMPLETED
    assert lab.recorder.count("attempt_started") == 2 * len(RAISED) + 1


async def test_a_handler_that_cancels_its_own_task_has_failed(lab: Lab) -> None:
    """Given back untried it would be called for ever, and never be counted."""

    @lab.job("at_once")
    async def at_once() -> None:
        _own_task().cancel("of my own")
        await lab.nap(1)

    @lab.job("later")
    async def later() -> None:
        asyncio.get_running_loop().call_soon(_own_task().cancel)
        await lab.nap(1)

    @lab.job("returns")
    async def returns() -> str:
        _own_task().cancel()
        return "and is done"

    await lab.start()
    runs = [await lab.enqueue(job, max_attempts=2) for job in ("at_once", "later", "returns")]
    await lab.clock.advance(seconds=30)
    ends = [await lab.run(run.id) for run in runs]
    assert [(end.status, end.attempt, end.error_message) for end in ends] == [
        (RunStatus.FAILED, 2, "CancelledError: of my own"),
        (RunStatus.FAILED, 2, "CancelledError"),
        (RunStatus.COMPLETED, 1, None),
    ]


async def test_a_run_whose_task_ends_with_the_loop_is_given_back_untried(lab: Lab) -> None:
    """``asyncio.run`` cancels all that is left when its main task is over."""

    @lab.job("work")
    async def work() -> None:
        await lab.nap(1000)

    instance = await lab.start()
    run = await lab.enqueue("work")
    tasks = [*instance._tasks, instance._worker._active[run.id].task]
    for task in tasks:
        assert task is not None
        task.cancel()
    await lab.clock.settle()
    ended = await lab.run(run.id)
    assert (ended.status, ended.attempt) == (RunStatus.PENDING, 0)


def _own_task() -> asyncio.Task[None]:
    task = asyncio.current_task()
    assert task is not None
    return task


def _loop() -> list:
    me: list = []
    me.append(me)
    return me


async def test_a_result_that_cannot_be_kept_fails_the_run_for_good(lab: Lab) -> None:
    table = [
        (object(), "not JSON"),
        (b"\xff" * 300_000, "bytes"),
        ("x" * 300_000, "300002 bytes"),
        (_loop(), "not JSON"),
        ("\ud800", "not JSON"),
    ]

    @lab.job("work")
    async def work(number: int):
        return table[number][0]

    await lab.start()
    runs = [await lab.enqueue("work", {"number": number}) for number in range(len(table))]
    await lab.clock.advance(seconds=30)
    for run, (_, text) in zip(runs, table, strict=True):
        done = await lab.run(run.id)
        assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.FATAL, 1), text
        assert text in (done.error_message or "")


@rule("G4")
async def test_a_payload_that_does_not_fit_the_signature_is_refused_at_enqueue(lab: Lab) -> None:
    @lab.job("work")
    async def work(user: int, name: str = "x", *, run: RunContext) -> None: ...

    table = [
        ({}, "lacks 'user'"),
        ({"user": "4"}, "'user' = '4'"),
        ({"user": 4, "nmae": "y"}, "unknown 'nmae'"),
        ({"user": None}, "'user' = None"),
        ({"user": 1, "name": 5}, "'name' = 5"),
        ([4], "expected an object"),
    ]
    for payload, text in table:
        with pytest.raises(ValidationFailed, match=text):
            await lab.enqueue("work", payload)
        with pytest.raises(ValidationFailed, match=text):
            await lab.create("k", Every(minutes=1), payload=payload)
    assert await lab.runs() == []
    assert await lab.plain.get_schedule("k") is None
    assert (await lab.enqueue("work", {"user": 4})).status is RunStatus.PENDING


async def test_what_takes_any_keys_takes_nothing_but_keys(lab: Lab) -> None:
    @lab.job("work")
    async def work(**rest: object) -> None: ...

    with pytest.raises(ValidationFailed, match="expected an object"):
        await lab.enqueue("work", [4])
    assert (await lab.enqueue("work", {"a": 4})).status is RunStatus.PENDING


async def test_a_stored_payload_that_no_longer_fits_fails_at_once_without_retries(lab: Lab) -> None:
    """The code changed between the enqueue and the run: another try would change nothing."""

    @lab.job("work")
    async def work(user: int) -> None: ...

    old = Registry()

    @lab.job("work", into=old)
    async def work_before(payload: object) -> None: ...

    registry, lab.registry = lab.registry, old
    run = await lab.enqueue("work", {"account": 4})
    lab.registry = registry
    await lab.start()
    await lab.clock.advance(seconds=10)
    done = await lab.run(run.id)
    assert (done.status, done.reason, done.attempt) == (RunStatus.FAILED, Reason.FATAL, 1)
    assert "'account'" in (done.error_message or "")


async def test_a_run_in_the_future_starts_at_its_instant_without_a_poll(lab: Lab) -> None:
    starts: list[int] = []

    @lab.job("work")
    async def work() -> None:
        starts.append(lab.clock.now())

    lab.settings = Settings(poll=600, lease=1800, heartbeat=600)
    await lab.start()
    at = lab.clock.now() + 12_345
    await lab.enqueue("work", run_at=to_datetime(at))
    await lab.clock.advance(minutes=5)
    assert starts == [at]


async def test_higher_priority_goes_first(lab: Lab) -> None:
    order: list[int] = []

    @lab.job("work")
    async def work(number: int) -> None:
        order.append(number)

    for number, priority in enumerate([0, 5, -3, 5, 9]):
        await lab.enqueue("work", {"number": number}, priority=priority)
        await lab.clock.advance(milliseconds=1)
    await lab.start(settings=Settings(concurrency=1))
    await lab.clock.advance(seconds=10)
    assert order == [4, 1, 3, 0, 2]


@rule("E8")
async def test_e8_an_observer_that_raises_changes_no_run(lab: Lab) -> None:
    def fail(*values: object) -> None:
        raise RuntimeError("the exporter is down")

    for method in ("attempt_started", "attempt_ended", "runs_ended", "windows_fired"):
        setattr(lab.recorder, method, fail)

    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    schedule = await lab.create("k", Every(seconds=10))
    await lab.clock.advance(seconds=30)
    assert [run.status for run in await lab.runs(schedule)] == [RunStatus.COMPLETED] * 3


async def test_work_goes_on_as_soon_as_ends_that_piled_up_are_written(lab: Lab) -> None:
    done: list[str] = []

    @lab.job("work")
    async def work(run: RunContext) -> None:
        done.append(run.id)

    opened = lab.store.gate("settle")
    await lab.start(settings=Settings(concurrency=2, poll=600, heartbeat=600, lease=1800))
    asked = await lab.store.enqueue([lab.request("work", {}) for _ in range(30)])
    await lab.clock.advance(seconds=601)  # the poll: nobody was told of the runs
    piled_up = len(done)
    assert 4 < piled_up < 30, "it stopped, because the store took no ends"
    opened.set()
    await lab.clock.advance(seconds=1)
    assert len(done) == len(asked), "and went on without waiting for the next poll"
