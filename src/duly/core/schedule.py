"""A schedule: what people name and edit (facts), what it means (definition), how far it has come (cursor).

The three parts are stored apart, because a fire must never write what people edit: it moves the cursor only.
A definition is one immutable revision; a run keeps the revision it was fired under.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from .ids import window_key
from .instants import to_datetime
from .naming import RestNames
from .outside import EXPECT_ANSWER, WEBHOOK_HANDLER, WEBHOOK_QUEUE, queue_of_target
from .policy import CatchUp, Missed, Overlap, Retry
from .sealed import read_json
from .timing import Every, Jitter, Once, Timing

if TYPE_CHECKING:
    from .run import Run

DEFAULT_QUEUE = "default"
DEFAULT_TIMEOUT_MS = 3_600_000
_CATCH_UP = CatchUp()
DEFAULT_MAX_QUEUED = 1000
"""How many runs of a schedule may wait behind a running one."""
_LANED = frozenset({Overlap.QUEUE, Overlap.CANCEL_PREVIOUS})


class ScheduleStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in _ENDED


_ENDED = frozenset({ScheduleStatus.COMPLETED, ScheduleStatus.FAILED, ScheduleStatus.CANCELLED})


class TargetKind(StrEnum):
    JOB = "job"
    WORKFLOW = "workflow"
    TOPIC = "topic"
    QUEUE = "queue"
    WEBHOOK = "webhook"


_OUTSIDE = frozenset({TargetKind.QUEUE, TargetKind.WEBHOOK})


@dataclass(frozen=True, slots=True)
class Target:
    """Where a run goes; ``spec`` is the JSON of an outside target's own settings."""

    kind: TargetKind
    name: str
    spec: str | None = None
    topic: str | None = None

    @property
    def handler(self) -> str:
        """The name under which a worker claims the runs of this target."""
        if self.kind is TargetKind.JOB:
            return self.name
        return WEBHOOK_HANDLER if self.kind is TargetKind.WEBHOOK else f"{self.kind}:{self.name}"

    @property
    def outside(self) -> bool:
        """Whether its runs are delivered, and not executed here."""
        return self.kind in _OUTSIDE

    @property
    def expects_answer(self) -> bool:
        """Whether a run ends when its receiver says so, and not when it is delivered."""
        return self.spec is not None and json.loads(self.spec).get("expect") == EXPECT_ANSWER

    @property
    def queue(self) -> str:
        """The queue in which its runs wait, unless another one was chosen."""
        if self.kind is TargetKind.WEBHOOK:
            return WEBHOOK_QUEUE
        return queue_of_target(self.name) if self.kind is TargetKind.QUEUE else DEFAULT_QUEUE


UNREAD = ""
"""The payload of a definition that was read without it."""


@dataclass(slots=True, kw_only=True)
class Definition:
    """One revision of a schedule: when, what, and under which rules. Instants in epoch ms. Never changed in place.

    Like the cursor it is not frozen, because a fire that meets a schedule for the first time builds one.
    """

    key: str
    timing: Timing
    target: Target
    payload: str = "{}"
    retry: Retry | None = None
    timeout_ms: int | None = DEFAULT_TIMEOUT_MS
    overlap: Overlap = Overlap.SKIP
    max_queued: int = DEFAULT_MAX_QUEUED
    max_concurrent: int | None = None
    catch_up: CatchUp = _CATCH_UP
    jitter: Jitter | None = None
    start_at: int | None = None
    end_at: int | None = None
    max_runs: int | None = None
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    pause_after_failures: int | None = None
    fire_current_window: bool = False
    calendars: tuple[str, ...] = ()
    exclude_dates: tuple[date, ...] = ()
    fairness_key: str | None = None
    left_to_job: int = 0  # LEFT_RETRY and LEFT_TIMEOUT: retry or timeout_ms are what was known of the job

    @property
    def excludes(self) -> bool:
        """Whether there are dates on which it does not fire."""
        return bool(self.calendars or self.exclude_dates)

    @property
    def uses_lane(self) -> bool:
        """Whether runs of this schedule may have to wait for one another."""
        return self.overlap in _LANED or self.max_concurrent is not None or self.catch_up.policy is Missed.ALL

    @property
    def has_width(self) -> bool:
        """Whether only so many runs of this schedule may be on at once."""
        return self.overlap is not Overlap.ALLOW or self.max_concurrent is not None

    @property
    def lane_width(self) -> int:
        """How many runs of the lane may be claimable or running at once."""
        return self.max_concurrent or 1 if self.overlap is Overlap.ALLOW else 1

    @property
    def counts_from_completion(self) -> bool:
        """Whether the next window is measured from the end of the run."""
        return isinstance(self.timing, Every) and self.timing.after_completion

    @property
    def end_of_run_moves_cursor(self) -> bool:
        """Whether the end of a run changes its schedule, so that the settle must hold the cursor."""
        timing = self.timing
        return (
            self.uses_lane
            or self.pause_after_failures is not None
            or type(timing) is Once
            or (type(timing) is Every and timing.after_completion)
        )

    def fire_at(self, window_at: int, next_window_at: int | None) -> int:
        """The instant at which a window is to fire: nominal plus jitter, below the next window."""
        if self.jitter is None or isinstance(self.timing, Once):
            return window_at
        return self.jitter.fire_at_ms(self.key, window_at, next_window_at)


