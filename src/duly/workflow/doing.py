"""What a worker does for a body: call a function under its timeout, or make a run of its own."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from duly.core.errors import ConfigurationError, Fatal, StepFailed
from duly.core.policy import Retry
from duly.core.rules.backoff import delay_ms
from duly.core.steps import Step, StepKind, StepStatus
from duly.engine.containing import Contained, contain, uncontained
from duly.engine.job import Call
from duly.engine.outcomes import Snooze, as_json, describe
from duly.engine.registry import Registry
from duly.runtime.clock import Clock
from duly.runtime.tracing import step_span

from .body import Done
from .transacting import Both, Keep, NotConfirmed

_encode = msgspec.json.Encoder().encode
LOG_LINES = 200
_NO_MORE_LINES = ("warning", f"further lines are not kept: {LOG_LINES} are the most of one try")


@dataclass(frozen=True, slots=True)
class StepWork:
    """A function to be called, or a job that was bound to its arguments."""

    name: str
    function: Callable[..., Any] | None
    call: Call | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    retry: Retry
    timeout: float | None
    queue: str | None
    transactional: bool = False


@dataclass(frozen=True, slots=True)
class ChildWork:
    """A workflow to be started; its run has this id."""

    workflow: str
    input: Any
    version: str | None
    id: str


@dataclass(slots=True)
class StepContext:
    """The step that is being done, for the function that does it: ``duly.current_step()``.

    ``id`` is the same on every try: use it as the idempotency key of what you call.
    """

    id: str
    name: str
    attempt: int
    lines: list[tuple[str, str]] = field(default_factory=list)

    def log(self, message: str, level: str = "info") -> None:
        """Keep a line with the step: of one try the first 200, and of a line 1,000 characters."""
        if len(self.lines) < LOG_LINES:
            self.lines.append((level, str(message)[:1000]))
        elif len(self.lines) == LOG_LINES:
            self.lines.append(_NO_MORE_LINES)


_current: contextvars.ContextVar[StepContext | None] = contextvars.ContextVar("duly_step", default=None)


def current_step() -> StepContext | None:
    """The step that this code is called for; None outside of one."""
    return _current.get()


MAX_RAISED = 20
"""Exceptions of failed steps that a run keeps in memory, for the report of its own failure."""


class Hands:
    """Does the work of steps, and puts its end into their rows."""

    def __init__(
        self,
        run_id: str,
        registry: Registry,
        clock: Clock,
        now: Callable[[], int],
        result_limit: int,
        transact: Callable[[Both], Step],
        recall: Callable[[Step], Awaitable[Step]],
    ) -> None:
        self._run_id = run_id
        self._registry = registry
        self._in_thread = registry.around.call_in_thread
        self._clock = clock
        self._now = now
        self._result_limit = result_limit
        self._transact = transact
        self._recall = recall
        self._raised: dict[str, BaseException] = {}

    def explain(self, error: BaseException) -> None:
        """Give the failure of a step the exception that the step raised, if it was raised in this process.

        Only when the body has ended: after a replay the exception is not there, and the body must not see a difference.
        """
        if isinstance(error, StepFailed) and error.__cause__ is None:
            error.__cause__ = self._raised.get(error.error)

    async def do(self, step: Step, work: StepWork) -> Step:
        """Try once; the answer is the row of its end, or of the wait for the next try."""
        attempt = step.attempt + 1
        context = StepContext(f"{self._run_id}:{step.position}", work.name, attempt)
        try:
            with step_span(work.name, {"run_id": self._run_id, "attempt": attempt, "position": step.position}):
                if work.transactional:
                    return await self._in_transaction(step, work, context)
                output = await self._limited(work, context)
                if isinstance(output, Snooze) and step.kind is not StepKind.TASK:
                    return self._again(step, step.attempt, output.delay // timedelta(milliseconds=1), context)
                result = self._written(output)
        except Exception as error:  # noqa: BLE001 - around a user's function: what it raises is its end
            return self._failed(step, work, attempt, error, context)
        return self._ended(step, attempt, context, StepStatus.DONE, result=result)

    async def _in_transaction(self, step: Step, work: StepWork, context: StepContext) -> Step:
        both = lambda connection, keep: self._both(step, work, context, connection, keep)
        try:
            return await asyncio.to_thread(self._in_thread, partial(self._transact, both))
        except NotConfirmed as unsure:
            recorded = await self._recall(step)
            if recorded.status is StepStatus.ASKED:  # it was not committed, so nothing was done
                raise unsure.error from None
            return recorded

    def _both(self, step: Step, work: StepWork, context: StepContext, connection: Any, keep: Keep) -> Step:
        """The row first, which locks the run; then the user's writes, then the row of the end: all or nothing."""
        _current.set(context)
        keep(step)
        assert work.function is not None
        result = self._written(work.function(connection, *work.args, **work.kwargs))
        end = self._ended(step, context.attempt, context, StepStatus.DONE, result=result)
        keep(end)
        return end

    def _failed(self, step: Step, work: StepWork, attempt: int, error: BaseException, context: StepContext) -> Step:
        text = describe(error)
        if isinstance(error, Fatal | NotKept) or attempt >= work.retry.max_attempts:
            self._raised = {**dict([*self._raised.items()][-MAX_RAISED:]), text: uncontained(error)}
            return self._ended(step, attempt, context, StepStatus.FAILED, error=text)
        return self._again(step, attempt, delay_ms(work.retry, attempt, context.id), context, text)

    def _again(self, step: Step, attempt: int, wait_ms: int, context: StepContext, error: str | None = None) -> Step:
        return Step(
            position=step.position,
            kind=step.kind,
            name=step.name,
            attempt=attempt,
            due_at=self._now() + wait_ms,
            error=error,
            log=_lines(context),
            asked_at=step.asked_at,
        )

    def _ended(
        self,
        step: Step,
        attempt: int,
        context: StepContext,
        status: StepStatus,
        result: str | None = None,
        error: str | None = None,
    ) -> Step:
        return Step(
            position=step.position,
            kind=step.kind,
            name=step.name,
            status=status,
            attempt=attempt,
            result=result,
            error=error,
            log=_lines(context),
            asked_at=step.asked_at,
            done_at=self._now(),
        )

    async def _limited(self, work: StepWork, context: StepContext) -> Any:
        task = asyncio.get_running_loop().create_task(self._call(work, context))
        if work.timeout is None:
            return await _and_its_cancel(task)
        over = asyncio.Event()
        task.add_done_callback(lambda _: over.set())
        try:
            await self._clock.wait(over, work.timeout)
        finally:
            if not task.done():
                task.cancel()
        if not task.done() or task.cancelled():
            raise TimeoutError(f"the step took longer than its timeout of {work.timeout:g} s")
        return task.result()

    async def _call(self, work: StepWork, context: StepContext) -> Any:
        try:
            return await contain(self._answer(work, context))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise Contained from error  # the function waited for something that was cancelled

    async def _answer(self, work: StepWork, context: StepContext) -> Any:
        _current.set(context)
        function, args, kwargs = self._function(work)
        if inspect.iscoroutinefunction(function):
            return await function(*args, **kwargs)
        output = await asyncio.to_thread(self._in_thread, partial(function, *args, **kwargs))
        return await output if inspect.isawaitable(output) else output

    def _function(self, work: StepWork) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        if work.call is None:
            assert work.function is not None
            function = getattr(work.function, "function", work.function)  # of a job, the function itself
            return function, work.args, work.kwargs
        handler = self._registry.get(work.call.job)
        if handler is None:
            raise ConfigurationError(f"step {work.name!r} calls job {work.call.job!r}, which this app does not know")
        if handler.arguments.context is not None:
            raise ConfigurationError(
                f"step {work.name!r} calls job {work.call.job!r}, which takes a run; give it queue=, or call a plain"
                " function"
            )
        return handler.function, (), handler.arguments.decode(work.call.payload)

    def _written(self, output: Any) -> str | None:
        if output is None:
            return None
        if isinstance(output, Snooze):
            raise NotKept("it answered Snooze, which a transaction or a dispatch cannot; raise an error, with retry=")
        try:
            result = as_json(output)
        except ValueError as error:
            raise NotKept(f"the step's answer is not JSON: {error}; return plain values") from None
        if len(result) > self._result_limit:
            raise NotKept(
                f"the step's answer has {len(result)} bytes; at most {self._result_limit} are kept: store it elsewhere"
                " and return a reference"
            )
        return result.decode()

    async def undo(self, done: Done, row: Step) -> Step:
        """Undo one step, once."""
        retry = getattr(done.undo, "retry", _UNDO)
        work = StepWork(row.name, done.undo, None, (done.output,), {}, retry, None, None)
        return await self.do(row, work)


