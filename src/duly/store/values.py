"""What goes into and comes out of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from duly.core.calendar import Calendar, Days
from duly.core.errors import DulyError
from duly.core.lane import Singleton, Unique
from duly.core.marks import Wanted
from duly.core.policy import Retry
from duly.core.rules.forecasting import Stratum
from duly.core.run import Claim, Outcome, Run, RunStatus, SkippedWindows
from duly.core.schedule import Definition, Facts, Schedule

from .load import Load

Item = TypeVar("Item")
NO_RETRIES: Mapping[str, Retry] = MappingProxyType({})


@dataclass(slots=True, kw_only=True)
class NewSchedule:
    """A schedule to be stored: its id is fixed before the first try, its first window is found by the store's clock.

    Like what it holds it is never changed in place, and not frozen because many are made at once.
    """

    facts: Facts
    definition: Definition
    trace: str | None = None


Put = Schedule | DulyError
"""What became of one new schedule: itself, or why it was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """A run asked for directly. ``run_at`` None means now, by the store's clock; ``owner`` is whose run it is."""

    id: str
    job: str
    payload: str
    queue: str
    max_attempts: int
    run_at: int | None = None
    priority: int = 0
    timeout_ms: int | None = None
    tenant: str = ""
    fairness_key: str | None = None
    owner: str | None = None
    singleton: Singleton | None = None
    unique: Unique | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    """Tags and attributes that it is found by, as ``core.marks`` writes them."""
    trace: str | None = None
    left_to_job: int = 0
    given_id: str | None = None
    """The id as the caller gave it, for a repeat; not stored. None where it is ``id``."""

    @property
    def realm(self) -> tuple[str, str]:
        """Within which its keys are one: its tenant and its owner."""
        return self.tenant, self.owner or ""

    @property
    def guarded(self) -> bool:
        """Whether other runs decide if, or when, this one may be."""
        return self.singleton is not None or self.unique is not None


@dataclass(frozen=True, slots=True)
class Grab:
    """Free places of a worker beside the scheduler: runs of these jobs may be born in its hands."""

    session: int
    jobs: frozenset[str]
    places: int


LEADER = "scheduler"
"""The role whose holder fires, where one leader does."""