@dataclass(slots=True, kw_only=True)
class Facts:
    """What people name, tag and pause; never written by a fire. Instants in epoch ms. Dated once, by the store."""

    id: str
    key: str
    name: str
    tenant: str = ""
    description: str | None = None
    owner: str | None = None
    correlation_id: str | None = None
    client_request_id: str | None = None
    tags: tuple[str, ...] = ()
    app: str | None = None
    revision: int = 1
    paused_at: int | None = None
    paused_until: int | None = None
    paused_by: str | None = None
    pause_reason: str | None = None
    created_at: int = 0
    created_by: str | None = None
    updated_at: int = 0
    ended_at: int | None = None
    deleted_at: int | None = None
    replaces: str | None = None
    replaced_by: str | None = None


@dataclass(slots=True)
class Cursor:
    """How far a schedule has come: the only schedule row that a fire writes. Never changed in place.

    It is not frozen because a frozen one takes three times as long to build, and every fire builds two.

    ``window_at`` is the newest window dealt with and never moves back. ``fire_at`` is None while nothing is to
    fire (paused, ended, waiting for a run to end), and then no due query sees the schedule.
    """

    schedule_id: str
    revision: int = 1
    status: ScheduleStatus = ScheduleStatus.PENDING
    window_at: int | None = None
    next_window_at: int | None = None
    fire_at: int | None = None
    slot: int = 0
    fired: int = 0
    failures: int = 0
    last_fired_at: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """When a schedule was looked at; and, where it was ``whole``, the run of its newest window as it was then."""

    at: int | None = None
    whole: bool = False
    last: Run | None = None


UNSEEN = Seen()


@dataclass(frozen=True, slots=True)
class Schedule(RestNames):
    """A schedule as people see it. Lists leave the payload out: it is None there."""

    facts: Facts
    definition: Definition
    cursor: Cursor
    seen: Seen = field(default=UNSEEN, compare=False, repr=False)

    @property
    def id(self) -> str:
        return self.facts.id

    @property
    def key(self) -> str:
        return self.facts.key

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def description(self) -> str | None:
        return self.facts.description

    @property
    def revision(self) -> int:
        return self.facts.revision

    @property
    def status(self) -> ScheduleStatus:
        return self.cursor.status

    @property
    def enabled(self) -> bool:
        return self.facts.paused_at is None

    @property
    def paused_reason(self) -> str | None:
        return self.facts.pause_reason

    @property
    def paused_until(self) -> datetime | None:
        return to_datetime(self.facts.paused_until)

    @property
    def tags(self) -> tuple[str, ...]:
        return self.facts.tags

    @property
    def metadata(self) -> dict[str, str | None]:
        facts = self.facts
        return {
            "owner_id": facts.owner,
            "tenant_id": facts.tenant or None,
            "correlation_id": facts.correlation_id,
            "client_request_id": facts.client_request_id,
        }

    @property
    def timing(self) -> Timing:
        return self.definition.timing

    @property
    def job(self) -> str | None:
        return self._target_name(TargetKind.JOB)

    @property
    def workflow(self) -> str | None:
        return self._target_name(TargetKind.WORKFLOW)

    @property
    def topic(self) -> str | None:
        return self._target_name(TargetKind.TOPIC) or self.definition.target.topic

    @property
    def payload(self) -> Any:
        return None if self.definition.payload == UNREAD else read_json(self.definition.payload)

    @property
    def retry(self) -> Retry | None:
        return self.definition.retry

    @property
    def timeout(self) -> float | None:
        """Seconds that one attempt may take, or None for no limit."""
        return None if self.definition.timeout_ms is None else self.definition.timeout_ms / 1000

    @property
    def overlap(self) -> Overlap:
        return self.definition.overlap

    @property
    def catch_up(self) -> CatchUp:
        return self.definition.catch_up

    @property
    def jitter(self) -> Jitter | None:
        return self.definition.jitter

    @property
    def calendars(self) -> tuple[str, ...]:
        """The names of the calendars on whose dates it does not fire."""
        return self.definition.calendars

    @property
    def exclude_dates(self) -> tuple[date, ...]:
        return self.definition.exclude_dates

    @property
    def queue(self) -> str:
        return self.definition.queue

    @property
    def priority(self) -> int:
        return self.definition.priority

    @property
    def next_window_at(self) -> datetime | None:
        return to_datetime(self.cursor.next_window_at)

    @property
    def next_fire_at(self) -> datetime | None:
        return to_datetime(self.cursor.fire_at)

    @property
    def last_fired_at(self) -> datetime | None:
        return to_datetime(self.cursor.last_fired_at)

    @property
    def created_at(self) -> datetime:
        return to_datetime(self.facts.created_at)

    @property
    def updated_at(self) -> datetime:
        return to_datetime(self.facts.updated_at)

    @property
    def created_by(self) -> str | None:
        return self.facts.created_by

    @property
    def replaces(self) -> str | None:
        """The id of the schedule in whose place this one was put."""
        return self.facts.replaces

    @property
    def replaced_by(self) -> str | None:
        """The id of the schedule that was put in the place of this one."""
        return self.facts.replaced_by

    @property
    def last_error(self) -> str | None:
        last = self.seen.last
        return self.cursor.error or (None if last is None else last.error_message)

    def window_key(self, window_at: int) -> str:
        return window_key(self.key, window_at)

    def _target_name(self, kind: TargetKind) -> str | None:
        target = self.definition.target
        return target.name if target.kind is kind else None
