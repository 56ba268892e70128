"""The body of one run: what it waits for, and what it has asked for since the last record.

Every call of the context takes the next position. What is recorded there must have the same kind and name, else the
code has changed under the run. Ends are fed one at a time, in recorded order, with a drain between: positions and races
agree in every replay of gather, task groups and nested branches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import msgspec

from duly.core.errors import (
    HistoryFull,
    NonDeterminismError,
    PayloadTooLarge,
    SignalTimeout,
    StepFailed,
    ValidationFailed,
)
from duly.core.steps import NO_LIMITS, START, Limits, Step, StepKind, StepStatus
from duly.engine.outcomes import as_json

from .loop import BodyLoop

_decode = msgspec.json.Decoder().decode
TIMED_OUT = "timeout"
"""The error of a wait whose time was over."""
GIVEN_UP = "cancelled"
"""The error of a wait that the body itself has cancelled."""


@dataclass(slots=True)
class Ask:
    """Something that the body waits for. ``work`` is what a worker has to do for it, if anything."""

    step: Step
    future: asyncio.Future[Any]
    work: Any = None
    undo: Callable[[Any], Any] | None = None


@dataclass(slots=True)
class Done:
    """A step that has ended well and can be undone."""

    step: Step
    undo: Callable[[Any], Any]
    output: Any


@dataclass(slots=True)
class News:
    """What the body has asked for and shown since the last record."""

    steps: dict[int, Step] = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)
    children: list[Any] = field(default_factory=list)
    cancels: list[str] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)


class Body:
    """A body in memory, fed from a record and then by what happens."""

    def __init__(self, run_id: str, recorded: list[Step], now: int, limits: Limits = NO_LIMITS) -> None:
        self.run_id = run_id
        self._limits = limits
        self.loop = BodyLoop()  # type: ignore[abstract]  # what it lacks, it refuses by name
        self.now = now
        self.began = now
        self.news = News()
        self.waiting: dict[int, Ask] = {}
        self.done: list[Done] = []
        self.task: asyncio.Task[Any] | None = None
        self._recorded = {step.position: step for step in recorded}
        self._patches = {step.name for step in recorded if step.kind is StepKind.PATCH}
        self._unpatched: set[str] = set()
        self._ends = sorted((s for s in recorded if s.seq is not None), key=lambda s: s.seq or 0)
        self._fed = 0
        self._last_seq = 0
        self._position = START
        self.bytes = 0
        self._broken: NonDeterminismError | None = None

    @property
    def replaying(self) -> bool:
        """Whether more is recorded than the body has been fed."""
        return self._fed < len(self._ends)

    @property
    def seq(self) -> int:
        """The number of the next end."""
        return self._last_seq + 1

    @property
    def broken(self) -> NonDeterminismError | None:
        """The first thing that this body did and should not have done."""
        if self._broken is None:
            found = [error for error in self.loop.unheard if isinstance(error, NonDeterminismError)]
            self._broken = found[0] if found else None
        return self._broken

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Begin, and feed all that is recorded."""
        self.task = self.loop.create_task(coroutine)
        self.loop.drain()
        while self.replaying and self.broken is None:
            self._feed_recorded(self._ends[self._fed])
        if self.task.done() and self.broken is None:
            self._check_nothing_was_left_out()

    def _check_nothing_was_left_out(self) -> None:
        """What is asked for is recorded with what led to it: a body that has ended has asked for all of it."""
        left = min((position for position in self._recorded if position > self._position), default=None)
        if left is not None:
            self._no_longer_asked(self._recorded[left])

    def _feed_recorded(self, step: Step) -> None:
        if self.task is None or self.task.done() or step.position not in self.waiting:
            self._no_longer_asked(step)
            return
        self.feed(step)

    def _no_longer_asked(self, step: Step) -> None:
        self.break_off(f"{step.kind} {step.name!r} was recorded, and the body no longer asks for it", step, "nothing")

    def feed(self, step: Step) -> None:
        """Give the body the end of what it asked for at a position, and let it go on as far as it can."""
        ask = self.waiting.pop(step.position)
        self._fed += 1
        self._last_seq = step.seq or self.seq
        self.bytes += len(step.result or "")
        self.now = max(self.now, step.done_at or 0)
        ask.step = step
        if step.status is StepStatus.DONE:
            output = None if step.result is None else _decode(step.result)
            if ask.undo is not None:
                self.done.append(Done(step, ask.undo, output))
            if not ask.future.done():
                ask.future.set_result(output)
        elif not ask.future.done():
            ask.future.set_exception(_failure(step))
        self.loop.drain()

    def ask(
        self,
        kind: StepKind,
        name: str,
        *,
        due_at: Callable[[], int | None] = lambda: None,
        work: Any = None,
        undo: Callable[[Any], Any] | None = None,
    ) -> asyncio.Future[Any]:
        """Take the next position; the answer comes when what is asked for has ended."""
        step = self._take(kind, name)
        if step is None:
            step = Step(position=self._position, kind=kind, name=name, asked_at=self.now, due_at=due_at())
            self.news.steps[step.position] = step
        future = self.loop.create_future()
        self.waiting[step.position] = Ask(step, future, work, undo)
        return future

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that is made once and recorded: before anything that follows from it is done."""
        step = self._take(StepKind.VALUE, name)
        if step is None:
            result = self.written(make(), f"the value {name!r}")
            step = Step(
                position=self._position,
                kind=StepKind.VALUE,
                name=name,
                status=StepStatus.DONE,
                result=result,
                asked_at=self.now,
                done_at=self.now,
            )
            self.news.steps[step.position] = step
        return _decode(step.result or "null")

    def written(self, value: Any, what: str) -> str:
        """What the body gives away, as JSON; what cannot be kept is refused there, where it is given."""
        try:
            text = as_json(value)
        except ValueError as error:
            raise ValidationFailed(f"{what} is not JSON: {error}; give plain values") from None
        if len(text) > self._limits.value:
            raise PayloadTooLarge(
                f"{what} has {len(text)} bytes; at most {self._limits.value} are kept: store it elsewhere and pass a"
                " reference"
            )
        return text.decode()

    def spawn(self, name: str, make: Callable[[int], Any]) -> int:
        """Take a position for something that nobody waits for; ``make`` is called only the first time."""
        step = self._take(StepKind.SPAWN, name)
        if step is None:
            step = Step(
                position=self._position,
                kind=StepKind.SPAWN,
                name=name,
                status=StepStatus.DONE,
                asked_at=self.now,
                done_at=self.now,
            )
            self.news.steps[step.position] = step
            self.news.children.append(make(step.position))
        return step.position

    def patched(self, id: str) -> bool:
        """Whether the run has the change of that name: all that get here first under the new code have."""
        if id in self._patches:
            return True
        if id in self._unpatched or self.replaying or not self.is_new:
            self._unpatched.add(id)
            return False
        self._patches.add(id)
        at = -1_000_000 - len(self._patches)
        self.news.steps[at] = Step(
            position=at, kind=StepKind.PATCH, name=id, status=StepStatus.DONE, asked_at=self.now, done_at=self.now
        )
        return True

    @property
    def next_position(self) -> int:
        return self._position + 1

    @property
    def is_new(self) -> bool:
        """Whether what is asked for next has not been recorded before."""
        return self.next_position not in self._recorded

    def has_asked(self, kind: StepKind, name: str) -> bool:
        """Whether this is recorded as what is asked for next."""
        step = self._recorded.get(self.next_position)
        return step is not None and (step.kind, step.name) == (kind, name)

    def break_off(self, what: str, recorded: Step | None, asked: str) -> None:
        """Note that the body and its record disagree; nothing of it is recorded from here on."""
        position = self._position if recorded is None else recorded.position
        was = "nothing" if recorded is None else f"{recorded.kind} {recorded.name!r}"
        self._broken = self._broken or NonDeterminismError(
            f"run {self.run_id} at position {position}: {what}; recorded is {was}, the code asks for {asked}. Keep the"
            " old code for open runs: register the new one under another version, or guard it with ctx.patched",
            run_id=self.run_id,
            position=position,
            expected=asked,
            recorded=was,
        )

    def _take(self, kind: StepKind, name: str) -> Step | None:
        """Take the next position, and answer what is recorded there."""
        if self._broken is not None:
            raise self._broken
        self._position += 1
        step = self._recorded.get(self._position)
        if step is None and (self._position > self._limits.steps or self.bytes > self._limits.bytes):
            self._position -= 1
            raise HistoryFull(
                f"run {self.run_id} has recorded {self._position} steps with {self.bytes} bytes; at most"
                f" {self._limits.steps} and {self._limits.bytes} are kept of one run (settings history_steps and"
                " history_bytes): go on with ctx.continue_as_new(...) before, as ctx.history_size tells",
                run_id=self.run_id,
            )
        if step is not None and (step.kind is not kind or step.name != name):
            self.break_off("the code has changed", step, f"{kind} {name!r}")
            assert self._broken is not None
            raise self._broken
        return step


def _failure(step: Step) -> Exception:
    if step.error == TIMED_OUT and step.kind in (StepKind.SIGNAL, StepKind.EVENT, StepKind.TASK):
        return SignalTimeout(f"{step.kind} {step.name!r} did not come in time")
    return StepFailed(step.name, step.error or "")
