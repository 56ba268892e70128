"""Handlers on the loop, in threads and in processes, on the real clock: timeouts, cancels, stops."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duly import Duly, Retry, RunContext, RunStatus, Snooze
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.run import Reason, Run
from duly.store.values import Beat
from tests.acceptance.rules import rule
from tests.app import handlers
from tests.app.conftest import PATIENCE, QUICK, MakeApp, until
from tests.store_choice import postgres_too

ONCE = Retry(max_attempts=1)
AGAIN = Retry(max_attempts=2, delay=0.05, jitter=0)


async def run_one(app: Duly, job: str, payload: object = None) -> Run:
    run = await app.enqueue(job, {} if payload is None else payload)
    return await app.runs.wait(run.id, timeout=PATIENCE)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_plain_function_runs_in_a_thread_and_blocks_nobody(app: Duly) -> None:
    names: list[str] = []
    gate = threading.Event()

    @app.job("blocking")
    def blocking() -> str:
        names.append(threading.current_thread().name)
        return "waited" if gate.wait(PATIENCE) else "nobody came"

    @app.job("quick")
    async def quick() -> None: ...

    async with app:
        slow = await app.enqueue("blocking")
        await until(lambda: names)
        assert (await run_one(app, "quick")).status is RunStatus.COMPLETED, "while the other one blocks its thread"
        gate.set()
        assert (await app.runs.wait(slow.id, timeout=PATIENCE)).result == "waited"
    assert names == ["duly-handler"]


async def test_no_more_handlers_run_in_threads_than_there_are_threads(make_app: MakeApp) -> None:
    app = make_app(settings=replace(QUICK, threads=2))
    both_run = threading.Barrier(2, timeout=PATIENCE)
    running: list[int] = []
    seen: list[int] = []

    @app.job("pair")
    def pair(number: int) -> None:
        running.append(number)
        both_run.wait()  # two at once, or nobody gets past this
        seen.append(len(running))
        both_run.wait()
        running.remove(number)

    async with app:
        runs = await app.runs.enqueue_many("pair", [{"number": number} for number in range(8)])
        ended = [await app.runs.wait(run.id, timeout=PATIENCE) for run in runs]
    assert [run.status for run in ended] == [RunStatus.COMPLETED] * 8
    assert seen == [2] * 8


async def test_a_run_waits_in_the_store_for_a_thread_where_another_worker_could_take_it(make_app: MakeApp) -> None:
    app = make_app(settings=replace(QUICK, threads=1))
    begun: list[int] = []
    gate = threading.Event()

    @app.job("work")
    def work(number: int) -> None:
        begun.append(number)
        gate.wait(PATIENCE)

    @app.job("other")
    async def other() -> None: ...

    async with app:
        first = await app.enqueue("work", {"number": 1})
        await until(lambda: begun == [1])
        second = await app.enqueue("work", {"number": 2})
        third = await app.enqueue("other", {})
        await app.runs.wait(third.id, timeout=PATIENCE)  # the loop has room: async handlers do not wait for threads
        assert app._instance is not None
        assert app._instance.active == 1
        await app.stop(grace=0)
        gate.set()
    assert begun == [1]
    async with make_app(roles=()) as look:
        found = [await look.runs.get(run.id) for run in (first, second)]
    assert [run and run.status for run in found] == [RunStatus.PENDING] * 2


@rule("F5")
@pytest.mark.parametrize("mode", ["async", "thread", pytest.param("process", marks=pytest.mark.processes)])
async def test_f5_a_handler_over_its_timeout_is_stopped_and_counted_in_every_mode(
    app: Duly, mode: str, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    told: list[bool] = []

    async def on_the_loop(path: str) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            told.append(True)
            raise

    def in_a_thread(run: RunContext, path: str) -> None:
        told.append(run.sync_wait_cancelled(PATIENCE))

    timeout = 3 if mode == "process" else 0.2  # a new process takes its time to come up on a busy machine
    function: Any = {"async": on_the_loop, "thread": in_a_thread, "process": handlers.stay}[mode]
    app.job("slow", timeout=timeout, retry=AGAIN if mode != "process" else ONCE, process=mode == "process")(function)
    async with app:
        done = await run_one(app, "slow", {"path": str(note)})
    assert (done.status, done.reason) == (RunStatus.FAILED, Reason.TIMEOUT)
    assert f"timeout of {timeout:g} s" in (done.error_message or "")
    if mode == "process":
        await until(lambda: not note.exists() or not alive(int(note.read_text())))  # or killed before it came up
    else:
        assert done.attempt == 2
        await until(lambda: told == [True, True])


async def test_a_thread_that_never_returns_keeps_neither_its_slot_nor_the_process(make_app: MakeApp) -> None:
    app = make_app(settings=replace(QUICK, threads=1))
    gate = threading.Event()
    returned: list[bool] = []

    @app.job("stuck", timeout=0.1, retry=ONCE)
    def stuck() -> None:
        returned.append(gate.wait(PATIENCE))

    @app.job("next")
    def following() -> str:
        return "ran"

    async with app:
        assert (await run_one(app, "stuck")).reason == Reason.TIMEOUT
        assert (await run_one(app, "next")).result == "ran"
        await app.stop()
        assert returned == [], "the stop did not wait for the thread, which is still in its handler"
    gate.set()


@pytest.mark.processes
async def test_a_process_handler_answers_with_its_value_and_its_context(app: Duly) -> None:
    app.job("add", process=True)(handlers.add)
    async with app:
        done = await run_one(app, "add", {"a": 41})
    assert done.status is RunStatus.COMPLETED
    assert done.result["sum"] == 42
    assert done.result["pid"] != os.getpid()
    assert (done.result["id"], done.result["attempt"]) == (done.id, 1)


@pytest.mark.processes
async def test_e5_whatever_a_process_handler_does_to_itself_is_a_failed_attempt(app: Duly) -> None:
    app.job("fail", process=True, retry=ONCE)(handlers.fail)
    table = {
        "error": "ValueError: in its own words",
        "fatal": "Fatal: never again",
        "exit": "exit code 7",
        "kill": "exit code -9",
        "sys": "SystemExit: 4",
        "pickle": "lambda",
        "await": "Fatal: the handler's result is a coroutine that nobody awaits here; a process runs plain functions",
    }
    async with app:
        runs = {kind: await app.enqueue("fail", {"kind": kind}) for kind in table}
        for kind, text in table.items():
            done = await app.runs.wait(runs[kind].id, timeout=PATIENCE)
            assert done.status is RunStatus.FAILED, kind
            assert text in (done.error_message or ""), kind
            assert (done.reason == Reason.FATAL) is (kind in ("fatal", "await"))


@pytest.mark.processes
async def test_a_process_handler_may_snooze(app: Duly, tmp_path: Path) -> None:
    app.job("nap", process=True, retry=ONCE)(handlers.snooze_once)
    async with app:
        done = await run_one(app, "nap", {"path": str(tmp_path / "been")})
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, "rested", 1)


@pytest.mark.parametrize("how", ["fail", "snooze"])
async def test_what_is_back_before_the_next_poll_is_not_kept_waiting_for_it(make_app: MakeApp, how: str) -> None:
    app = make_app(settings=replace(QUICK, poll=3600))
    tries: list[int] = []

    @app.job("again", retry=Retry(max_attempts=3, delay=0.05, backoff="fixed"))
    async def again() -> Snooze | None:
        tries.append(1)
        if len(tries) == 3:
            return None
        if how == "fail":
            raise ValueError("not yet")
        return Snooze(seconds=0.05)

    async with app:
        assert (await run_one(app, "again")).status is RunStatus.COMPLETED
    assert len(tries) == 3


@pytest.mark.processes
async def test_signals_to_the_whole_group_do_not_end_a_process_handler(app: Duly, tmp_path: Path) -> None:
    """Ctrl-C and systemd tell every process of the group: the worker decides, and no attempt is spent on it."""
    note, gate = tmp_path / "pid", tmp_path / "gate"
    os.mkfifo(gate)
    opened = os.open(gate, os.O_RDWR)  # both ways, so that it waits for no reader: there is none if the handler died
    app.job("hear", process=True, retry=ONCE)(handlers.hear_signals)
    async with app:
        run = await app.enqueue("hear", {"path": str(note), "gate": str(gate)})
        pid = int(await until(lambda: note.exists() and note.read_text()))
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(pid, number)
        os.write(opened, b"go on\n")
        done = await app.runs.wait(run.id, timeout=PATIENCE)
    os.close(opened)
    assert (done.status, done.result) == (RunStatus.COMPLETED, {"child": -signal.SIGTERM})


def test_a_function_that_no_other_process_can_find_is_refused_when_it_is_registered(app: Duly) -> None:
    def local() -> None: ...

    for function in (local, lambda: None):
        with pytest.raises(ConfigurationError, match="top level"):
            app.job("x", process=True)(function)

    async def coroutine() -> None: ...

    with pytest.raises(ConfigurationError, match="async"):
        app.job("x", process=True)(coroutine)


@rule("S1.20", "I10")
@pytest.mark.parametrize("mode", ["async", "thread", pytest.param("process", marks=pytest.mark.processes)])
async def test_a_cancel_reaches_the_handler_in_every_mode(app: Duly, mode: str, tmp_path: Path) -> None:
    """Also on the last attempt: a run that was told to stop is cancelled, not failed."""
    note = tmp_path / "pid"
    seen: list[str] = []

    async def on_the_loop(run: RunContext, path: str) -> None:
        note.write_text("0")
        await run.wait_cancelled()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            seen.append(f"woken, then CancelledError, cancelled={run.cancelled}")
            raise

    def in_a_thread(run: RunContext, path: str) -> str:
        assert not run.cancelled
        assert run.sync_wait_cancelled(0.01) is False
        Path(path).write_text("0")
        seen.append(f"woken={run.sync_wait_cancelled(PATIENCE)}, cancelled={run.cancelled}")
        return "a late success"

    function: Any = {"async": on_the_loop, "thread": in_a_thread, "process": handlers.stay}[mode]
    app.job("work", retry=ONCE, process=mode == "process")(function)
    async with app:
        run = await app.enqueue("work", {"path": str(note)})
        await until(lambda: note.exists() and note.read_text())
        asked = await app.runs.cancel(run.id)
        assert asked.cancel_requested or asked.status is RunStatus.CANCELLED
        done = await app.runs.wait(run.id, timeout=PATIENCE)
    assert (done.status, done.reason, done.result) == (RunStatus.CANCELLED, Reason.CANCEL_REQUESTED, None)
    if mode == "process":
        await until(lambda: not alive(int(note.read_text())))
    else:
        assert seen == [
            {"async": "woken, then CancelledError, cancelled=True", "thread": "woken=True, cancelled=True"}[mode]
        ]


async def test_a_handler_that_waits_for_a_cancel_besides_other_things_goes_on_when_it_comes(app: Duly) -> None:
    begun = asyncio.Event()
    seen: list[str] = []

    @app.job("work", retry=ONCE)
    async def work(run: RunContext) -> str:
        told, busy = asyncio.create_task(run.wait_cancelled()), asyncio.create_task(asyncio.sleep(600))
        begun.set()
        done, _ = await asyncio.wait([told, busy], return_when=asyncio.FIRST_COMPLETED)
        assert done == {told}
        busy.cancel()
        seen.append("cleaned up")
        return "a late success"

    async with app:
        run = await app.enqueue("work")
        await begun.wait()
        await app.runs.cancel(run.id)
        done = await app.runs.wait(run.id, timeout=PATIENCE)
    assert (done.status, done.reason, done.result) == (RunStatus.CANCELLED, Reason.CANCEL_REQUESTED, None)
    assert seen == ["cleaned up"]


async def test_a_handler_that_ends_because_its_instance_stops_is_given_back_and_not_completed(
    make_app: MakeApp,
) -> None:
    app, begun = make_app(), asyncio.Event()

    @app.job("work", retry=ONCE)
    async def work(run: RunContext) -> str:
        begun.set()
        await run.wait_cancelled()
        return "not what was asked for"

    async with app:
        run = await app.enqueue("work")
        await begun.wait()
        await app.stop(grace=0)
    async with make_app(roles=()) as other:
        found = await other.runs.get(run.id)
    assert found is not None
    assert (found.status, found.attempt) == (RunStatus.PENDING, 0)


@pytest.mark.parametrize("mode", ["async", "thread", pytest.param("process", marks=pytest.mark.processes)])
async def test_e7_a_stop_without_grace_gives_back_what_runs_in_every_mode(
    make_app: MakeApp, mode: str, tmp_path: Path
) -> None:
    app, note = make_app(), tmp_path / "pid"
    gate = threading.Event()

    async def on_the_loop(path: str) -> None:
        note.write_text("0")
        await asyncio.sleep(600)

    def in_a_thread(path: str) -> None:
        Path(path).write_text("0")
        gate.wait(10 * PATIENCE)

    function: Any = {"async": on_the_loop, "thread": in_a_thread, "process": handlers.stay}[mode]
    app.job("work", retry=ONCE, process=mode == "process")(function)
    async with app:
        run = await app.enqueue("work", {"path": str(note)})
        await until(lambda: note.exists() and note.read_text())
        await asyncio.wait_for(app.stop(grace=0), PATIENCE)  # none of the handlers would have ended by then
    gate.set()
    if mode == "process":
        await until(lambda: not alive(int(note.read_text())))
    async with make_app(roles=()) as look:
        found = await look.runs.get(run.id)
    assert found is not None
    assert (found.status, found.attempt) == (RunStatus.PENDING, 0)


@postgres_too("the heartbeat has a connection of its own")
async def test_f09_a_handler_that_blocks_the_loop_for_a_moment_keeps_the_lease(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heartbeat is a thread of its own: it beats while the loop stands still, for less than half a lease."""
    app = make_app(settings=replace(QUICK, lease=2 * PATIENCE, heartbeat=0.05))
    kept, beaten = app._store.beat_sync, threading.Semaphore(0)

    def beat(session: int, **options: Any) -> Beat:
        answer = kept(session, **options)
        beaten.release()
        return answer

    monkeypatch.setattr(app._store, "beat_sync", beat)

    @app.job("block", retry=ONCE)
    async def block() -> list[bool]:
        while beaten.acquire(blocking=False):
            pass  # only beats from now on count, while nothing else of the loop turns
        return [beaten.acquire(timeout=PATIENCE / 3) for _ in range(3)]

    async with app, make_app(roles=("scheduler",)):
        done = await run_one(app, "block")
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, [True] * 3, 1)


