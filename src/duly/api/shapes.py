"""What is answered, as types: the document's schemas come from them, and ``answers`` fills them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class TimeOfDay(TypedDict):
    """A wall-clock time; with ``dayOfWeek`` or ``day`` in weekly and monthly times."""

    hour: int
    minute: int
    dayOfWeek: NotRequired[int]
    day: NotRequired[int]


class DstAnswer(TypedDict):
    """What happens where clocks change."""

    gap: Literal["fire_after", "skip"]
    fold: Literal["first", "second", "both"]


class RetryPolicyAnswer(TypedDict):
    """How long a run waits between attempts."""

    backoff: str
    delaySeconds: float
    maxDelaySeconds: float
    jitter: float


class CatchUpAnswer(TypedDict):
    """What becomes of windows that were missed during an outage."""

    policy: str
    maxLatenessSeconds: float | None
    maxRuns: int


class JitterAnswer(TypedDict):
    """The delay of every fire."""

    minMs: int
    maxMs: int


class MetadataAnswer(TypedDict):
    """Whose it is and what it belongs to."""

    ownerId: str | None
    tenantId: str | None
    correlationId: str | None
    clientRequestId: str | None


class TimingAnswer(TypedDict):
    """When: the resulting cron expression, interval or instant. Fields that do not apply are null."""

    scheduleType: Literal["cron", "interval", "once"]
    cronExpression: str | None
    everyMs: int | None
    intervalMinutes: int | None
    dailyTime: TimeOfDay | None
    weeklyTime: TimeOfDay | None
    monthlyTime: TimeOfDay | None
    onceAt: Instant | None
    timezone: str
    dst: DstAnswer | None
    strictFields: int | None
    onPast: Literal["reject", "fire"] | None
    anchor: str | None
    afterCompletion: bool | None


class ScheduleAnswer(TimingAnswer):
    """A schedule: what was asked for, and how far it has come.

    Lists leave ``jobPayload``, ``attempts`` and ``lastError`` out.
    """

    id: str
    key: str
    name: str
    description: str | None
    status: Literal["pending", "active", "completed", "failed", "cancelled"]
    enabled: Annotated[bool, Meta(description="false is paused")]
    pausedReason: str | None
    pausedUntil: Instant | None
    health: Annotated[
        Literal["on_time", "late", "overdue"],
        Meta(description="whether the next fire is overdue; overdue means that it counts as missed"),
    ]
    nextWindowAt: Annotated[Instant | None, Meta(description="the next nominal instant")]
    nextFireAt: Annotated[Instant | None, Meta(description="the same with jitter; null while paused")]
    lastFiredAt: Instant | None
    firedAt: Annotated[Instant | None, Meta(description="when work on the newest window began")]
    attempts: NotRequired[Annotated[int, Meta(description="attempts at the newest window")]]
    lastError: NotRequired[str | None]
    jobType: str | None
    workflow: str | None
    topic: str | None
    target: dict[str, Any] | None
    jobPayload: NotRequired[Any]
    maxAttempts: int
    maxRetries: int
    retryPolicy: RetryPolicyAnswer | None
    timeoutSeconds: float | None
    overlapPolicy: Literal["skip", "queue", "cancel_previous", "allow"]
    maxQueued: int
    maxConcurrent: int | None
    catchUp: CatchUpAnswer
    jitter: JitterAnswer | None
    fireCurrentWindow: bool
    calendars: list[str]
    excludeDates: list[str]
    startAt: Instant | None
    endAt: Instant | None
    maxRuns: int | None
    pauseAfterFailures: int | None
    fairnessKey: str | None
    queue: str
    priority: int
    tags: list[str]
    metadata: MetadataAnswer
    revision: Annotated[int, Meta(description="the ETag; send it as If-Match")]
    createdAt: Instant
    updatedAt: Instant
    createdBy: str | None
    replaces: str | None
    replacedBy: str | None


class AttemptErrorAnswer(TypedDict):
    """Why an attempt failed."""

    type: Annotated[str | None, Meta(description="the exception's qualified name")]
    message: Annotated[str, Meta(description="what the exception said")]
    stack: Annotated[
        str | None,
        Meta(description="with causes, groups and notes; null where none was reported, or the caller may not see it"),
    ]
    truncated: Annotated[bool, Meta(description="the stack was longer than 16 KiB")]


class AttemptAnswer(TypedDict):
    """One execution of a run that started its handler."""

    attemptNumber: Annotated[
        int, Meta(description="from 1; only failed, timed_out and lost attempts count; a redrive counts from 1 again")
    ]
    fence: Annotated[int, Meta(description="grows with every claim")]
    outcome: Literal[
        "failed", "timed_out", "lost", "released", "interrupted", "snoozed", "completed", "cancelled", "running"
    ]
    errorMessage: str | None
    error: AttemptErrorAnswer | None
    startedAt: Instant | None
    endedAt: Instant | None
    instance: str | None


class RefusedAnswer(TypedDict):
    """A run that was not dealt with: it is not dead or not there, its payload went with its purged schedule, or a
    thousand runs of its schedule wait already.
    """

    id: str
    reason: Literal["not_dead", "not_found", "no_payload", "lane_full"]


class HandledAnswer(TypedDict):
    """What became of many dead letters."""

    count: Annotated[int, Meta(description="how many were dealt with")]
    refused: list[RefusedAnswer]
    more: Annotated[bool, Meta(description="whether the filter fits more than the limit: ask again")]


class RunAnswer(TypedDict):
    """An execution. Lists leave ``payload`` out, and a long ``result`` and links to other runs null."""

    id: str
    windowKey: Annotated[str | None, Meta(description="`sched:<key>:<epoch ms>`; null unless a window fired it")]
    kind: Literal["window", "manual", "backfill", "direct", "child"]
    scheduleId: str | None
    scheduleKey: Annotated[str | None, Meta(description="null where `scheduleId` is, and of one that was purged")]
    jobType: Annotated[str | None, Meta(description="null for a run of a workflow")]
    workflow: Annotated[str | None, Meta(description="null for a run of a job")]
    version: Annotated[str | None, Meta(description="null until a worker has begun it, unless it was asked for")]
    scheduledAt: Instant
    firedAt: Instant
    startedAt: Instant | None
    completedAt: Instant | None
    createdAt: Instant
    status: Literal[
        "pending", "running", "suspended", "cancelling", "dispatched", "completed", "failed", "cancelled", "skipped"
    ]
    reason: str | None
    reasonDetail: Annotated[str | None, Meta(description="what excluded a window that was skipped as `excluded`")]
    attemptNumber: Annotated[int, Meta(description="the current or next attempt, from 1")]
    maxAttempts: int
    durationMs: int | None
    errorMessage: str | None
    result: Annotated[Any, Meta(description="in lists, null also where it has more than 4 KiB")]
    instance: str | None
    queue: str
    priority: int
    cancelRequested: bool
    since: Annotated[Instant | None, Meta(description="the first of several windows that were skipped together")]
    windowCount: int | None
    acknowledgedAt: Annotated[Instant | None, Meta(description="since when a failed run is no dead letter any more")]
    redriveOf: Annotated[str | None, Meta(description="the dead run whose payload was corrected to make this one")]
    redrivenAs: Annotated[str | None, Meta(description="the run that was made of this dead one")]
    payload: NotRequired[Any]


class StartedRunAnswer(RunAnswer):
    """An execution as the request that asked for it sees it."""

    givenId: Annotated[str | None, Meta(description="the id that you chose; null if you chose none")]


class WholeRunAnswer(RunAnswer):
    """An execution with its attempts."""

    attempts: Annotated[list[AttemptAnswer], Meta(description="in order; of snoozed ones the newest 20")]
    snoozes: Annotated[int, Meta(description="how often it has been snoozed")]
    interruptions: Annotated[int, Meta(description="how many attempts were released or interrupted")]
    tags: Annotated[list[str], Meta(description="of a workflow: what it was tagged with")]
    attributes: Annotated[dict[str, Any], Meta(description="of a workflow: texts, numbers and truths it is found by")]
    waitsFor: Annotated[str | None, Meta(description="what keeps it from starting, in words; null where nothing does")]


class UpcomingAnswer(TypedDict):
    """A window to come."""

    windowAt: Instant
    fireAt: Annotated[Instant, Meta(description="the same with jitter")]
    localTime: Annotated[str, Meta(description="what the wall clock of the schedule's zone shows")]
    note: Annotated[str | None, Meta(description="what a change of the clocks or a calendar did to it, in words")]
    excluded: NotRequired[
        Annotated[Literal[True], Meta(description="it is passed over; the note says by what. Absent where it fires")]
    ]


class RateLimitAnswer(TypedDict):
    """How many runs may start in each period."""

    limit: int
    periodMs: int


class QueueAnswer(TypedDict):
    """A queue: what limits it, and what is in it."""

    name: str
    maxRunning: int | None
    rateLimit: RateLimitAnswer | None
    fair: bool
    newestFirst: bool
    paused: bool
    pausedAt: Instant | None
    pausedReason: str | None
    pausedBy: str | None
    running: int
    waiting: Annotated[int, Meta(description="due, and not running")]
    scheduled: Annotated[int, Meta(description="not due yet")]


class QueuePage(TypedDict):
    """All queues; there is one page only."""

    items: list[QueueAnswer]
    nextCursor: None


class SchedulePage(TypedDict):
    """One page; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[ScheduleAnswer]
    nextCursor: str | None


