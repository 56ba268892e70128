"""One instance of duly in a process of its own, for tests that kill it.

It reads what it should be from DULY_INSTANCE (JSON), and its handlers write to a ledger: one line for each thing that
happened, appended with one write, outside the store. A failpoint kills the process at a named place.
"""

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from duly import Duly, Retry, RunContext, Settings
from duly.engine.worker import Worker
from duly.runtime.events import Observer

PLAN: dict[str, Any] = json.loads(os.environ.get("DULY_INSTANCE", "{}"))


def note(event: str, **values: Any) -> None:
    line = json.dumps({"event": event, "instance": PLAN["name"], "pid": os.getpid(), "at": time.time(), **values})
    if PLAN.get("ledger_process"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
            way.sendto(line.encode(), PLAN["ledger_process"])
        return
    ledger = os.open(PLAN["ledger"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, line.encode() + b"\n")
    os.close(ledger)


def note_run(event: str, run: RunContext) -> None:
    note(event, run=run.id, window=run.window_key, attempt=run.attempt, fence=run.fence)


class Witness(Observer):
    def settlements_lost(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            note("late", run=run_id)

    def session_lost(self, session: int) -> None:
        note("session lost", session=session)

    def clock_jumped(self, by_ms: int) -> None:
        note("clock jumped", by_ms=by_ms)

    def leadership_gained(self, name: str, term: int) -> None:
        note("gained", term=term)

    def leadership_lost(self, name: str, term: int) -> None:
        note("lost", term=term)

    def loop_failed(self, name: str, error: Exception) -> None:
        note("failed", loop=name, error=f"{type(error).__name__}: {error}")


def make_app() -> Duly:
    app = Duly(
        PLAN["url"],
        name=PLAN["name"],
        roles=PLAN.get("roles", ["scheduler", "worker"]),
        settings=Settings(**PLAN["settings"]),
        observers=[Witness()],
        targets=PLAN.get("targets"),
    )

    @app.job("tick")
    async def tick(run: RunContext) -> None:
        note_run("start", run)
        note_run("end", run)

    @app.job("nap")
    async def nap(run: RunContext, seconds: float, first: float | None = None) -> str:
        """``first`` is how long the first attempt takes, where that is another time."""
        note_run("start", run)
        try:
            await asyncio.sleep(first if first is not None and run.attempt == 1 else seconds)
        except asyncio.CancelledError:
            note_run("stopped", run)
            raise
        note_run("end", run)
        return f"fence {run.fence}"

    @app.job("deaf")
    async def deaf(run: RunContext) -> None:
        note_run("start", run)
        while True:
            with suppress(BaseException):
                await asyncio.sleep(0.05)

    @app.job("lodge")
    async def lodge(run: RunContext) -> None:
        note_run("start", run)
        await asyncio.to_thread(time.sleep, 600)

    @app.job("stuck")
    async def stuck(run: RunContext) -> None:
        note_run("start", run)
        while True:
            time.sleep(0.05)  # noqa: ASYNC251 - that is the fault

    @app.job("poison", retry=Retry(max_attempts=3))
    async def poison(run: RunContext, how: str) -> None:
        note_run("start", run)
        if how == "exit":
            os._exit(9)
        os.kill(os.getpid(), signal.SIGKILL)

    return app


def set_failpoint(app: Duly, name: str) -> None:
    store: Any = app._store
    method = {"after fire": "fire_due", "after claim": "claim_runs", "after settle": "settle"}[name]
    original = getattr(store, method)

    async def call(*args: Any, **kwargs: Any) -> Any:
        answer = await original(*args, **kwargs)
        if getattr(answer, "runs", 0) or getattr(answer, "claims", ()) or getattr(answer, "ended", {}):
            note("failpoint", name=name)
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(store, method, call)


def tell_of_the_stop() -> None:
    """Note when the instance claims nothing more."""
    stop_claiming = Worker.stop_claiming

    def stop(worker: Worker) -> None:
        stop_claiming(worker)
        note("stopping")

    Worker.stop_claiming = stop  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    app = make_app()
    tell_of_the_stop()
    if PLAN.get("failpoint"):
        set_failpoint(app, PLAN["failpoint"])
    note("up")
    app.run()
    note("down")
