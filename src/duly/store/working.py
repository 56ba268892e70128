"""What a store promises to the engine: to fire, to claim and settle, to keep sessions, and to keep the house."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from duly.core.audit import Ledger
from duly.core.on_event import EventHandler, Published
from duly.core.policy import Retry
from duly.core.rules.firing import FireRules
from duly.core.rules.suspects import ONE, Room
from duly.core.run import Outcome, Run, RunStatus
from duly.core.steps import Journal, Recorded

from .journal import Record
from .publishing import NewEvent
from .values import (
    NO_RETRIES,
    Beat,
    Claimed,
    Fired,
    Grab,
    Instance,
    Lease,
    NewRequest,
    Recovered,
    Report,
    Settled,
    Settlement,
    Term,
    Tried,
)


class Firing(Protocol):
    async def fire_due(
        self,
        *,
        limit: int,
        rules: FireRules,
        grab: Grab | None = None,
        expected: tuple[float, float] | None = None,
        term: Term | None = None,
        due: int | None = None,
    ) -> Fired:
        """Fire up to ``limit`` due windows in one transaction, and say when the next is due.

        With ``grab``, runs that its session could claim at once are born claimed: one transaction instead of two.
        Those of a queue with limits, or of a paused one, are not: only a claim asks whether there is room.
        Where the store's clock is not between the ``expected`` instants, it has leapt, and nothing fires. With a
        ``term`` that is not the leader's present one, nothing fires either; a change of leader waits for the fire.
        A call that comes a moment before ``due`` may wait for that instant, so that it fires then and not later.

        A schedule that cannot be planned is set aside with its error and stays due; the others fire. A StoreError says
        in ``details["tried"]`` which windows it was raised for.
        """
        ...

    async def set_aside(self, tried: Tried, error: str) -> bool:
        """Put off a schedule whose window the database itself refused, unless it has moved since; answer whether."""
        ...


class Claiming(Protocol):
    async def claim_runs(
        self,
        session: int,
        *,
        jobs: Sequence[str],
        limit: int,
        suspects: Room = ONE,
        queues: Collection[str] | None = None,
    ) -> Claimed:
        """Give a live session up to ``limit`` due runs of jobs it knows; fence and attempt grow by one.

        With ``queues``, only of those. Higher priorities go first; queues of one priority share, so that none keeps
        another waiting.

        Runs whose last attempt was lost are suspects: the session gets no more of them than it has room for. Of a
        queue with limits the whole fleet together gets no more than they allow, of a paused one nothing.
        """
        ...

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        """Write the ends of attempts in one transaction; answer the runs that were lost.

        A settlement whose (run, fence, session) no longer holds changes nothing: that attempt is a zombie. One that
        finds itself settled already was merely repeated, and is not lost.
        """
        ...

    async def settle_reported(
        self, session: int, reports: Sequence[Report], *, rules: FireRules, retries: Mapping[str, Retry] = NO_RETRIES
    ) -> Settled:
        """Settle what a session tells that is not of this process; the rest of what a settle needs is looked up."""
        ...

    async def settle_answer(
        self, run_id: str, fence: int, outcome: Outcome, *, rules: FireRules, retries: Mapping[str, Retry] = NO_RETRIES
    ) -> Settled:
        """Settle what a receiver outside says of a run whose target expects that; a stale or foreign fence is lost."""
        ...

    async def begin_answer(self, run_id: str, fence: int) -> bool:
        """Keep that a receiver has begun, so that its time counts from now; False if the fence is not the run's."""
        ...


class Stepping(Protocol):
    """The record of workflows."""

    async def record_steps(self, records: Sequence[Record]) -> list[Recorded | None]:
        """Keep what has come of runs, in one transaction; answer their new messages, None for those that were lost.

        Of a run whose cancel was asked for nothing is kept. What had ended before stays as it was recorded first.
        """
        ...

    async def read_journal(self, run_id: str) -> Journal:
        """All that is recorded of a run."""
        ...

    async def signal_run(self, run_id: str, name: str, body: str | None) -> bool:
        """Send a signal to an open run and wake it; False if there is no such run. Repeated, it is another signal."""
        ...

    async def signal_with_start(self, request: NewRequest, name: str, body: str | None) -> tuple[Run, bool]:
        """Start a run unless one of that id is there, and send it a signal, in one transaction.

        False if that run has ended, or is one of another workflow. Repeated, it is another signal to the same run.
        """
        ...

    async def cancel_softly(self, run_id: str) -> bool:
        """Tell an open run to undo what it did and to end as cancelled; False if there is no such run."""
        ...

    async def publish_event(self, event: NewEvent) -> Published:
        """Tell every run that waits for this event, and start or change those of its handlers, in one transaction.

        One whose id was published before, and is kept, does nothing.
        """
        ...

    async def put_on_event(self, jobs: Sequence[str], handlers: Sequence[EventHandler]) -> None:
        """Keep what events start of these jobs, and nothing else of them."""
        ...

    async def list_on_event(self) -> list[EventHandler]:
        """All that events start, by event and job."""
        ...

    async def end_task(self, run_id: str, position: int, *, result: str | None, error: str | None) -> bool | None:
        """End a task that somebody else did; False if it was ended before, None if no run waits for it."""
        ...

    async def read_marks(self, run_id: str) -> dict[str, str]:
        """The tags and attributes of a run, as ``core.marks`` writes them."""
        ...

    async def read_heir(self, run_id: str) -> str | None:
        """Of the runs that one has gone on as, the one that lives, or the newest; None if it has not.

        It is told of a run that was started by itself: what goes on as a child is found below its parent.
        """
        ...

    async def read_secret(self, name: str) -> str:
        """What the store alone knows, and made when it was set up: tokens are signed with it."""
        ...

    async def read_published(self, run_id: str, name: str) -> str | None:
        """What a body has shown under a name, as JSON."""
        ...


