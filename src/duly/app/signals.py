"""A process that is duly's own: how it ends. The first signal asks to stop, the second ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

from duly.config.sources import debugging
from duly.core.errors import ConfigurationError, StoreUnavailable
from duly.runtime.clock import SystemClock
from duly.runtime.stacks import tell_task
from duly.store.rights import RightsMissing

UNREACHABLE, MISCONFIGURED = 69, 78
"""Exit codes of an app that is the whole program, as those of the command line."""

ECHO_WITHIN = 0.5
"""Seconds in which the same signal is the first one's echo: `timeout` and others send it to a process and its group."""

LEFT_AFTER = 2.0
"""Seconds that tasks and threads have to end once all is closed; they were told before."""

Answer = TypeVar("Answer", bound=int | None)
_log = logging.getLogger("duly.app")


def run_alone(run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run as the whole program: what keeps it from starting is one line and an exit code, not a stack."""
    try:
        run_to_the_end(run())
    except (StoreUnavailable, ConfigurationError) as error:
        if debugging():
            raise
        sys.stderr.write(f"duly: {error.message}\n")
        settled = isinstance(error, RightsMissing | ConfigurationError)  # trying again does not mend it
        raise SystemExit(MISCONFIGURED if settled else UNREACHABLE) from None


def run_to_the_end(
    main: Coroutine[Any, Any, Answer], *, loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> Answer:
    """Run as ``asyncio.run`` does, and end the process if something does not end that was left when ``main`` had.

    A handler that swallows its cancellation would else keep the process for ever, long after its run was given back.
    The answer is the exit code then, None a clean end.
    """
    over = threading.Event()

    async def run() -> Answer:
        code, raised = 1, None
        try:
            answer = await main
            code = answer if isinstance(answer, int) else 0
            return answer
        except BaseException as error:
            raised = error
            raise
        finally:
            watch = (over, asyncio.get_running_loop(), code, raised)
            threading.Thread(target=_leave_behind, args=watch, name="duly-end", daemon=True).start()

    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(run())
    finally:
        over.set()


def _leave_behind(
    over: threading.Event, loop: asyncio.AbstractEventLoop, code: int, error: BaseException | None
) -> None:
    """Exit, unless the loop has closed by itself within a moment."""
    if over.wait(LEFT_AFTER):
        return
    left = "; ".join(sorted(map(tell_task, asyncio.all_tasks(loop)))) or "threads of the loop's executor"
    _log.error("the process ends, and leaves behind what does not: %s", left, exc_info=error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # nobody reads it any more, or there is none
            stream.flush()
    os._exit(code)


@asynccontextmanager
async def until_signalled() -> AsyncIterator[asyncio.Event]:
    """Yield an event that SIGTERM or SIGINT sets. Another signal ends the process, also when its loop is blocked."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    steady = SystemClock().steady
    first: tuple[int, float] | None = None

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if first is None:
            first = number, steady()
            loop.call_soon_threadsafe(stop.set)
        elif number != first[0] or steady() - first[1] >= ECHO_WITHIN:
            os._exit(128 + number)

    # Not by the loop, which hears of nothing while a handler blocks it.
    former = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in former.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
