"""What a store promises to people: schedules, runs, dead letters, queues and what is done to many at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from duly.core.calendar import Calendar, Days
from duly.core.change import ScheduleChange
from duly.core.dead import AttemptRecord, DeadGroup, OnDead
from duly.core.operation import Operation
from duly.core.queue import Queue, QueueState
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.rules.replacing import Succession
from duly.core.run import Run
from duly.core.schedule import Schedule
from duly.core.switch import FiringState

from .dead import DeadFilter, DeadRef, Handled, Redrive
from .orders import NewOperation
from .seen import Minute, Outcomes
from .values import (
    Ahead,
    Matching,
    NewCalendar,
    NewRequest,
    NewSchedule,
    Page,
    Put,
    PutCalendar,
    Request,
    RunFilter,
    ScheduleFilter,
    Triggered,
)


class Schedules(Protocol):
    async def put_schedules(self, new: Sequence[NewSchedule], *, whole: bool = False) -> list[Put]:
        """Store schedules in one transaction; one that is refused does not hinder the others.

        Unless they are a ``whole``: a refusal is raised then, ``details["item"]`` is its place, and nothing is stored.

        As one owner sees it, what is more than they may have is refused with QuotaExceeded.
        """
        ...

    async def change_schedule(
        self,
        ref: str,
        change: Callable[[Schedule, int], Change | None],
        *,
        tenant: str | None = None,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
        expected: tuple[float, float] | None = None,
    ) -> Schedule | None:
        """Apply a pure change under the schedule's lock; answer the schedule after it, or None if there is none.

        ``change`` is given the schedule and the store's now. None from it means that nothing is to be changed.
        Before a new revision, windows that are due already fire under the old one, in the same transaction, unless all
        firing is stopped. Where the store's clock is not between the ``expected`` instants, it has leapt, and a new
        revision is refused with ``StoreUnavailable``.
        """
        ...

    async def replace_schedule(
        self,
        ref: str,
        new_id: str,
        succession: Callable[[Schedule, int], Succession],
        *,
        tenant: str | None = None,
    ) -> Schedule | None:
        """Put another schedule in a schedule's place, in one transaction; answer it, or None if there is no old one.

        ``succession`` is a pure function of the old schedule under its lock; ``new_id`` is the id of what it makes,
        fixed before the first try: a repeated call finds what it did.
        """
        ...

    async def get_schedule(self, ref: str, *, tenant: str | None = None) -> Schedule | None:
        """Find a schedule by id, then by key. A deleted one is not found."""
        ...

    async def read_schedules(self, ids: Sequence[str]) -> list[Schedule]:
        """Answer the schedules of these ids, in id order; deleted ones are not found, nor those nobody can read."""
        ...

    async def declared_schedules(self, app: str) -> list[Schedule]:
        """Answer every schedule whose facts name this app; deleted ones are not found."""
        ...

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        """Answer one page in id order, without payloads."""
        ...

    async def list_upcoming(
        self, *, limit: int, after: str | None = None, tenant: str | None = None, owner: str | None = None
    ) -> Page[Schedule]:
        """Answer one page of the schedules that will fire, without payloads, the next to fire first."""
        ...

    async def look_ahead(
        self,
        *,
        steps: int,
        step_ms: int,
        limit: int,
        most: int,
        tenant: str | None = None,
        owner: str | None = None,
    ) -> Ahead:
        """Count when schedules fire next, by whole steps of time from the present one on; look at some of each time.

        No more than ``limit`` are counted, the earliest, and about ``most`` looked at.
        """
        ...

    async def count_schedules(self, where: ScheduleFilter, *, limit: int) -> Matching:
        """Count those that match, up to ``limit``, and name the first."""
        ...


class Changes(Protocol):
    async def list_changes(
        self, ref: str, *, limit: int, after: int | None = None, tenant: str | None = None
    ) -> Page[ScheduleChange] | None:
        """Answer one page of a schedule's audit trail, newest first, or None if there never was such a schedule.

        The oldest entry, number 0, is the creation. A deleted schedule is found too, as long as it is kept.
        """
        ...


class Operations(Protocol):
    async def put_operation(self, new: NewOperation) -> Operation:
        """Store an operation that is to begin, or answer the one that has this id."""
        ...

    async def step_operation(
        self,
        id: str,
        *,
        limit: int,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
    ) -> Operation | None:
        """Make one step of it, dealing with up to ``limit`` schedules; None if there is no such operation.

        It may be called again until the operation has finished, by anybody, also by several at once.
        """
        ...

    async def begin_purge(
        self, ref: str, new: NewOperation, *, rules: FireRules, tenant: str | None = None
    ) -> Operation | None:
        """Delete a schedule, unless it was, and store the operation whose steps remove its runs and itself.

        None if there never was such a schedule. The steps wait for runs that are open: it has finished when nothing is
        left.
        """
        ...

    async def backfill(
        self, ref: str, new: NewOperation, *, payload: str | None, rules: FireRules, tenant: str | None = None
    ) -> Operation | None:
        """Make the runs of a past range of a schedule, without moving it; None if there is no such schedule.

        Asked for again with the same operation id, it makes nothing new. What is refused makes no run at all.
        """
        ...

    async def get_operation(self, id: str) -> Operation | None: ...

    async def list_operations(self, *, limit: int, after: str | None = None) -> Page[Operation]:
        """Answer one page, newest id first."""
        ...

    async def waiting_operations(self, *, untouched_ms: int, limit: int) -> Sequence[str]:
        """Name the operations that have not finished and that nobody has moved for so long."""
        ...

    async def purge_operations(self, *, finished_before: int, limit: int) -> int:
        """Forget up to ``limit`` operations that finished before an instant; answer how many."""
        ...


class Calendars(Protocol):
    async def put_calendar(self, new: NewCalendar, *, if_revision: int | None = None) -> PutCalendar:
        """Make the calendar of this tenant and name what is given, or leave it if it is so already.

        It holds for every window that has not fired. With ``if_revision`` one of that revision must be there, of 0
        none.
        """
        ...

    async def delete_calendar(self, name: str, *, tenant: str = "", if_revision: int | None = None) -> Calendar | None:
        """Remove a calendar, and answer what it was; CalendarInUse while schedules name it that have not ended."""
        ...

    async def get_calendar(self, name: str, *, tenant: str = "") -> Calendar | None: ...

    async def list_calendars(
        self, *, tenant: str | None = None, limit: int, after: str | None = None
    ) -> Page[Calendar]:
        """Answer one page in id order."""
        ...

    async def read_days(self, names: Collection[str], *, tenant: str = "") -> dict[str, Days]:
        """Answer the dates of those calendars that are there."""
        ...


class Switching(Protocol):
    async def firing_state(self) -> FiringState:
        """Say whether anything fires, and how far the store has come."""
        ...

    async def pause_firing(self, new: NewOperation) -> FiringState:
        """Stop all firing. Windows stay where they are, edits and triggers work, runs that exist are executed."""
        ...

    async def resume_firing(self, new: NewOperation) -> Operation:
        """Let all schedules fire again; unless the backlog is simply to fire, after steps that deal with it first."""
        ...

    async def mark_restored(self, *, epoch: int, reason: str | None, by: str | None) -> FiringState:
        """Raise the epoch, if it still is this one, and stop all firing until an operator has chosen how to go on."""
        ...

    async def notice_restore(self, state: FiringState, seen: int) -> FiringState:
        """Mark as restored a store of which somebody has ``seen`` more ticks than it has now."""
        ...

    def remember(self, state: FiringState) -> None:
        """Keep outside the store how far it has come, where there is a place for it."""
        ...


class Runs(Protocol):
    async def enqueue(self, requests: Sequence[NewRequest]) -> list[Run]:
        """Insert runs in one transaction; a run whose id exists is left as it is and answered.

        Of a ``singleton`` only so many are claimable as may run, the others wait in order; ``SingletonQueueFull`` if
        its line is full. A ``unique`` key that is in use answers the run that has it, or ``UniqueKeyInUse``. One that
        is refused refuses all: nothing is stored.
        """
        ...

    async def trigger(
        self,
        ref: str,
        *,
        run_id: str,
        payload: str | None,
        force: bool,
        rules: FireRules,
        tenant: str | None = None,
        check: Callable[[Schedule], None] | None = None,
    ) -> Triggered | None:
        """Make a manual run of a schedule without moving it; None if there is no such schedule.

        ``check`` is given the schedule under its lock before a run is made, and may raise to refuse it.

        The run id is fixed before the first try, so a repeated trigger finds the run it made.
        """
        ...

    async def request_cancel(self, run_id: str) -> Run | None:
        """End a waiting run at once, tell a running one to stop; ended runs stay as they are."""
        ...

    async def get_run(self, run_id: str) -> Run | None: ...

    async def read_traces(self, ids: Sequence[str]) -> dict[str, str]:
        """The W3C contexts in which these runs and schedules were asked for, by id; of most there is none."""
        ...

    async def list_runs(self, where: RunFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        """Answer one page, without payloads and without results of more than LONG_RESULT bytes.

        The newest is first, by the instant that a run is for, then by id: see ``core.positions``.
        """
        ...

    async def recent_outcomes(self, schedule_ids: Sequence[str], *, each: int) -> dict[str, Outcomes]:
        """Answer how the newest runs of some schedules ended, up to so many of each; of those that are found."""
        ...

    async def count_minutes(self, *, since: int, until: int, limit: int) -> list[Minute]:
        """Count the runs and skipped rows of each minute from ``since`` to ``until``, each up to ``limit``."""
        ...

    async def recent_lags(self, *, limit: int) -> list[int]:
        """Return how many ms late windows fired, of the newest ``limit`` rows those that ended at their first try.

        Rows whose chosen id lies more than a day in the future do not count as newest.
        """
        ...


class DeadLetters(Protocol):
    async def read_attempts(self, run_id: str) -> list[AttemptRecord]:
        """Return the attempts at a run in their order; of snoozed ones, the newest 20."""
        ...

    async def list_dead(self, where: DeadFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        """Answer one page of the dead letters in the order of other lists, without payloads."""
        ...

    async def find_dead(
        self, where: DeadFilter, *, died_by: int, limit: int, after: str | None = None
    ) -> Sequence[DeadRef]:
        """Answer which runs died until an instant and are dead still, oldest id first."""
        ...

    async def group_dead(self, where: DeadFilter, *, limit: int) -> list[DeadGroup]:
        """Count the dead letters by job and error, the largest group first."""
        ...

    async def redrive(self, requests: Sequence[Redrive]) -> list[Handled]:
        """Let dead runs go again in one transaction, each once however often and by how many it is asked for.

        Without a payload it is the same run, with its id and a fresh budget. With one it is a new run, and the old
        one is acknowledged and stays as it is. One that is not dead does not hinder the others.
        """
        ...

    async def acknowledge(self, dead: Sequence[DeadRef]) -> list[Handled]:
        """Take runs out of the dead letters and leave them as they are."""
        ...

    async def put_on_dead(self, jobs: Sequence[str], on_dead: Sequence[OnDead]) -> None:
        """Keep which job is told of the deaths of these jobs' runs; of a job without one, nobody is told.

        The transaction that ends a run as failed makes the run of the handler.
        """
        ...


class Queues(Protocol):
    async def change_queue(self, name: str, change: Callable[[QueueState, int], QueueState]) -> Queue:
        """Apply a pure change under the queue's lock; a queue that nobody has set up yet is given without limits.

        Claims that begin after this has answered obey it. What is running goes on, also above a limit that was lowered.
        """
        ...

    async def list_queues(self, name: str | None = None) -> list[Queue]:
        """All queues that were set up or have open runs (or the one of that name), and what is in them, by name."""
        ...

    async def adopt_fair_keys(self, *, limit: int) -> int:
        """Give their tenant's key to runs that waited in a queue when it was lately made fair; answer how many.

        Until then such runs are claimed after those that have a key.
        """
        ...


class Requests(Protocol):
    async def begin_request(self, tenant: str, key: str, hash: str, *, keep_ms: int) -> Request:
        """Write down that a request begins, and answer what is known of that key.

        It may be another request (another ``hash``), one that was answered (it has a ``status``), or this one, begun
        now or earlier. What has expired is not known any more.
        """
        ...

    async def end_request(self, request: Request, status: int, answer: str) -> None:
        """Keep what was answered; an answer that is kept already stays."""
        ...

    async def drop_request(self, request: Request) -> None:
        """Forget a request that did nothing, unless it was answered."""
        ...

    async def purge_requests(self, *, limit: int) -> int:
        """Forget up to ``limit`` requests that have expired; answer how many."""
        ...
