"""What surrounds attempts: the lifespan of the app, and its middleware."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duly import Duly, Fatal, Retry, RunContext, RunStatus, Snooze, WorkflowContext
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.run import Reason, Run
from duly.engine.middleware import CallNext
from tests.app import handlers
from tests.app.conftest import PATIENCE, MakeApp, until

ONCE = Retry(max_attempts=1)


async def run_one(app: Duly, job: str, payload: object = None) -> Run:
    return await app.runs.wait((await app.enqueue(job, payload or {})).id, timeout=PATIENCE)


async def test_a_lifespan_holds_what_handlers_need_from_before_the_first_to_after_the_last(make_app: MakeApp) -> None:
    told: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Duly) -> AsyncIterator[dict[str, str]]:
        told.append(f"begins, schedules: {len((await app.schedules.list()).items)}")
        yield {"pool": "open"}
        assert not (await app.runs.list(status="running")).items, "the worker has stopped"
        told.append("ends")

    app = make_app(lifespan=lifespan)

    @app.job("work")
    async def work(run: RunContext) -> str:
        told.append("works")
        return str(run.state["pool"])

    @app.job("thread")
    def thread(run: RunContext) -> str:
        return str(run.state["pool"])

    for _ in range(2):
        async with app:
            assert (await run_one(app, "work")).result == "open"
            assert (await run_one(app, "thread")).result == "open"
    assert told == ["begins, schedules: 0", "works", "ends"] * 2


async def test_without_a_lifespan_the_state_is_none(app: Duly) -> None:
    @app.job("work")
    async def work(run: RunContext) -> bool:
        return run.state is None

    async with app:
        assert (await run_one(app, "work")).result is True


async def test_a_lifespan_that_fails_says_so_and_leaves_the_app_closed(make_app: MakeApp) -> None:
    @asynccontextmanager
    async def broken(app: Duly) -> AsyncIterator[None]:
        raise OSError("no pool")
        yield

    app = make_app(lifespan=broken)
    with pytest.raises(OSError, match="no pool") as raised:
        await app.start()
    assert any("lifespan" in note for note in raised.value.__notes__)
    with pytest.raises(ConfigurationError, match="not open"):
        await app.schedules.list()


async def test_a_lifespan_that_fails_at_its_end_does_not_keep_the_app_from_closing(make_app: MakeApp) -> None:
    @asynccontextmanager
    async def broken(app: Duly) -> AsyncIterator[None]:
        yield
        raise OSError("no goodbye")

    app = make_app(lifespan=broken)
    with pytest.raises(OSError, match="no goodbye"):
        async with app:
            pass
    with pytest.raises(ConfigurationError, match="not open"):
        await app.schedules.list()


async def test_what_begins_after_the_lifespan_and_fails_ends_the_lifespan(make_app: MakeApp) -> None:
    told: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Duly) -> AsyncIterator[None]:
        try:
            yield
        finally:
            told.append("ended")

    app = make_app(lifespan=lifespan, schedules=[{"key": "bad", "timing": None, "job": "work"}])
    with pytest.raises(ValidationFailed, match="timing"):
        await app.start()
    assert told == ["ended"]


async def test_a_lifespan_of_the_wrong_kind_is_refused(make_app: MakeApp) -> None:
    async def generator(app: Duly) -> AsyncIterator[None]:
        yield

    for wrong, word in ((generator, "asynccontextmanager"), (lambda app: 5, "async context manager")):
        app: Any = make_app(lifespan=wrong)
        with pytest.raises(ConfigurationError, match=word):
            await app.start()


async def test_middleware_wraps_every_attempt_the_first_declared_outermost(app: Duly) -> None:
    told: list[str] = []

    @app.middleware
    async def outer(run: RunContext, call_next: CallNext) -> Any:
        told.append(f"outer {run.job} {run.attempt}")
        try:
            return await call_next(run)
        except ValueError as error:
            told.append(f"outer saw {error}")
            raise
        finally:
            told.append("outer out")

    @app.middleware
    async def inner(run: RunContext, call_next: CallNext) -> Any:
        told.append("inner")
        result = await call_next()
        return {"wrapped": result}

    @app.job("work", retry=Retry(max_attempts=2, delay=0.01, jitter=0))
    async def work(run: RunContext) -> int:
        if run.attempt == 1:
            raise ValueError("once")
        return run.attempt

    async with app:
        done = await run_one(app, "work")
    assert (done.status, done.result, done.attempt) == (RunStatus.COMPLETED, {"wrapped": 2}, 2)
    assert told == ["outer work 1", "inner", "outer saw once", "outer out", "outer work 2", "inner", "outer out"]


@pytest.mark.parametrize("mode", ["async", "thread", pytest.param("process", marks=pytest.mark.processes)])
async def test_middleware_wraps_every_kind_of_handler(app: Duly, mode: str) -> None:
    seen: list[Any] = []

    @app.middleware
    async def watch(run: RunContext, call_next: CallNext) -> Any:
        result = await call_next(run)
        seen.append(result)
        return result

    async def on_the_loop(a: int) -> dict[str, int]:
        return {"sum": a + 1}

    def in_a_thread(a: int) -> dict[str, int]:
        return {"sum": a + 1}

    function: Any = {"async": on_the_loop, "thread": in_a_thread, "process": handlers.add}[mode]
    app.job("add", process=mode == "process")(function)
    async with app:
        done = await run_one(app, "add", {"a": 41})
    assert done.result["sum"] == seen[0]["sum"] == 42


async def test_what_a_middleware_answers_or_raises_is_the_outcome(app: Duly) -> None:
    ran: list[str] = []

    @app.middleware
    async def decide(run: RunContext, call_next: CallNext) -> Any:
        match run.payload.get("what"):
            case "refuse":
                raise Fatal("not today")
            case "answer":
                return "instead"
            case "rescue":
                try:
                    return await call_next(run)
                except ZeroDivisionError:
                    return "rescued"
        return await call_next(run)

    @app.job("work", retry=ONCE)
    def work(what: str) -> Any:
        ran.append(what)
        return 1 / 0 if what == "rescue" else Snooze(seconds=0.01) if len(ran) < 3 else "done"

    async with app:
        refused = await run_one(app, "work", {"what": "refuse"})
        assert (refused.status, refused.reason) == (RunStatus.FAILED, Reason.FATAL)
        assert (await run_one(app, "work", {"what": "answer"})).result == "instead"
        assert ran == []
        assert (await run_one(app, "work", {"what": "rescue"})).result == "rescued"
        assert (await run_one(app, "work", {"what": "nap"})).result == "done"
    assert ran == ["rescue", "nap", "nap"]


async def test_a_middleware_that_hangs_is_timed_out_and_a_cancel_reaches_through_it(app: Duly) -> None:
    waiting = asyncio.Event()

    @app.middleware
    async def hang(run: RunContext, call_next: CallNext) -> Any:
        if run.job == "slow":
            await asyncio.sleep(600)
        return await call_next(run)

    @app.job("slow", timeout=0.1, retry=ONCE)
    def slow() -> None: ...

    @app.job("stopped", retry=ONCE)
    async def stopped(run: RunContext) -> None:
        waiting.set()
        await run.wait_cancelled()

    async with app:
        assert (await run_one(app, "slow")).reason == Reason.TIMEOUT
        run = await app.enqueue("stopped")
        await until(waiting.is_set)
        await app.runs.cancel(run.id)
        assert (await app.runs.wait(run.id, timeout=PATIENCE)).status is RunStatus.CANCELLED


async def test_a_wrong_middleware_is_refused_when_it_is_declared(app: Duly) -> None:
    def plain(run: RunContext, call_next: CallNext) -> Any: ...

    async def lonely(run: RunContext) -> Any: ...

    class Timer:
        async def __call__(self, run: RunContext, call_next: CallNext) -> Any:
            return await call_next(run)

    for wrong in (plain, lonely, 5):
        with pytest.raises(ConfigurationError, match="middleware"):
            app.middleware(wrong)  # type: ignore[type-var]
    app.middleware(Timer())
    app.job("work")(lambda: "ran")
    async with app:
        assert (await run_one(app, "work")).result == "ran"
        with pytest.raises(ConfigurationError, match="while the app runs"):
            app.middleware(Timer())


async def test_what_runs_in_a_thread_is_called_as_the_framework_around_wants_it(make_app: MakeApp) -> None:
    """Jobs and steps alike, each in the very thread that calls it."""
    app = make_app()
    told: list[str] = []

    def in_thread(call: Callable[[], Any]) -> Any:
        told.append(f"begins {threading.current_thread().name != 'MainThread'}")
        try:
            return call()
        finally:
            told.append("ends")

    app._registry.around.in_thread = in_thread

    @app.job("work")
    def work() -> int:
        told.append("works")
        return 1

    def step() -> int:
        told.append("steps")
        return 2

    @app.workflow("flow")
    async def flow(ctx: WorkflowContext, input: Any) -> Any:
        return await ctx.step("one", step)

    async with app:
        assert (await run_one(app, "work")).result == 1
        assert told == ["begins True", "works", "ends"]
        told.clear()
        started = await app.workflows.start("flow", None)
        assert (await app.runs.wait(started.id, timeout=PATIENCE)).result == 2
        assert told == ["begins True", "steps", "ends"]