async def test_a_number_that_json_does_not_have_fails_the_run_instead_of_becoming_null(app: Duly) -> None:
    @app.job("nan")
    async def nan() -> dict[str, Any]:
        return {"a": [1.0, None, float("nan")]}

    @app.job("none")
    async def none() -> list[None]:
        return [None]

    async with app:
        run = await app.runs.wait((await app.enqueue("nan")).id, timeout=PATIENCE)
        assert (run.status, run.result) == ("failed", None)
        assert "NaN or infinity" in (run.error_message or "")
        assert (await app.runs.wait((await app.enqueue("none")).id, timeout=PATIENCE)).result == [None]


async def test_a_failure_is_logged_with_where_it_happened(app: Duly, caplog: pytest.LogCaptureFixture) -> None:
    def deep() -> None:
        raise KeyError("missing")

    @app.job("broken", retry=Retry(max_attempts=2, delay=0.01, jitter=0))
    async def broken() -> None:
        deep()

    async with app:
        await app.runs.wait((await app.enqueue("broken")).id, timeout=PATIENCE)
    told = [record for record in caplog.records if "attempt" in record.getMessage()]
    assert [record.levelname for record in told] == ["WARNING", "ERROR"]
    assert "in deep" in caplog.text


def test_a_generator_or_a_name_without_letters_is_refused_when_it_is_declared(app: Duly) -> None:
    with pytest.raises(ConfigurationError, match="a generator"):

        @app.job("g")
        def numbers() -> Iterator[int]:
            yield 1

    with pytest.raises(ValidationFailed, match="job name is ''"):
        app.job("")