class RunPage(TypedDict):
    """One page; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[RunAnswer]
    nextCursor: str | None


class UpcomingPage(TypedDict):
    """The next windows; there is one page only."""

    items: list[UpcomingAnswer]
    nextCursor: None


class PreviewAnswer(TimingAnswer):
    """The windows that a timing would have, and what it says in words."""

    items: list[UpcomingAnswer]
    nextCursor: None
    explanation: str


class ChangeAnswer(TypedDict):
    """One field of a schedule, before and after."""

    field: str
    old: Any
    new: Any


class AppliedAnswer(TypedDict):
    """What became of one schedule, or would."""

    key: str
    id: Annotated[str | None, Meta(description="null while it is only foretold")]
    outcome: Literal["created", "changed", "unchanged", "orphaned", "deleted"]
    changes: list[ChangeAnswer]


class ApplyAnswer(TypedDict):
    """What was done, or would be, in the order given; what was pruned comes last."""

    set: str | None
    dryRun: bool
    items: list[AppliedAnswer]


class InstanceAnswer(TypedDict):
    """A process: where it runs, what it does, and the jobs that its worker knows."""

    name: str
    host: str
    pid: int
    roles: list[str]
    version: str
    tzVersion: str
    jobs: list[str]
    startedAt: Instant
    leaseUntil: Annotated[Instant, Meta(description="it counts as dead if it has not renewed its lease by then")]
    clockOffsetMs: Annotated[int | None, Meta(description="how far the store's clock is ahead of its own")]
    leader: Annotated[bool, Meta(description="it fires, and the others stand by; false for all without an election")]
    term: Annotated[int | None, Meta(description="the term of the leader; it grows whenever the lead changes hands")]


class InstancePage(TypedDict):
    """Those that are alive; there is one page only."""

    items: list[InstanceAnswer]
    nextCursor: None


DateRangeAnswer = TypedDict("DateRangeAnswer", {"from": str, "to": str})
DateRangeAnswer.__doc__ = "All dates from one to another, both counted."


class CalendarAnswer(TypedDict):
    """Dates on which the schedules that name it do not fire."""

    id: str
    name: str
    tenantId: str | None
    description: str | None
    dates: list[str]
    ranges: list[DateRangeAnswer]
    yearly: Annotated[list[str], Meta(description="month and day, such as `12-25`")]
    revision: Annotated[int, Meta(description="the ETag; send it as If-Match")]
    createdAt: Instant
    createdBy: str | None
    updatedAt: Instant
    updatedBy: str | None


class CalendarPage(TypedDict):
    """One page; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[CalendarAnswer]
    nextCursor: str | None
