"""The record of a workflow: a row for each thing its body asked for, and the messages that wait for it.

A row is asked for once and ends once. The order of the ends (``seq``) is what a replay goes by: it feeds the body one
end after the other, so a body without clock, luck and I/O of its own comes to the same place again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

WORKFLOW = "workflow:"
START = 0
"""The position of the row that says when a run began, and on which version."""


class StepKind(StrEnum):
    START = "start"
    STEP = "step"
    SLEEP = "sleep"
    SIGNAL = "signal"
    EVENT = "event"
    CHILD = "child"
    SPAWN = "spawn"
    TASK = "task"
    VALUE = "value"
    PATCH = "patch"
    UNDO = "undo"
    CANCEL = "cancel"
    """A message only: stop, and undo what was done."""


class StepStatus(StrEnum):
    ASKED = "asked"
    DONE = "done"
    FAILED = "failed"


@dataclass(slots=True, kw_only=True)
class Step:
    """One row. Instants in epoch ms; ``result`` and ``log`` are JSON.

    ``due_at`` is when a sleep ends, a wait is given up or a failed try is repeated; ``attempt`` counts the tries.
    """

    position: int
    kind: StepKind
    name: str
    status: StepStatus = StepStatus.ASKED
    seq: int | None = None
    attempt: int = 0
    due_at: int | None = None
    result: str | None = None
    error: str | None = None
    log: str | None = None
    asked_at: int
    done_at: int | None = None


class Limits(NamedTuple):
    """How long the record of a run may become: its steps, and the bytes of what they answered, in all and of one."""

    steps: int
    bytes: int
    value: int = sys.maxsize

    def warning(self, steps: int, bytes: int) -> str | None:
        """What to say of a record that is at four fifths of what it may be; None before."""
        if steps * 5 < self.steps * 4 and bytes * 5 < self.bytes * 4:
            return None
        return (
            f"it has recorded {steps} steps with {bytes} bytes; beyond {self.steps} steps or {self.bytes} bytes it"
            " fails: let it go on with ctx.continue_as_new"
        )


NO_LIMITS = Limits(sys.maxsize, sys.maxsize)


@dataclass(frozen=True, slots=True)
class History:
    """All that is recorded of a run by position, how much that is, and a warning when it is nearly too much."""

    steps: Sequence[Step]
    warning: str | None = None

    @property
    def count(self) -> int:
        return max((step.position for step in self.steps), default=0)

    @property
    def bytes(self) -> int:
        return sum(len(step.result or "") for step in self.steps)


@dataclass(frozen=True, slots=True)
class Message:
    """Something sent to a run: a signal, or the end of what it waits for. ``n`` gives the order of arrival."""

    n: int
    kind: StepKind
    name: str
    body: str | None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the store knows of a run after a record or a read: new messages, and whether a cancel was asked for."""

    now: int
    messages: list[Message] = field(default_factory=list)
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal(Recorded):
    """All that is recorded of a run."""

    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Update:
    """What became of an update: the run will hear of it, or its validator said why not and nothing was changed."""

    accepted: bool
    reason: str | None = None


def update_name(name: str) -> str:
    """The signal that an accepted update is sent as."""
    return f"update:{name}"


def handler_name(workflow: str, version: str | None = None) -> str:
    """The name under which workers claim the runs of a workflow: of one version, or of any before it is chosen."""
    return f"{WORKFLOW}{workflow}" if version is None else f"{WORKFLOW}{workflow}@{version}"


def parse_handler(job: str) -> tuple[str, str | None] | None:
    """Read a handler's name back: the workflow and its version; None for what is no workflow."""
    if not job.startswith(WORKFLOW):
        return None
    name, at, version = job.removeprefix(WORKFLOW).partition("@")
    return name, version if at else None


def history_of_steps(steps: Sequence[Step], limits: Limits) -> History:
    history = History(steps)
    return replace(history, warning=limits.warning(history.count, history.bytes))
