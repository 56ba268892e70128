"""What an audit is given and what it answers: the windows of schedules, compared with the rows they left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from .errors import DulyError
from .ids import window_key
from .instants import to_datetime
from .schedule import Definition, ScheduleStatus


class Fault(StrEnum):
    """What an audit finds wrong with a window.

    ``missed``: its time has come, and no row says what became of it. ``doubled``: more than one does. ``unexplained``:
    a row is there for a window that the schedule did not have. ``late``: it fired, or has still to, beyond the bound.
    ``early``: it fired before its time.
    """

    MISSED = "missed"
    DOUBLED = "doubled"
    UNEXPLAINED = "unexplained"
    LATE = "late"
    EARLY = "early"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Neighbouring windows of one schedule with the same fault, from ``since`` to ``window_at``. Epoch ms inside."""

    fault: Fault
    schedule_id: str
    key: str
    at: int
    detail: str
    since_ms: int
    windows: int = 1
    tenant: str = ""
    run_id: str | None = None

    @property
    def window_at(self) -> datetime:
        return to_datetime(self.at)

    @property
    def since(self) -> datetime:
        return to_datetime(self.since_ms)

    @property
    def window_key(self) -> str:
        return window_key(self.key, self.at)


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Windows about which an audit can say nothing, and why; without a schedule it is about all of them."""

    why: str
    schedule_id: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The answer of an audit. ``windows`` counts those that were expected, ``rows`` those that were looked at."""

    since: datetime
    until: datetime
    schedules: int = 0
    windows: int = 0
    rows: int = 0
    findings: Sequence[Finding] = ()
    not_judged: Sequence[NotJudged] = ()
    next_cursor: str | None = None

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class WindowRow:
    """What is stored of a window, or of a range of them that was skipped: then ``since`` is the oldest."""

    id: str
    revision: int
    window_at: int
    since: int | None
    windows: int | None
    fired_at: int
    finished_at: int | None
    status: str | None

    @property
    def skipped(self) -> bool:
        return self.status == "skipped"

    @property
    def oldest(self) -> int:
        return self.window_at if self.since is None else self.since


@dataclass(frozen=True, slots=True)
class RevisionMade:
    """A revision, when it was made, and what it says if this version can read it."""

    number: int
    made_at: int
    definition: Definition | DulyError


@dataclass(frozen=True, slots=True)
class Switched:
    """A schedule was paused or resumed. ``goes_on_from`` is the window of the past that a resume went back to.

    ``as_of`` is the end that a pause had reached before somebody noticed.
    """

    at: int
    enabled: bool
    goes_on_from: int | None = None
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """From when to when nothing fired, because somebody had stopped all firing; None is until now."""

    since: int
    until: int | None


@dataclass(slots=True, kw_only=True)
class Life:
    """Everything that is stored about the life of one schedule, as far as its windows go."""

    schedule_id: str
    key: str
    tenant: str
    created_at: int
    paused_at: int | None
    ended_at: int | None
    status: ScheduleStatus
    window_at: int | None
    next_window_at: int | None
    fire_at: int | None
    fired: int
    error: str | None
    revisions: list[RevisionMade] = field(default_factory=list)
    switches: list[Switched] = field(default_factory=list)
    rows: list[WindowRow] = field(default_factory=list)
    busy: bool = False
    """Whether a run is open that is no window's: triggered, or of a backfill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The lives of one page of schedules, and what holds for all of them. ``next`` is where the next page begins.

    ``purged_before``: a window before it may have had a row that retention has deleted. ``going``: schedules that
    are being removed with all that they left.
    """

    now: int
    stops: Sequence[Stop] = ()
    purged_before: int | None = None
    going: frozenset[str] = frozenset()
    lives: Sequence[Life] = ()
    next: str | None = None
