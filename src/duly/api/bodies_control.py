"""What operators may send: changes of many schedules, backfills, and the switch of the fleet."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from .bodies import WORDS, Base, Id, Instant, Line, told

Ref = Annotated[str, Meta(max_length=200, extra={WORDS: "the id or the key of a schedule"})]
Reason = Annotated[str, Meta(max_length=1000)]


class ScheduleFilterBody(Base):
    """Which schedules: those that fit all that is given."""

    enabled: Annotated[bool | UnsetType, told("Those that fire, or those that are paused.")] = UNSET
    job_type: Annotated[Line | UnsetType, told("Of this job.")] = UNSET
    owner: Id | UnsetType = UNSET
    tenant: Id | UnsetType = UNSET
    topic: Line | UnsetType = UNSET
    tag: Line | UnsetType = UNSET
    status: Literal["pending", "active", "completed", "failed", "cancelled"] | UnsetType = UNSET
    q: Annotated[Line | UnsetType, told("Name or key contains this.")] = UNSET


class BulkBody(Base):
    """One action on many schedules: those of ``ids``, those that fit a ``filter``, or ``everything``."""

    action: Literal["pause", "resume", "cancel", "delete", "trigger"]
    ids: Annotated[
        Annotated[list[Ref], Meta(min_length=1, max_length=1000)] | UnsetType,
        told("These, by id or key; the answer says what became of each."),
    ] = UNSET
    filter: Annotated[ScheduleFilterBody | UnsetType, told("Those that fit; at least one condition.")] = UNSET
    everything: Annotated[bool, told("All schedules. It must be said, so that nobody means it by mistake.")] = False
    reason: Annotated[
        Reason | UnsetType | None, told("Why they are paused; or which are resumed: those paused for exactly this.")
    ] = UNSET
    until: Annotated[Instant | UnsetType | None, told("When a pause ends by itself.")] = UNSET
    catch_up: Annotated[bool | UnsetType, told("With resume: windows that passed while paused count as missed.")] = (
        UNSET
    )
    cancel_running: Annotated[bool | UnsetType, told("With delete: also stop what is running.")] = UNSET
    force: Annotated[bool | UnsetType, told("With trigger: whatever the overlap policy says.")] = UNSET
    dry_run: Annotated[bool, told("Only tell how many there are.")] = False


class BackfillBody(Base):
    """A past range whose windows become runs, oldest first."""

    from_: Annotated[Instant, told("The first instant of the range.")] = field(name="from")
    to: Annotated[Instant, told("The last; both are counted, and neither may be to come.")]
    payload: Annotated[Any, told("Any JSON value; the schedule's own if absent.")] = UNSET
    rate_per_second: Annotated[
        float | UnsetType | None, told("How many may start in a second.", minimum=1 / 60, maximum=1000)
    ] = UNSET
    force: Annotated[bool, told("All at once, whatever the overlap policy says.")] = False
    dry_run: Annotated[bool, told("Only tell the windows.")] = False


class FiringPauseBody(Base):
    """Why nothing is to fire."""

    reason: Reason | UnsetType | None = UNSET


class FiringResumeBody(Base):
    """What becomes of windows that fell due while nothing fired."""

    backlog: Annotated[
        Literal["fire", "skip", "latest"] | UnsetType | None,
        told("By each schedule's catch-up policy (if absent), none, or the newest of each. Needed after a restore."),
    ] = UNSET
