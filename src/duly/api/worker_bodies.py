"""What a worker without a store sends, and what it is answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import UNSET, Meta, UnsetType

from duly.core.failure import MAX_LOCATION, MAX_STACK, MAX_TYPE
from duly.core.policy import MAX_ATTEMPTS

from .bodies import Base, Line, RetryPolicy, RunKey, Word, told
from .shapes import Instant

Session = Annotated[
    str,
    Meta(
        pattern=r"^[1-9][0-9]{0,18}$",
        description="The session, as the first claim answered it.",
        extra={"words": "the digits that the first claim answered, as text"},
    ),
]
RunId = Annotated[str, Meta(max_length=40, description="The run.")]
Fence = Annotated[int, Meta(ge=1, le=2**63 - 1, description="The fence that came with the run.")]
LONGEST_WAIT = 25
Told = Annotated[str, Meta(description="What every later call carries.")]
Lease = Annotated[float, Meta(description="How long the session lives without another sign of life.")]


class ClaimBody(Base):
    """What a worker knows and has room for. Without a session, one begins."""

    jobs: Annotated[list[Word], Meta(min_length=1, max_length=1000, description="The jobs that it knows, every time.")]
    session: Annotated[Session | UnsetType | None, told("Absent in the first claim.")] = UNSET
    limit: Annotated[
        Annotated[int, Meta(ge=0, le=100)] | UnsetType,
        told("How many runs at most, 1 if absent; with 0 it only waits for something new."),
    ] = UNSET
    wait_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=LONGEST_WAIT)] | UnsetType,
        told("How long to wait for a run where there is none; 0 if absent."),
    ] = UNSET
    queues: Annotated[
        Annotated[list[RunKey], Meta(max_length=100)] | UnsetType | None, told("Only runs of these; all if absent.")
    ] = UNSET
    suspects: Annotated[
        Annotated[int, Meta(ge=0, le=100)] | UnsetType,
        told("How many runs that were lost before, and may have killed their worker; 1 if absent.", examples=[1]),
    ] = UNSET
    name: Annotated[Line | UnsetType | None, told("What the worker is called in lists; with the first claim.")] = UNSET
    host: Annotated[Line | UnsetType | None, told("Where it runs.")] = UNSET
    pid: Annotated[Annotated[int, Meta(ge=0, le=2**31 - 1)] | UnsetType | None, told("Its process.")] = UNSET
    version: Annotated[Line | UnsetType | None, told("What it is: program and version.")] = UNSET


class HeldBody(Base):
    """A run that a worker has in hand."""

    run_id: RunId
    fence: Fence


class HeartbeatBody(Base):
    """A sign of life; of one run, with ``runId`` and ``fence``, it is refused once that one is lost."""

    session: Session
    run_id: RunId | UnsetType = UNSET
    fence: Fence | UnsetType = UNSET
    runs: Annotated[
        Annotated[list[HeldBody], Meta(max_length=1000)] | UnsetType, told("What it has in hand, to hear what is lost.")
    ] = UNSET


class CompleteBody(Base):
    """An attempt that did its work."""

    session: Session
    run_id: RunId
    fence: Fence
    result: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET


class FailBody(Base):
    """An attempt that did not."""

    session: Session
    run_id: RunId
    fence: Fence
    error: Annotated[str, Meta(min_length=1, max_length=4096, description="What went wrong, for people.")]
    fatal: Annotated[bool | UnsetType, told("It must not be tried again.")] = UNSET
    timed_out: Annotated[bool | UnsetType, told("It took longer than its timeout.")] = UNSET
    retry_policy: Annotated[RetryPolicy | UnsetType, told("That of the job; a schedule's own comes before it.")] = UNSET
    max_attempts: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)] | UnsetType,
        told("How often the job may be tried, where the run's `leftToJob` has `retry`."),
    ] = UNSET
    error_type: Annotated[
        Annotated[str, Meta(max_length=MAX_TYPE)] | UnsetType, told("What was raised: the exception's qualified name.")
    ] = UNSET
    error_location: Annotated[
        Annotated[str, Meta(max_length=MAX_LOCATION)] | UnsetType,
        told("Where: the innermost line of the program, such as `shop/orders.py:41 in charge`."),
    ] = UNSET
    stack: Annotated[
        Annotated[str, Meta(max_length=MAX_STACK)] | UnsetType, told("The stack, with causes; no local variables.")
    ] = UNSET
    stack_truncated: Annotated[bool | UnsetType, told("The stack was longer, and was cut.")] = UNSET


class StartedBody(Base):
    """A receiver has begun with a run that was delivered to it."""

    fence: Fence


class DoneBody(Base):
    """A receiver did what a run that was delivered to it asks for."""

    fence: Fence
    result: Annotated[Any, told("Any JSON value, up to 256 KiB; null if absent.")] = UNSET


class NotDoneBody(Base):
    """A receiver could not do it."""

    fence: Fence
    error: Annotated[str, Meta(min_length=1, max_length=4096, description="What went wrong, for people.")]
    fatal: Annotated[bool | UnsetType, told("It must not be tried again.")] = UNSET


class ReleaseBody(Base):
    """One run that is given back untried, or with the session alone all it holds, and its end."""

    session: Session
    run_id: RunId | UnsetType = UNSET
    fence: Fence | UnsetType = UNSET
    snooze_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=316_224_000)] | UnsetType, told("Go again after so long; at once if absent.")
    ] = UNSET
    started: Annotated[
        bool | UnsetType, told("The handler was called: the attempt is recorded, and counts as an interruption.")
    ] = UNSET
    interrupted: Annotated[
        bool | UnsetType, told("The worker stopped the handler itself, because it could not reach the server.")
    ] = UNSET


class LentRun(TypedDict):
    """A run in the worker's hands. ``id`` is the same on every attempt: an idempotency key for what it calls."""

    runId: str
    fence: Annotated[int, Meta(description="What every report of this attempt carries.")]
    jobType: str
    payload: Any
    attemptNumber: int
    maxAttempts: int
    timeoutSeconds: float | None
    leftToJob: Annotated[
        list[Literal["retry", "timeout"]], Meta(description="what nobody chose for it: the job's own holds")
    ]
    kind: str
    queue: str
    scheduleId: str | None
    scheduleKey: str | None
    windowKey: Annotated[str | None, Meta(description="The window that it stands for.")]
    scheduledAt: Instant
    firedAt: Instant
    lostBefore: Annotated[bool, Meta(description="its last worker died with it: best tried alone")]