class Term(NamedTuple):
    """The right of a session to fire: its number grows whenever the lead changes hands."""

    session: int
    number: int


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a role, under which term and until when."""

    session: int
    term: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """A schedule whose window could not be planned: it stays due and is tried again later."""

    schedule_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Tried:
    """A window that a fire had in hand: its schedule, and when it was to fire."""

    schedule_id: str
    fire_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What one fire did, and when the next one is due.

    ``claims`` were born in the hands of the session that asked; ``skips`` are windows that were dropped; ``cancels``
    counts the running runs that were asked to stop. ``deposed``: nothing was fired, because the term is not the present
    one.
    """

    now: int
    windows: int = 0
    runs: int = 0
    skipped: int = 0
    duplicates: int = 0
    cancels: int = 0
    claims: Sequence[Claim] = ()
    lateness_ms: Sequence[int] = ()
    set_aside: Sequence[SetAside] = ()
    skips: Sequence[SkippedWindows] = ()
    next_fire_at: int | None = None
    more: bool = False
    deposed: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """The runs a session now holds. ``alive`` is False when the session was declared dead: open a new one.

    ``next_due_at`` is when there may be more. ``held_back`` are queues that run as many as they may: there is more as
    soon as one of those ends.
    """

    now: int
    claims: Sequence[Claim]
    alive: bool = True
    next_due_at: int | None = None
    held_back: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Settlement:
    """How an attempt ended, with the fence and session that guard the write; no session: it was outside."""

    claim: Claim
    session: int | None
    outcome: Outcome
    retry: Retry
    max_interruptions: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """How an attempt ended, as a worker tells it that knows of the run its id and its fence only.

    ``retry`` is the policy of its job, where the worker knows one; one that was chosen for a schedule comes before it.
    ``max_attempts`` is how often the job may be tried, where nobody chose that for the run.
    """

    run_id: str
    fence: int
    outcome: Outcome
    retry: Retry | None = None
    max_attempts: int | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """What the settle made of it. A lost run belongs to a newer attempt: nothing was changed.

    ``interruptions`` has the runs that were interrupted, each with how often that has happened so far.
    """

    now: int
    ended: dict[str, RunStatus] = field(default_factory=dict)
    lost: Sequence[str] = ()
    released: int = 0
    interruptions: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One process as the store knows it; ``session`` is a random 63-bit number, never used twice.

    ``skew_ms`` is how far the store's clock is ahead of the process's own, as far as it has been measured.
    """

    session: int
    name: str
    host: str
    pid: int
    roles: tuple[str, ...]
    version: str
    tz_version: str
    jobs: tuple[str, ...] = ()
    started_at: int = 0
    expires_at: int = 0
    skew_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LostInstance:
    """An instance that was declared dead: its lease ran out, or its process is gone."""

    session: int
    name: str
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class Held:
    """A run that the store thinks a session holds."""

    id: str
    fence: int
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Beat:
    """The answer to a heartbeat. ``alive`` is False when the session was declared dead; it is never revived."""

    now: int
    alive: bool
    held: Sequence[Held] = ()


@dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery took from the dead and the overdue; nothing where the store's clock had ``leapt``."""

    now: int
    instances: Sequence[LostInstance] = ()
    runs: Sequence[str] = ()
    ended: dict[str, RunStatus] = field(default_factory=dict)
    more: bool = False
    leapt: bool = False

    @property
    def sessions(self) -> Sequence[int]:
        return [instance.session for instance in self.instances]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCalendar:
    """What a calendar is to be; ``id`` is the one it gets if it is new, fixed before the first try."""

    id: str
    name: str
    days: Days
    tenant: str = ""
    description: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class PutCalendar:
    """What became of a calendar that was put."""

    calendar: Calendar
    created: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list; ``next_cursor`` is None on the last one."""

    items: list[Item]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFilter:
    tenant: str | None = None
    owner: str | None = None
    job: str | None = None
    topic: str | None = None
    tag: str | None = None
    status: str | None = None
    enabled: bool | None = None
    app: str | None = None
    q: str | None = None


@dataclass(frozen=True, slots=True)
class Matching:
    """How many schedules match a filter, or ``more``; and the keys of the first."""

    count: int
    more: bool = False
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """What became of runs and windows whose instant is not before ``since``; the newest, where there are many.

    ``fired`` are all that were not skipped, ended or not; ``missed`` those skipped because nobody fired them in time.
    """

    since: int
    fired: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    skipped: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How the store fares: what there is to do, what is wrong, and what was done lately. Counts stop at a limit."""

    now: int
    load: Load
    late: int
    dead: int
    hour: Recent
    day: Recent


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """When schedules fire next: ``counted`` for each step of time from ``since`` on, and some of them for each time.

    ``whole`` is False where there are more than were counted; the last steps are then too low.
    """

    since: int
    step_ms: int
    counted: tuple[int, ...]
    strata: tuple[Stratum, ...]
    whole: bool


LONG_RESULT = 4096
"""Bytes of a result, as it is stored, that a list still carries; of a longer one only the run itself tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    tenant: str | None = None
    owner: str | None = None
    schedule_id: str | None = None
    job: str | None = None
    status: RunStatus | None = None
    workflow: str | None = None
    """The handler's name without a version: all versions."""
    marks: tuple[Wanted, ...] = ()
    """What the marks of a run must be; all of it."""


@dataclass(frozen=True, slots=True)
class Triggered:
    """The run a trigger made, or the one an earlier try of the same trigger made."""

    run: Run
    created: bool


@dataclass(frozen=True, slots=True)
class Request:
    """A request that came with a key of the client's own; without a status its outcome is not known yet."""

    tenant: str
    key: str
    hash: str
    expires_at: int
    status: int | None = None
    answer: str | None = None
