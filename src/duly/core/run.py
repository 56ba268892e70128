"""A run: one execution, from the fire (or the request) to its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Any

from .failure import ErrorReport
from .ids import window_key
from .policy import LEFT_RETRY
from .schedule import Definition
from .sealed import read_json
from .steps import parse_handler

CONTINUED_AS = '{"continuedAs":'
"""How the result of a run begins that has gone on as another."""


class RunStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUSPENDED = "suspended"
    CANCELLING = "cancelling"
    DISPATCHED = "dispatched"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def terminal(self) -> bool:
        return self in _TERMINAL


ENDS = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.SKIPPED)
_TERMINAL = frozenset(ENDS)


class RunKind(StrEnum):
    WINDOW = "window"
    MANUAL = "manual"
    BACKFILL = "backfill"
    DIRECT = "direct"
    CHILD = "child"


class Hold(IntEnum):
    """Why an open run is not to be claimed with the others although it is due; a suspect stays one while it runs."""

    NONE = 0
    LANE = 1
    UNKNOWN_JOB = 2
    OUTSIDE = 3
    SIGNAL = 4
    SUSPECT = 5


class Reason(StrEnum):
    """Why a run ended as it did, where the status alone does not say."""

    MISSED = "missed"
    TOO_LATE = "too_late"
    EXCLUDED = "excluded"
    OVERLAP = "overlap"
    QUEUE_FULL = "queue_full"
    SUPERSEDED = "superseded"
    PAUSED = "paused"
    FATAL = "fatal"
    TIMEOUT = "timeout"
    EXECUTION_TIMEOUT = "execution_timeout"
    LOST = "lost"
    ATTEMPTS_SPENT = "attempts_spent"
    CANCEL_REQUESTED = "cancel_requested"
    SCHEDULE_CANCELLED = "schedule_cancelled"
    SCHEDULE_DELETED = "schedule_deleted"
    NO_LISTENER = "no_listener"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """What overlap needs to know of a run that has not ended.

    ``window_at`` is its place among the others: the id may be one that a caller chose, and says nothing. Instants in
    epoch ms.
    """

    id: str
    hold: int
    claimed: bool
    cancel_requested: bool
    kind: str
    window_at: int
    due_at: int
    fired_at: int

    @property
    def backfill(self) -> bool:
        return self.kind == RunKind.BACKFILL


@dataclass(slots=True, kw_only=True)
class NewRun:
    """A run to be inserted; a store fills nothing in, but the key of a fair queue where there is none: the tenant.

    Instants in epoch ms.
    """

    id: str
    job: str
    kind: RunKind
    due_at: int
    fired_at: int
    schedule_id: str | None = None
    revision: int | None = None
    window_at: int | None = None
    tenant: str = ""
    queue: str
    priority: int = 0
    slot: int = 0
    hold: int = Hold.NONE
    lane: str | None = None
    max_attempts: int
    timeout_ms: int | None = None
    payload: str | None = None
    claimed_by: int | None = None
    attempt: int = 0
    fence: int = 0
    started_at: int | None = None
    deadline_at: int | None = None
    fair_key: str | None = None

    def opened(self) -> OpenRun:
        """What overlap sees of it once it is there."""
        window_at = self.fired_at if self.window_at is None else self.window_at
        return OpenRun(self.id, self.hold, False, False, self.kind, window_at, self.due_at, self.fired_at)


@dataclass(slots=True, kw_only=True)
class SkippedWindows:
    """Windows of one outage that one policy dropped for one reason: one row that covers the range."""

    id: str
    schedule_id: str
    revision: int
    since: int
    window_at: int
    windows: int
    job: str
    queue: str
    reason: Reason
    fired_at: int
    detail: str | None = None


@dataclass(slots=True, kw_only=True)
class Claim:
    """A run in the hands of one session: what an attempt needs, and the fence all its writes must carry.

    ``capped``: its queue limits how many run at once, so its end may let another one start. ``trace`` is the W3C
    context in which it, or its schedule, was asked for, and from the attempt's start on the attempt's own; only where
    somebody traces. ``granted`` is the number of attempts that the store has for it, where its job allows another.
    """

    id: str
    job: str
    kind: str
    queue: str
    attempt: int
    max_attempts: int
    fence: int
    payload: str | None
    schedule_id: str | None
    revision: int | None
    window_at: int | None
    due_at: int
    fired_at: int
    lane: str | None
    timeout_ms: int | None
    tenant: str
    definition: Definition | None = None
    suspect: bool = False
    capped: bool = False
    trace: str | None = None
    granted: int | None = None

    @property
    def left_to_job(self) -> int:
        """What nobody chose for it; a run without a schedule keeps that in the place of a revision."""
        definition = self.definition
        if definition is None:
            return 0 if self.schedule_id is not None else self.revision or 0
        return definition.left_to_job if definition.retry is not None else definition.left_to_job | LEFT_RETRY

    def allow(self, max_attempts: int) -> None:
        """Let it have the attempts that its job allows, where nobody chose a number."""
        if self.left_to_job & LEFT_RETRY and self.max_attempts != max_attempts:
            self.granted, self.max_attempts = self.max_attempts, max_attempts

    @property
    def key(self) -> str | None:
        """The schedule's key at the revision of this run."""
        return self.definition.key if self.definition else None

    @property
    def window_key(self) -> str | None:
        if self.window_at is None or self.definition is None or self.kind != RunKind.WINDOW:
            return None
        return window_key(self.definition.key, self.window_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as people see it, open or ended. Lists leave payload, result and links to other runs out.

    ``redrive_of`` is the dead run whose payload was corrected to make this one, ``redriven_as`` the other end.
    """

    id: str
    status: RunStatus
    kind: RunKind
    job: str
    queue: str
    attempt: int
    max_attempts: int
    fence: int
    fired_at: datetime
    scheduled_at: datetime
    schedule_id: str | None = None
    schedule_key: str | None = None
    revision: int | None = None
    window_at: datetime | None = None
    since: datetime | None = None
    window_count: int | None = None
    tenant: str = ""
    priority: int = 0
    due_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    cancel_requested: bool = False
    hold: int = Hold.NONE
    reason: str | None = None
    reason_detail: str | None = None
    error_message: str | None = None
    instance: str | None = None
    payload_json: str | None = None
    result_json: str | None = None
    acknowledged_at: datetime | None = None
    redrive_of: str | None = None
    redriven_as: str | None = None

    @property
    def workflow(self) -> str | None:
        """The workflow that it is a run of; None for a job."""
        found = parse_handler(self.job)
        return None if found is None else found[0]

    @property
    def went_on(self) -> bool:
        """Whether it has ended by going on as a new run."""
        return self.status is RunStatus.COMPLETED and (self.result_json or "").startswith(CONTINUED_AS)

    @property
    def went_on_as(self) -> str | None:
        """The run that it went on as."""
        return str(self.result["continuedAs"]) if self.went_on else None

    @property
    def version(self) -> str | None:
        """The version of the workflow; None until a worker has begun it, unless it was asked for."""
        found = parse_handler(self.job)
        return None if found is None else found[1]

    @property
    def payload(self) -> Any:
        return None if self.payload_json is None else read_json(self.payload_json)

    @property
    def result(self) -> Any:
        return None if self.result_json is None else read_json(self.result_json)

    @property
    def window_key(self) -> str | None:
        if self.window_at is None or self.schedule_key is None or self.kind is not RunKind.WINDOW:
            return None
        return window_key(self.schedule_key, round(self.window_at.timestamp() * 1000))

    @property
    def attempt_number(self) -> int:
        """The current or next attempt, from 1."""
        waiting = self.status is RunStatus.PENDING
        return self.attempt + 1 if waiting else max(self.attempt, 1)

    @property
    def created_at(self) -> datetime:
        return self.fired_at

    @property
    def duration(self) -> timedelta | None:
        if self.started_at is None or self.completed_at is None:
            return None
        return self.completed_at - self.started_at

    @property
    def duration_ms(self) -> int | None:
        return None if self.duration is None else self.duration // timedelta(milliseconds=1)

    @property
    def dead(self) -> bool:
        """Whether it is in the dead letters: failed for good, and neither redriven nor acknowledged since."""
        return self.status is RunStatus.FAILED and self.acknowledged_at is None


# How an attempt ended. A handler's value or exception becomes exactly one of these.


@dataclass(frozen=True, slots=True)
class Completed:
    result: str | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The handler raised, or took too long. ``cause`` is what it raised, for the log; a store keeps ``report`` of it.

    Whoever was asked may have said when to come again: not before ``wait_ms`` have passed.
    """

    error: str
    fatal: bool = False
    timed_out: bool = False
    wait_ms: int = 0
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    report: ErrorReport | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The handler stopped because a cancel was asked for; with a ``reason`` of its own it ends whoever asked.

    ``error`` says what went wrong on the way: an undo that failed.
    """

    reason: Reason | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker died or fell silent; nobody knows how far it came."""

    error: str


@dataclass(frozen=True, slots=True)
class Released:
    """Given back at a shutdown, or because nobody here can run it; no attempt is spent.

    ``started`` says that the handler was called, so that the attempt leaves a record.
    """

    started: bool = False


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Stopped by its own process because the store could not be reached; no attempt is spent.

    The process reports it when the store is back. If the run was declared lost meanwhile, the record is corrected.
    """


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The handler asked to be called again later; no attempt is spent."""

    for_ms: int


@dataclass(frozen=True, slots=True)
class Suspended:
    """The body of a workflow waits; no attempt is spent. It goes on at ``wake_at`` (epoch ms; None: at no instant of
    its own), or when a message comes that is newer than ``seen``."""

    wake_at: int | None
    seen: int


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A receiver outside has it and will say how it ended, within the timeout of the run; the attempt is spent."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The body of a workflow goes on as a new run. That takes the place of this one: its queue, its lane, its schedule,
    its parent, and the messages that nobody has taken."""

    heir: str
    job: str
    payload: str

    @property
    def result(self) -> str:
        return f'{CONTINUED_AS}"{self.heir}"}}'


Outcome = Completed | Failed | Cancelled | Lost | Released | Interrupted | Snoozed | Suspended | Dispatched | Continued