class ClaimAnswer(TypedDict):
    """Runs, and how long the session lives without another sign of life."""

    session: Told
    leaseSeconds: Lease
    heartbeatSeconds: Annotated[float, Meta(description="how often to beat while a run is in hand")]
    runs: Annotated[list[LentRun], Meta(description="What is in its hands now.")]
    nextDueSeconds: Annotated[
        float | None, Meta(description="when there may be more, if that is known", examples=[4.2])
    ]
    heldBack: Annotated[list[str], Meta(description="queues that run as many as they may")]
    changed: Annotated[list[Literal["runs", "cancels"]], Meta(description="what a claim with `limit` 0 waited for")]


class HeldAnswer(TypedDict):
    """A run that the store thinks the session holds."""

    runId: str
    fence: Annotated[int, Meta(description="What every report of this attempt carries.")]
    cancelRequested: bool


class HeartbeatAnswer(TypedDict):
    """What the session holds; of the runs that it named, those to stop, and those that are others' now."""

    session: Told
    leaseSeconds: Lease
    runs: Annotated[list[HeldAnswer], Meta(description="All that the store thinks it holds.")]
    cancelled: Annotated[list[str], Meta(description="Those to stop: they end cancelled, whatever is reported.")]
    lost: Annotated[list[str], Meta(description="Those named that are in other hands now.")]


class ReportAnswer(TypedDict):
    """What the report made of the run: `pending` where it is tried again."""

    runId: str
    status: str


class ReleaseAnswer(TypedDict):
    """How many runs were given back."""

    released: Annotated[int, Meta(description="How many.")]