class Sessions(Protocol):
    async def open_session(self, instance: Instance, *, lease_ms: int, remote: bool = False) -> int:
        """Register an instance, and let go of runs that waited for a job it knows. Answers the store's now.

        A ``remote`` one is not of this process: what becomes of this process says nothing about it, only its lease.
        """
        ...

    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        """Extend the session's lease and answer what it holds."""
        ...

    async def close_session(self, session: int, *, started: Collection[str] = ()) -> int:
        """Give back at once what the session still holds, without spending an attempt; answer how many runs."""
        ...

    async def take_lost(
        self,
        *,
        limit: int,
        rules: FireRules,
        retries: Mapping[str, Retry] = NO_RETRIES,
        expected: tuple[float, float] | None = None,
    ) -> Recovered:
        """Settle, as lost, the runs of sessions whose lease ran out or whose process is gone, and overdue ones.

        ``retries`` are the policies of jobs, for runs whose schedule has none or that have no schedule. Where the
        store's clock is not between the ``expected`` instants, it has leapt, and nothing is taken.
        """
        ...

    async def list_instances(self) -> list[Instance]: ...

    async def take_lease(self, role: str, session: int, *, lease_ms: int, seize: bool = False) -> int | None:
        """Take or renew a role's lease; answer its term, or None while another session holds it.

        The term grows whenever the role changes hands. ``seize`` takes it from whoever holds it.
        """
        ...

    async def read_lease(self, role: str) -> Lease | None:
        """Say who holds a role, or held it last; None if nobody ever did."""
        ...

    async def release_lease(self, role: str, session: int) -> None:
        """Give up a role, if this session holds it; its term stays."""
        ...


class Keeping(Protocol):
    async def any_open(self) -> bool:
        """Whether there is a run that has not ended: where there is none, nothing is held back or unknown."""
        ...

    async def hold_unknown_jobs(self) -> Sequence[tuple[str, int]]:
        """Set aside due runs of jobs that no live instance knows; answer each such job and its runs."""
        ...

    async def end_unheard_topics(self, *, patience_ms: int, limit: int) -> Sequence[tuple[str, str]]:
        """Complete, with reason ``no_listener``, set-aside runs of topics; answer each run and its topic.

        They are those due for longer than ``patience_ms``, while workers live of which none listens to the topic.
        """
        ...

    async def purge_surplus(self, status: RunStatus, *, keep: int, limit: int) -> int:
        """Delete up to ``limit`` ended runs of a status beyond the newest ``keep``; answer how many.

        It walks over those that are kept: not to be asked for every second.
        """
        ...

    async def purge_history(
        self, *, finished_before: int, limit: int, statuses: Sequence[RunStatus] | None = None
    ) -> int:
        """Delete up to ``limit`` of the oldest ended runs, of these statuses or of all; answer how many."""
        ...

    async def purge_instances(self, *, ended_before: int, limit: int) -> int:
        """Forget sessions that ended before an instant and that no run and no attempt names; return how many.

        It looks at up to ``limit`` of them, and reads the whole history if there are any.
        """
        ...

    async def purge_schedules(self, *, ended_before: int, limit: int) -> int:
        """Delete up to ``limit`` schedules that were deleted, or one-shots that ended, before an instant."""
        ...

    async def release_stuck_lanes(self, *, limit: int) -> int:
        """Release held runs whose lane has a free place; answer how many.

        The settle that frees a place releases the next run. This finds what an edit of the policy left behind.
        """
        ...

    async def resume_expired_pauses(self, *, limit: int) -> int:
        """Resume up to ``limit`` schedules whose pause has reached its end, as of that end; answer how many."""
        ...

    async def next_pause_end(self) -> int | None:
        """Say in how many milliseconds the next pause ends, of those whose end is to come; None if there are none."""
        ...

    async def purge_keys(self, *, limit: int) -> int:
        """Forget up to ``limit`` singleton keys, unique keys and ids of events that hold nobody up; answer how many."""
        ...


class Auditing(Protocol):
    async def read_ledger(
        self,
        *,
        since: int,
        until: int,
        limit: int,
        after: str | None = None,
        ref: str | None = None,
        tenant: str | None = None,
    ) -> Ledger | None:
        """Answer what an audit of the windows from ``since`` to ``until`` must know, one page of schedules in id order.

        With ``ref`` it is about one schedule alone, also a deleted one; None if there never was such a schedule.
        """
        ...

    async def overdue(self, *, late_ms: int, limit: int) -> list[str]:
        """Name up to ``limit`` schedules whose fire has been owed for longer than that, unless all firing is stopped.

        It looks at what is due alone, so it costs the same however many are stored.
        """
        ...
