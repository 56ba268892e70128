"""What the body of a workflow is given: everything it may do besides plain computing."""

from __future__ import annotations

import asyncio
import inspect
import math
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, NoReturn

from duly.core.errors import GatherFailed, StepFailed, ValidationFailed
from duly.core.hooks import hook_token
from duly.core.ids import child_run_id
from duly.core.instants import to_datetime, to_ms
from duly.core.marks import Value, make_marks
from duly.core.policy import Retry
from duly.core.steps import StepKind, update_name
from duly.core.timing.duration import MAX_DURATION_MS, parse_duration
from duly.engine.context import RunContext
from duly.engine.job import Call, Job
from duly.runtime.chance import Chance

from .body import Body
from .doing import ChildWork, StepWork, undo_call

_ONCE = Retry(max_attempts=1)
_PLAIN = Retry()


class ContinueAsNew(BaseException):
    """Ends a body: the run goes on as a new one, with a clean record."""

    def __init__(self, input: Any) -> None:
        super().__init__("continued as a new run")
        self.input = input


class Hooks(NamedTuple):
    """What the tokens and URLs of webhooks are made of."""

    secret: str
    url: str


NO_HOOKS = Hooks("", "")


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that somebody outside is to POST to. Its token alone allows it, once; what is sent is the answer."""

    token: str
    url: str
    _answer: Awaitable[Any]

    def wait(self) -> Awaitable[Any]:
        """Wait for what is sent: JSON, or None; SignalTimeout when time is over."""
        return self._answer


class WorkflowContext:
    """One run of a workflow, as its body sees it. All of it is the same in every replay."""

    def __init__(
        self, body: Body, run: RunContext, version: str, live_now: Callable[[], int], hooks: Hooks = NO_HOOKS
    ) -> None:
        self._body = body
        self._run = run
        self._live_now = live_now
        self._hooks = hooks
        self.version = version
        self._chance = Chance(int.from_bytes(blake2b(run.id.encode(), digest_size=8).digest()))

    @property
    def id(self) -> str:
        return self._run.id

    @property
    def schedule_key(self) -> str | None:
        return self._run.schedule_key

    @property
    def window_key(self) -> str | None:
        return self._run.window_key

    @property
    def scheduled_at(self) -> datetime:
        return self._run.scheduled_at

    @property
    def replaying(self) -> bool:
        """Whether the body is being brought back to where it was: log lines can be left out then."""
        return self._body.replaying

    @property
    def history_size(self) -> int:
        """How many steps are recorded, or will be: whoever loops goes on as a new run before there are too many."""
        return self._body.next_position - 1

    def now(self) -> datetime:
        """The time, as of what happened last in this run; the same in every replay."""
        return to_datetime(self._body.now)

    def random(self) -> float:
        """A number from 0 up to 1; the same in every replay."""
        return self._chance.spread(0, 1)

    def uuid(self) -> str:
        """A random UUID; the same in every replay."""
        return str(uuid.UUID(bytes=self._chance.entropy(16), version=4))

    def side_effect(self, make: Callable[[], Any]) -> Any:
        """Call a function once for good, and record what it answers (plain JSON values)."""
        return self._body.value(getattr(make, "__name__", "value"), make)

    def patched(self, id: str) -> bool:
        """True for runs that reach this place first under the new code, False for those that passed it before."""
        return self._body.patched(_text(id, "a patch"))

    def deprecate_patch(self, id: str) -> None:
        """Say that no run without the patch is left: its marker may be there, and decides nothing any more."""
        self._body.patched(_text(id, "a patch"))

    def step(
        self,
        name: str | Call | Job[..., ..., Any],
        function: Callable[..., Any] | Call | None = None,
        *args: Any,
        retry: Retry | None = None,
        timeout: float | None = None,
        compensate: Callable[..., Any] | None = None,
        compensate_retry: Retry | None = None,
        queue: str | None = None,
        **kwargs: Any,
    ) -> Awaitable[Any]:
        """Call a function, async or not, once for good: what it answers is recorded, and never called again for.

        It is tried once unless ``retry`` allows more. ``compensate`` undoes it if the run fails later: it is called
        with the step's answer and its arguments, three times or as ``compensate_retry`` says. With ``queue`` a
        registered job is run as a run of its own: ``retry`` says how often, the job itself how long it waits between.
        """
        given = name if isinstance(name, Call | Job) else function
        if isinstance(given, Call):
            title = name if isinstance(name, str) else given.job
            work: Any = StepWork(title, None, given, (), {}, retry or _ONCE, timeout, queue)
        else:
            if not callable(given):
                raise ValidationFailed(f"step {name!r} is {given!r}; expected a function or a bound job")
            title = name if isinstance(name, str) else given.name  # type: ignore[attr-defined]  # a job
            work = StepWork(title, given, None, args, kwargs, retry or _ONCE, timeout, queue)
        _check_tries(title, timeout, retry, compensate_retry)
        if queue is not None:
            self._check_queued(title, work)
        undo = None if compensate is None else undo_call(compensate, work, compensate_retry)
        return self._body.ask(StepKind.STEP, _text(title, "a step"), work=work, undo=undo)

    def _check_queued(self, title: str, work: StepWork) -> None:
        if work.call is None:
            raise ValidationFailed(
                f"step {title!r} has queue={work.queue!r}, which takes a registered job: ctx.step(job.bind(...),"
                " queue=...)",
                field="queue",
            )
        # A run that did this before it was refused goes on.
        if (
            not self._body.has_asked(StepKind.STEP, title)
            and replace(work.retry, max_attempts=_PLAIN.max_attempts) != _PLAIN
        ):
            raise ValidationFailed(
                f"step {title!r} has queue={work.queue!r} and a retry with delays of its own; a run in a queue waits as"
                f" its job says: give max_attempts alone here, and the delays to the job {work.call.job!r}"
                " (@app.job(..., retry=Retry(...)))",
                field="retry",
                got=work.retry,
            )

    def transaction(
        self,
        name: str,
        function: Callable[..., Any],
        *args: Any,
        retry: Retry | None = None,
        compensate: Callable[..., Any] | None = None,
    ) -> Awaitable[Any]:
        """A step whose writes and whose record are one commit.

        ``function(connection, *args)`` writes on a connection to duly's own database (psycopg or apsw) that is in a
        transaction. It must not be async, and not commit.
        """
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise ValidationFailed(f"transaction {name!r} is {function!r}; expected a function that is not async")
        _check_tries(name, None, retry)
        work = StepWork(name, function, None, args, {}, retry or _ONCE, None, None, transactional=True)
        undo = None if compensate is None else undo_call(compensate, work)
        return self._body.ask(StepKind.STEP, _text(name, "a transaction"), work=work, undo=undo)

    def sleep(
        self,
        duration: float | str | timedelta | None = None,
        *,
        seconds: float = 0,
        minutes: float = 0,
        hours: float = 0,
        days: float = 0,
    ) -> Awaitable[None]:
        """Wait that long, through restarts; nothing is held meanwhile. The instant is fixed the first time."""
        ms = _milliseconds(seconds + 60 * minutes + 3600 * hours + 86_400 * days)
        if duration is not None:
            ms += _milliseconds(duration)
        return self._body.ask(StepKind.SLEEP, "sleep", due_at=lambda: self._live_now() + ms)

    def sleep_until(self, instant: datetime) -> Awaitable[None]:
        """Wait until an instant."""
        at = to_ms(instant, "instant")
        return self._body.ask(StepKind.SLEEP, "sleep", due_at=lambda: at)

    def wait_for_signal(self, name: str, *, timeout: float | str | timedelta | None = None) -> Awaitable[Any]:
        """Wait for the next signal of that name; those that came before are kept. SignalTimeout when time is over."""
        return self._body.ask(StepKind.SIGNAL, _text(name, "a signal"), due_at=lambda: self._until(timeout))

    def wait_for_update(self, name: str, *, timeout: float | str | timedelta | None = None) -> Awaitable[Any]:
        """Wait for the next update of that name that its validator has let pass."""
        title = update_name(_text(name, "an update"))
        return self._body.ask(StepKind.SIGNAL, title, due_at=lambda: self._until(timeout))

    def wait_for_event(
        self,
        name: str,
        *,
        match: Callable[[Any], bool] | None = None,
        timeout: float | str | timedelta | None = None,
    ) -> Awaitable[Any]:
        """Wait for an event that is published from now on; with ``match``, for one whose payload it lets pass."""
        title = _text(name, "an event")
        if match is None:
            return self._body.ask(StepKind.EVENT, title, due_at=lambda: self._until(timeout))
        over_at = None if timeout is None else self._body.now + _milliseconds(timeout)
        return self._matching(title, match, over_at)

    async def _matching(self, name: str, match: Callable[[Any], bool], over_at: int | None) -> Any:
        while True:
            payload = await self._body.ask(StepKind.EVENT, name, due_at=lambda: over_at)
            if match(payload):
                return payload

    def task(
        self,
        name: str,
        dispatch: Callable[[str], Any] | None = None,
        *,
        timeout: float | str | timedelta | None = None,
    ) -> Awaitable[Any]:
        """Hand something out to be done elsewhere: ``dispatch`` is given the token that completes it."""
        token = task_token(self.id, self._body.next_position)
        work = None
        if dispatch is not None:
            work = StepWork(name, dispatch, None, (token,), {}, _ONCE, None, None)
        return self._body.ask(StepKind.TASK, _text(name, "a task"), due_at=lambda: self._until(timeout), work=work)

    def webhook(self, name: str = "webhook", *, timeout: float | str | timedelta | None = None) -> Webhook:
        """A URL to hand out: ``await hook.wait()`` answers what is posted there, also if that was before the wait."""
        token = hook_token(self._hooks.secret, self.id, self._body.next_position)
        waits = self._body.ask(StepKind.TASK, _text(name, "a webhook"), due_at=lambda: self._until(timeout))
        return Webhook(token, f"{self._hooks.url}/{token}", waits)

    def publish(self, name: str, value: Any) -> None:
        """Show a value to whoever asks for it; the newest counts."""
        if not self._body.replaying:
            text = self._body.written(value, f"the published value {name!r}")
            self._body.news.published[_text(name, "a value")] = text

    def tag(self, *tags: str) -> None:
        """Give the run tags, that it can be found by."""
        self._mark(make_marks(tags))

    def set_attributes(self, **attributes: Value) -> None:
        """Give the run attributes (texts, numbers, truths) that it can be found by; a new value replaces an old."""
        self._mark(make_marks((), attributes))

    def _mark(self, marks: dict[str, str]) -> None:
        if not self._body.replaying:
            self._body.news.marks |= marks

    def child(self, workflow: str, input: Any = None, *, version: str | None = None) -> Awaitable[Any]:
        """Start another workflow and wait for its end, its answer; StepFailed if it fails."""
        self._check_input(workflow, input)
        work = ChildWork(workflow, input, version, self._child_id())
        return self._body.ask(StepKind.CHILD, _text(workflow, "a workflow"), work=work)

    def start_child(self, workflow: str, input: Any = None, *, version: str | None = None) -> str:
        """Start another workflow and do not wait for it; answers its run's id."""
        self._check_input(workflow, input)
        id = self._child_id()
        self._body.spawn(_text(workflow, "a workflow"), lambda position: ChildWork(workflow, input, version, id))
        return id

    async def all(
        self, workflow: str, inputs: Sequence[Any], *, mode: Literal["wait_all", "fail_fast"] = "wait_all"
    ) -> list[Any]:
        """Start a workflow once for each input; their answers in the order of the inputs.

        ``wait_all`` raises GatherFailed with all failures, ``fail_fast`` raises at the first and cancels the others.
        """
        if mode not in ("wait_all", "fail_fast"):
            raise ValidationFailed(f"mode is {mode!r}; expected wait_all or fail_fast", field="mode", got=mode)
        ids, waits = [], []
        for input in inputs:
            ids.append(self._child_id())
            waits.append(self.child(workflow, input))
        if mode == "fail_fast":
            try:
                return list(await asyncio.gather(*waits))
            except StepFailed:
                self._body.news.cancels += ids
                raise
        ends = await asyncio.gather(*waits, return_exceptions=True)
        failures = [
            (index, ids[index], end.error if isinstance(end, StepFailed) else str(end))
            for index, end in enumerate(ends)
            if isinstance(end, BaseException)
        ]
        if failures:
            raise GatherFailed(failures)
        return list(ends)

    def continue_as_new(self, input: Any = None) -> NoReturn:
        """End this run and go on as a new one with a clean record."""
        self._body.written(input, "the input of the new run")
        raise ContinueAsNew(input)

    def _check_input(self, workflow: str, input: Any) -> None:
        if self._body.is_new:
            self._body.written(input, f"the input of workflow {workflow!r}")

    def _child_id(self) -> str:
        return child_run_id(self.id, self._body.next_position, self._body.now)

    def _until(self, timeout: float | str | timedelta | None) -> int | None:
        return None if timeout is None else self._live_now() + _milliseconds(timeout)


def task_token(run_id: str, position: int) -> str:
    """The token that completes what a body handed out at a position."""
    return f"{run_id}:{position}"


def _milliseconds(duration: float | str | timedelta) -> int:
    if isinstance(duration, str):
        return parse_duration(duration, least_ms=0)
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ValidationFailed(f"duration is {duration!r}; expected seconds, '5m' or a timedelta", got=duration)
    if not seconds * 1000 <= MAX_DURATION_MS:  # nor is NaN
        raise ValidationFailed(f"duration is {duration!r}; expected at most ten years", got=duration)
    return round(max(0, seconds) * 1000)


def _check_tries(name: str, timeout: float | None, *retries: Retry | None) -> None:
    for retry in retries:
        if retry is not None and not isinstance(retry, Retry):
            raise ValidationFailed(f"retry of step {name!r} is {retry!r}; expected Retry(max_attempts=...)", got=retry)
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise ValidationFailed(f"timeout of step {name!r} is {timeout!r}; expected seconds above 0", got=timeout)


def _text(name: Any, what: str) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= 200:
        raise ValidationFailed(f"the name of {what} is {name!r}; expected 1 to 200 characters", got=name)
    return name
