"""One instance for the fault matrix: the jobs that fail in the ways the rows ask for, and points to die or freeze at.

Like ``tests.processes.instance``, whose plan and notes it shares. A point is ``before NAME`` or ``after NAME`` of a
transaction: before means that everything is written and nothing committed, after that nobody has heard of the commit.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import duly
from duly import Duly, Retry, RunContext
from duly.core.errors import OutcomeUnknown, StoreUnavailable
from duly.core.run import Claim
from duly.runtime.events import Observer
from duly.store.statements import Program, T, Transaction
from tests.processes.instance import PLAN, make_app, note, note_run

PATIENT = Retry(max_attempts=50, backoff="fixed", delay=0.2, jitter=0.5)


class Taking(Observer):
    """Tells when an attempt is taken up: its handler begins a little later, or much later in a process that freezes."""

    def attempt_started(self, claim: Claim) -> None:
        note("taken", run=claim.id, fence=claim.fence)


def gather(run_id: str) -> str:
    return _token(run_id, "gather", None)


def refine(run_id: str, seen: str) -> str:
    return _token(run_id, "refine", seen)


def send(run_id: str, seen: str) -> str:
    return _token(run_id, "send", seen)


def _token(run_id: str, step: str, seen: str | None) -> str:
    """Another value every time a step is really done: whoever replays must see the recorded one."""
    token = os.urandom(6).hex()
    note("step", run=run_id, step=step, seen=seen, token=token)
    return token


def child(run: RunContext, how: str) -> str:
    """Run in a process of its own; its first attempt dies as it was told to."""
    note_run("start", run)
    if run.attempt == 1:
        if how == "segv":
            ctypes.string_at(0)
        elif how == "exit":
            os._exit(9)
        os.kill(os.getpid(), signal.SIGKILL)
    note_run("end", run)
    return f"fence {run.fence}"


def add_jobs(app: Duly) -> None:
    @app.workflow("flow", version="1")
    async def flow(ctx: duly.WorkflowContext, input: Any) -> list[str]:
        first = await ctx.step("gather", gather, ctx.id, retry=PATIENT)
        second = await ctx.step("refine", refine, ctx.id, first, retry=PATIENT)
        third = await ctx.step("send", send, ctx.id, second, retry=PATIENT)
        return [first, second, third]

    @app.job("block", retry=PATIENT)
    async def block(run: RunContext, seconds: float) -> str:
        note_run("start", run)
        time.sleep(seconds)  # noqa: ASYNC251 - this is the fault: nothing else of the instance turns
        note_run("end", run)
        return f"fence {run.fence}"

    @app.job("slog", retry=PATIENT)
    def slog(run: RunContext, seconds: float) -> str:
        """A plain function in a thread: nobody can stop it, so it comes to its end whoever has its run by then."""
        note_run("start", run)
        threading.Event().wait(seconds)
        note_run("end", run)
        return f"fence {run.fence}"

    @app.job("hog", retry=Retry(max_attempts=2, backoff="fixed", delay=0.2))
    async def hog(run: RunContext, megabytes: int) -> None:
        note_run("start", run)
        kept = [bytearray(os.urandom(2**20)) for _ in range(megabytes)]
        note("survived", run=run.id, megabytes=len(kept))

    @app.job("hoard", retry=PATIENT)
    async def hoard(run: RunContext, seconds: float) -> str:
        note_run("start", run)
        held = []
        with suppress(OSError):
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        await asyncio.sleep(seconds)
        for descriptor in held:
            os.close(descriptor)
        note("hoarded", run=run.id, count=len(held))
        return f"fence {run.fence}"

    @app.job("dependent", retry=Retry(max_attempts=50, backoff="exponential", delay=0.5, max_delay=4, jitter=1))
    async def dependent(run: RunContext, switch: str) -> str:
        note_run("start", run)
        if not _is_there(switch):
            raise RuntimeError("the dependency is down")
        note_run("end", run)
        return f"fence {run.fence}"

    app.job("child", process=True, retry=PATIENT)(child)


def _is_there(path: str) -> bool:
    return os.path.exists(path)


def name_of(transaction: Any) -> str:
    """What a transaction does, by the name of its program."""
    while not hasattr(transaction, "__name__"):
        transaction = (
            getattr(transaction, "_transaction", None) or getattr(transaction, "func", None) or type(transaction)
        )
    return str(transaction.__name__)


def lie_in_wait(app: Duly, point: str, how: str) -> None:
    """Die or freeze at a point of a transaction that does something."""
    when, _, wanted = point.partition(" ")
    driver: Any = app._store.driver
    write = driver.write

    async def call(transaction: Transaction[T], **options: Any) -> T:
        if name_of(transaction) != wanted:
            return await write(transaction, **options)  # type: ignore[no-any-return]
        if when == "after":
            answer: T = await write(transaction, **options)
            _strike(point, how, answer)
            return answer

        def stopped(now: int) -> Program[T]:
            answer = yield from transaction(now)
            _strike(point, how, answer)
            return answer

        return await write(stopped, **options)  # type: ignore[no-any-return]

    driver.write = call


_struck: list[str] = []


def _strike(point: str, how: str, answer: Any) -> None:
    if _struck or not _did_something(answer):
        return
    _struck.append(point)
    note("failpoint", point=point)
    os.kill(os.getpid(), signal.SIGSTOP if how == "stop" else signal.SIGKILL)


def _did_something(answer: Any) -> bool:
    telling = ("runs", "claims", "ended", "sessions")
    known = [getattr(answer, name) for name in telling if hasattr(answer, name)]
    return any(known) if known else bool(answer)


def fail_at_random(app: Duly, share: float) -> None:
    """Let a share of all transactions fail before they begin, or be done without anybody knowing."""
    driver: Any = app._store.driver
    chance = random.Random(PLAN["name"])

    def failing(call: Callable[..., Any]) -> Callable[..., Any]:
        async def run(transaction: Any, **options: Any) -> Any:
            if chance.random() < share:
                raise StoreUnavailable("the row says so: nothing was done")
            answer = await call(transaction, **options)
            if chance.random() < share:
                raise OutcomeUnknown("the row says so: it was done, the answer was lost")
            return answer

        return run

    driver.write, driver.read = failing(driver.write), failing(driver.read)


_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)  # a driver that was killed leaves nobody behind
    app = make_app()
    app._observers.add(Taking())
    add_jobs(app)
    if PLAN.get("point"):
        lie_in_wait(app, PLAN["point"], PLAN.get("how", "kill"))
    if PLAN.get("errors"):
        fail_at_random(app, PLAN["errors"])
    note("up")
    app.run()
    note("down")
