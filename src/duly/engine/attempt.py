"""One attempt: a handler is called under its timeout, and whatever happens becomes one outcome."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from contextvars import copy_context
from enum import Enum
from functools import partial
from typing import Any, assert_never

from duly.core.errors import ValidationFailed
from duly.core.failure import ErrorReport
from duly.core.run import Cancelled, Claim, Failed, Interrupted, Lost, Outcome, Released
from duly.runtime.tracing import current_claim

from .context import RunContext
from .deadlines import Deadlines
from .error_reports import redact_text
from .middleware import call_through
from .outcomes import describe, failure_of, outcome_of
from .processes import ProcessStopped, run_in_process
from .registry import Handler, Mode
from .threads import Threads


class Stop(Enum):
    """Why an attempt was told to stop before its handler ended."""

    CANCEL = "a cancel was asked for"
    LOST = "the run belongs to a newer attempt"
    INTERRUPTED = "the store cannot be reached, and the lease may be gone"
    SHUTDOWN = "the instance is stopping"
    TIMEOUT = "its time is over"


TURNS_TO_GO_ON = 3
"""Turns of the event loop in which a handler learns of a cancel, also where it waits for other things besides."""


class Attempt:
    """A claimed run in execution. ``stop`` may be called at any time, from the event loop."""

    __slots__ = (
        "_begun",
        "_called",
        "_deadlines",
        "_in_thread",
        "_on_loop",
        "_result_limit",
        "_stop",
        "_threads",
        "claim",
        "context",
        "handler",
        "session",
        "task",
    )

    def __init__(
        self, claim: Claim, session: int, handler: Handler, threads: Threads, deadlines: Deadlines, result_limit: int
    ) -> None:
        self.claim = claim
        self.session = session
        self.handler = handler
        self.context = RunContext(claim, handler.around.state, session)
        self.task: asyncio.Task[None] | None = None
        self._threads = threads
        self._deadlines = deadlines
        self._result_limit = result_limit
        self._stop: Stop | None = None
        self._begun = False
        self._called = False
        self._in_thread = False
        self._on_loop = handler.mode in (Mode.ASYNC, Mode.OUTSIDE)

    @property
    def lost(self) -> bool:
        return self._stop is Stop.LOST

    def stop(self, why: Stop) -> None:
        """Tell the handler to stop: an async one is cancelled, others see ``run.cancelled``.

        One that awaits ``run.wait_cancelled()`` goes on first, and is cancelled where it awaits next; but not at
        shutdown, where its return would be taken for the end of work that is to be given back. A thread cannot be
        stopped: a cancelled one is waited for, at shutdown it is left behind.
        """
        if self._stop is not None and why is not Stop.SHUTDOWN:
            return
        self._stop = self._stop or why
        self.context._cancel()
        # A task that is cancelled before its first step runs none of its code, not even its end.
        if self.task is not None and self._begun and (self._on_loop or why is Stop.SHUTDOWN):
            self._cancel_task(0 if why is Stop.SHUTDOWN else TURNS_TO_GO_ON)

    def _cancel_task(self, turns: int) -> None:
        assert self.task is not None
        if turns > 0:
            asyncio.get_running_loop().call_soon(self._cancel_task, turns - 1)
        else:
            self.task.cancel()

    def time_out(self) -> None:
        """Stop the handler because it took too long; a thread that does not listen is left behind."""
        if self._stop is not None or self.task is None:
            return
        self._stop = Stop.TIMEOUT
        self.context._cancel()
        if self._in_thread:
            self._threads.abandon()
        self.task.cancel()

    async def run(self) -> Outcome:
        """Call the handler; raises only the end of the loop, and a cancel of its task that is no ``stop`` of ours."""
        self._begun = True
        current_claim.set(self.claim)
        if self._stop is not None:
            return self._stopped(self._stop)
        try:
            call = self._wrapped_call() if self.handler.around.middleware else self._call()
            return outcome_of(await call, self._result_limit)
        except asyncio.CancelledError as error:
            if self._stop is not None:
                return self._stopped(self._stop)
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return failure_of(
                error, self.handler.around.redact
            )  # the handler's own: it waited for something that was cancelled
        except ProcessStopped as error:
            return failure_of(error, self.handler.around.redact) if self._stop is None else self._stopped(self._stop)
        except ValidationFailed as error:
            text = redact_text(describe(error), self.handler.around.redact)
            return Failed(text, fatal=True, report=ErrorReport(type=type(error).__qualname__))
        except KeyboardInterrupt:
            raise
        except GeneratorExit as error:
            if not self._is_running():
                raise  # nobody raised it: this coroutine is thrown away
            return failure_of(error, self.handler.around.redact)
        except BaseException as error:  # noqa: BLE001 - around a handler: whatever it raises is its outcome
            return failure_of(error, self.handler.around.redact)

    def _is_running(self) -> bool:
        try:
            return asyncio.current_task() is self.task
        except RuntimeError:  # no loop runs any more
            return False

    async def _wrapped_call(self) -> Any:
        # Its time is watched from here, so that a middleware cannot hang forever, and anew from the handler's start.
        self._begin()
        return await call_through(self.handler.around.middleware, self.context, self._call)

    async def _call(self) -> Any:
        handler, context = self.handler, self.context
        match handler.mode:
            case Mode.ASYNC | Mode.OUTSIDE:
                self._begin()
                return await handler.function(**handler.arguments.values(context))
            case Mode.THREAD:
                values = handler.arguments.values(context)
                call = partial(handler.around.call_in_thread, partial(handler.function, **values))
                try:
                    # A thread has no context of its own.
                    answer = await self._threads.submit(partial(copy_context().run, call), self._begin_in_thread)
                finally:
                    self._in_thread = False
                return await self._awaited(answer) if inspect.isawaitable(answer) else answer
            case Mode.PROCESS:
                given = (handler.function, handler.arguments, context, self.claim, handler.around.in_process)
                return await self._threads.submit(partial(run_in_process, *given), self._begin)
            case _:
                assert_never(handler.mode)

    async def _awaited(self, answer: Awaitable[Any]) -> Any:
        """What a plain function answers that stands before an async one, as many decorators do."""
        self._on_loop = True
        if self._stop is not None:  # while it was in its thread, and so nobody has told it
            self._cancel_task(TURNS_TO_GO_ON)
        return await answer

    def _begin_in_thread(self) -> None:
        self._in_thread = True
        self._begin()

    def _begin(self) -> None:
        """The handler starts now: its time counts from here, not from when it began to wait for a thread."""
        self._called = True
        if self.claim.timeout_ms is not None and self._stop is None:
            self._deadlines.watch(self, self.claim.timeout_ms / 1000)

    def _stopped(self, why: Stop) -> Outcome:
        match why:
            case Stop.CANCEL:
                return Cancelled()
            case Stop.LOST:
                return Lost(why.value)
            case Stop.SHUTDOWN:
                return Released(started=self._called)
            case Stop.INTERRUPTED:
                return Interrupted() if self._called else Released()
            case Stop.TIMEOUT:
                seconds = (self.claim.timeout_ms or 0) / 1000
                text = f"TimeoutError: the attempt took longer than its timeout of {seconds:g} s"
                return Failed(text, timed_out=True, report=ErrorReport(type="TimeoutError"))
            case _:
                assert_never(why)