_UNDO = Retry(max_attempts=3, delay=1)


class NotKept(Exception):
    """What a step answered cannot be kept; doing it again would not help."""


async def _and_its_cancel(task: asyncio.Task[Any]) -> Any:
    try:
        return await task
    except asyncio.CancelledError:
        task.cancel()
        raise


def undo_call(compensate: Callable[..., Any], work: StepWork, retry: Retry | None = None) -> Callable[[Any], Any]:
    """A function of the step's answer that calls ``compensate`` with as much as it takes: the answer, the arguments.

    One that needs nothing but ``output`` and ``input`` is given those by name.
    """
    given = getattr(compensate, "function", compensate)
    signature = inspect.signature(given)
    needed = {p.name for p in signature.parameters.values() if p.default is p.empty}
    named = {"output", "input"} & signature.parameters.keys() if needed <= {"output", "input"} else set()
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    endless = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    args = work.args if work.call is None else (work.call.payload,)

    def undo(output: Any) -> Any:
        if named:
            values = {"output": output, "input": args[0] if len(args) == 1 else list(args)}
            return given(**{name: values[name] for name in named})
        offered = (output, *args)
        return given(*(offered if endless else offered[: len(places)]))

    async def undo_without_thread(output: Any) -> Any:
        return await undo(output)

    chosen: Callable[[Any], Any] = undo_without_thread if inspect.iscoroutinefunction(given) else undo
    chosen.retry = retry or _UNDO  # type: ignore[attr-defined]  # travels with the function that it is for
    return chosen


def _lines(context: StepContext) -> str | None:
    return _encode(context.lines).decode() if context.lines else None
