"""What operators are answered, as types."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from .shapes import Instant


class ItemAnswer(TypedDict):
    """What became of one schedule."""

    id: Annotated[str, Meta(description="its id, or what was given where there is none")]
    outcome: Literal["changed", "unchanged", "refused", "not_found"]
    detail: Annotated[str | None, Meta(description="why it was refused")]
    runId: Annotated[str | None, Meta(description="the run that was triggered")]


class OperationAnswer(TypedDict):
    """Work in many steps: what was asked for, and how far it has come."""

    id: str
    kind: Literal["pause", "resume", "cancel", "delete", "trigger", "purge", "backfill", "pause_all", "resume_all"]
    status: Literal["running", "completed", "failed"]
    arguments: Annotated[dict[str, Any], Meta(description="what was asked for")]
    matched: Annotated[int, Meta(description="schedules looked at; windows of a backfill; runs of a purge")]
    changed: Annotated[int, Meta(description="schedules changed; runs of a backfill that have ended; runs removed")]
    refused: Annotated[int, Meta(description="schedules that could not be changed; runs of a backfill that failed")]
    error: str | None
    createdAt: Instant
    createdBy: str | None
    updatedAt: Instant
    finishedAt: Instant | None
    items: NotRequired[
        Annotated[
            list[ItemAnswer],
            Meta(description="each that was named; of a filter the first that were refused. Not in lists"),
        ]
    ]


class OperationPage(TypedDict):
    """One page; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[OperationAnswer]
    nextCursor: str | None


class MatchingAnswer(TypedDict):
    """How many schedules it would be."""

    dryRun: Literal[True]
    matched: Annotated[int, Meta(description="counted up to 10,000")]
    more: Annotated[bool, Meta(description="whether there are more than that")]
    keys: Annotated[list[str], Meta(description="the first of them")]


class FieldChangeAnswer(TypedDict):
    """One field, before and after; without values where they are too large, or secret."""

    field: str
    old: NotRequired[Any]
    new: NotRequired[Any]


class ScheduleChangeAnswer(TypedDict):
    """One entry of the audit trail."""

    number: Annotated[int, Meta(description="from 0, which is the creation")]
    at: Instant
    by: str | None
    action: Literal["create", "edit", "pause", "resume", "cancel", "delete", "reschedule"]
    revision: int
    fields: list[FieldChangeAnswer]


class ScheduleChangePage(TypedDict):
    """One page, newest first; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[ScheduleChangeAnswer]
    nextCursor: str | None


class ComingAnswer(TypedDict):
    """The next window of a schedule."""

    scheduleId: str
    key: str
    name: str
    jobType: str
    timezone: str
    windowAt: Instant
    fireAt: Annotated[Instant, Meta(description="the same with jitter")]
    localTime: Annotated[str, Meta(description="what the wall clock of the schedule's zone shows")]
    note: str | None
    excluded: Annotated[bool, Meta(description="it is passed over; the note says by what")]
    health: Annotated[Literal["on_time", "late", "overdue"], Meta(description="whether it should have fired already")]


class ComingPage(TypedDict):
    """One page, what fires first first; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[ComingAnswer]
    nextCursor: str | None


class LateAnswer(TypedDict):
    """A schedule that should have fired, and the oldest window that it owes."""

    scheduleId: str
    key: str
    name: str
    jobType: str
    timezone: str
    health: Annotated[
        Literal["on_time", "late", "overdue"], Meta(description="`overdue` where it is later than `catch_up_grace`")
    ]
    windowAt: Instant
    fireAt: Annotated[Instant, Meta(description="the same with jitter")]
    lateMs: Annotated[int, Meta(description="how long ago it should have fired")]
    windowsOwed: Annotated[int, Meta(description="how many of its windows have come since, this one counted")]
    lastFiredAt: Instant | None


class LatePage(TypedDict):
    """One page, the latest first; ``nextCursor`` asks for the next one, and is null on the last."""

    items: list[LateAnswer]
    nextCursor: str | None


class RecentAnswer(TypedDict):
    """What became of the runs and windows since an instant."""

    since: Annotated[Instant, Meta(description="later than asked for where there were more than 10,000: the newest")]
    fired: Annotated[int, Meta(description="all that were not skipped, ended or not")]
    completed: int
    failed: int
    cancelled: int
    skipped: Annotated[int, Meta(description="windows")]
    missed: Annotated[int, Meta(description="those of the skipped that nobody fired in time")]


class StatsAnswer(TypedDict):
    """How it all fares. Counts stop at 10,000."""

    at: Instant
    due: Annotated[int, Meta(description="schedules whose window is due and has not fired")]
    late: Annotated[int, Meta(description="those of them that are overdue by more than two seconds")]
    ready: Annotated[int, Meta(description="runs that could start now")]
    queued: Annotated[int, Meta(description="runs that wait for another of their schedule")]
    running: int
    unknownJob: Annotated[int, Meta(description="runs of jobs that no live worker knows")]
    dead: Annotated[int, Meta(description="dead letters")]
    firingPaused: bool
    lastHour: RecentAnswer
    lastDay: RecentAnswer


class DeadGroupAnswer(TypedDict):
    """Dead letters of one job with one error: one exception type from one line, or one text where no line is known."""

    jobType: str
    error: Annotated[str, Meta(description="of the newest one, its first 200 characters")]
    errorType: Annotated[str | None, Meta(description="what was raised; null where no line is known")]
    errorLocation: Annotated[str | None, Meta(description="the line of the app that raised it")]
    count: int
    firstAt: Instant
    lastAt: Instant
    lastRunId: str


class DeadGroupPage(TypedDict):
    """The largest groups first; there is one page only."""

    items: list[DeadGroupAnswer]
    nextCursor: None


class FiringAnswer(TypedDict):
    """Whether anything fires; if not, since when, by whom and why."""

    paused: bool
    pausedAt: Instant | None
    by: str | None
    reason: str | None
    restoredAt: Annotated[Instant | None, Meta(description="set until somebody has chosen what becomes of the backlog")]
    epoch: Annotated[int, Meta(description="rises with each restore from a backup")]
