"""The settle: attempts end, and only the newest attempt can end a run.

Every write is guarded by (run, fence, session) and the guard locks the run's row. A run that awaits an answer from
outside is in nobody's hands: there the session is None, and the guard asks for that hold. Where the end of a run moves
its schedule (a lane, a one-shot, a failure count, an interval measured from completion) the cursor is locked first, in
id order: a fire that sees the run still open holds its new run before we look for runs to release, so no wake-up is
lost.
The lane of a singleton key is locked likewise, after the cursors. Of children, the runs that hear of their end are
locked with all others of the batch, in id order: else two who end each other's children wait in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from duly.core.failure import ErrorReport
from duly.core.rules.settling import MAX_SNOOZED_RECORDS, Again, Finish, limit_interruptions
from duly.core.rules.settling import settle as decide
from duly.core.run import (
    Cancelled,
    Completed,
    Continued,
    Dispatched,
    Failed,
    Hold,
    Interrupted,
    Lost,
    Outcome,
    Reason,
    Released,
    RunKind,
    RunStatus,
    Snoozed,
    Suspended,
)
from duly.store.statements import Program, Query, batch, columns, group, query
from duly.store.values import Settled, Settlement

from .dying import Death, tell_of_deaths
from .inheriting import inherit
from .lanes import lock_lanes, release_lines
from .moving import Ended, FiredUnder, lock_cursors, move_schedules
from .stepping import tell_parents

GUARD = ("id", "fence", "session")
FINISH = (*GUARD, "max_attempts", "status", "reason", "error", "result")
RETURN = (*GUARD, "max_attempts", "due_at", "attempt", "hold")
RETURNED_AT_ONCE = 100
"""Runs of one statement that gives runs back: a planner that is misled may compare each with each."""
_HOLD = {True: int(Hold.SUSPECT), False: int(Hold.NONE), None: None}
_STATUS = {status.value: status for status in RunStatus}
NEVER = 253_402_300_799_000
"""When a run is due that waits for a message alone: at the end of the calendar."""
ATTEMPT = (
    "run_id", "fence", "attempt", "outcome", "error", "started_at", "ended_at", "session", "error_type",
    "error_location", "stack", "stack_truncated",
)  # fmt: skip


def settle(now: int, settlements: Sequence[Settlement]) -> Program[Settled]:
    """Write the ends of attempts; see ``Claiming.settle``."""
    if len({s.claim.id for s in settlements}) == len(settlements):
        return (yield from _settle(now, settlements))
    # Two attempts at one run in one batch: one of them is a zombie, and must not borrow the other's guard.
    ended: dict[str, RunStatus] = {}
    lost: list[str] = []
    released = 0
    interruptions: dict[str, int] = {}
    for settlement in settlements:
        settled = yield from _settle(now, [settlement])
        ended |= settled.ended
        lost += settled.lost
        released += settled.released
        interruptions |= settled.interruptions
    return Settled(now, ended, lost, released, interruptions)


def _settle(now: int, settlements: Sequence[Settlement]) -> Program[Settled]:
    known = _revisions(settlements)
    moving = {id for id, fired in known.items() if fired.definition.end_of_run_moves_cursor}
    # A redriven run has a lane also where its schedule has none: those that wait behind it are released by its end.
    moving |= {s.claim.schedule_id for s in settlements if s.claim.lane is not None and s.claim.schedule_id is not None}
    cursors = yield from lock_cursors(sorted(moving))
    lanes = {s.claim.lane for s in settlements if s.claim.lane is not None and s.claim.schedule_id is None}
    # Before the runs, as those who cancel do; and before the look at who waits, or a wake-up is lost.
    locked = (yield from lock_lanes(lanes)) if lanes else []
    children = [s.claim.id for s in settlements if s.claim.kind == RunKind.CHILD]
    first = [query("lock_families", ids=sorted(s.claim.id for s in settlements))] if children else []
    done = [s for s in settlements if type(s.outcome) is Completed]
    other = [s for s in settlements if type(s.outcome) is not Completed]
    ended: dict[str, RunStatus] = {}
    returned: set[str] = set()
    told = 0
    interruptions: dict[str, int] = {}
    if done:
        ended |= yield from _complete(now, done, first)
    if other:
        written = yield from _decide_and_write(now, other, () if done else first)
        ended |= written.ended
        returned, interruptions = written.returned, written.interruptions
        told = (yield from tell_of_deaths(now, written.deaths)) if written.deaths else 0
        told += sum(_goes_on(s, ended.get(s.claim.id)) for s in other)
    missing = [s for s in settlements if s.claim.id not in ended and s.claim.id not in returned]
    lost = (yield from _really_lost(missing)) if missing else []
    released = 0
    if cursors:
        ends = [
            Ended(s.claim.schedule_id, s.claim.kind, ended[s.claim.id])
            for s in settlements
            if s.claim.id in ended and s.claim.schedule_id is not None and not _goes_on(s, ended[s.claim.id])
        ]
        released = yield from move_schedules(now, ends, cursors, known)
    if locked:
        released += yield from release_lines(locked)
    if any(id in ended for id in children):
        released += yield from tell_parents(now, [id for id in children if id in ended])
    return Settled(now, ended, lost, released + told, interruptions)


def _goes_on(settlement: Settlement, status: RunStatus | None) -> bool:
    """Whether the end of a run is none to its schedule: another one has taken its place."""
    return status is RunStatus.COMPLETED and isinstance(settlement.outcome, Continued)


def _complete(now: int, done: Sequence[Settlement], first: Sequence[Query]) -> Program[dict[str, RunStatus]]:
    """The common end, in one statement: guard, remove from runs, append to history.

    It applies the first row of ``rules.settling``: completed, or cancelled if a cancel was asked for meanwhile.
    """
    completing = batch(
        "complete_runs",
        {
            "id": [s.claim.id for s in done],
            "fence": [s.claim.fence for s in done],
            "session": [s.session for s in done],
            "result": [s.outcome.result for s in done],  # type: ignore[union-attr]  # all are Completed
            "reason": [s.outcome.reason and s.outcome.reason.value for s in done],  # type: ignore[union-attr]
        },
        now=now,
    )
    rows = (yield group(*first, completing))[-1] if first else (yield completing)
    return {id: _STATUS[status] for id, status in rows}


@dataclass(frozen=True, slots=True)
class _Written:
    """What a settle wrote: the runs that ended, that are pending again, that died, and how often each interrupted run
    has been interrupted so far."""

    ended: dict[str, RunStatus]
    returned: set[str]
    deaths: list[Death]
    interruptions: dict[str, int]


def _decide_and_write(now: int, other: Sequence[Settlement], first: Sequence[Query]) -> Program[_Written]:
    """Lock each run, ask the pure rule, and write what it decides."""
    guards = [(s.claim.id, s.claim.fence, s.session) for s in other]
    rows = (yield group(*first, batch("lock_runs", columns(GUARD, guards))))[-1]
    locked = {row[0]: row for row in rows}
    sleepers = [s.claim.id for s in other if isinstance(s.outcome, Suspended) and s.claim.id in locked]
    # Under the lock of the run: what comes in later wakes it, what came in before is seen here.
    tops = dict((yield query("unread_tops", ids=sleepers))) if sleepers else {}
    stopped = [s.claim.id for s in other if _may_interrupt(s.outcome) and s.claim.id in locked]
    interruptions = dict((yield query("count_interruptions", ids=stopped))) if stopped else {}
    verdicts = _Verdicts(now, tops, interruptions)
    for settlement in other:
        if settlement.claim.id in locked:
            verdicts.add(settlement, *locked[settlement.claim.id][1:])
    return (yield from verdicts.write())


def _may_interrupt(outcome: Outcome) -> bool:
    return isinstance(outcome, Interrupted | Cancelled) or (isinstance(outcome, Released) and outcome.started)


class _Verdicts:
    """What one settle is going to write of runs that did not simply complete."""

    def __init__(self, now: int, tops: Mapping[str, int], interruptions: Mapping[str, int]) -> None:
        self._now = now
        self._tops = tops
        self._before = interruptions
        self._interruptions: dict[str, int] = {}
        self._snoozed: list[str] = []
        self._finishes: list[tuple[Any, ...]] = []
        self._returns: list[tuple[Any, ...]] = []
        self._attempts: list[tuple[Any, ...]] = []
        self._deaths: list[Death] = []
        self._heirs: list[tuple[str, Continued]] = []

    def add(
        self, s: Settlement, attempt: int, max_attempts: int, cancel_at: int | None, started_at: int | None
    ) -> None:
        """Decide about one run, as it is under its lock; it keeps the number of attempts that was decided by."""
        id, fence = s.claim.id, s.claim.fence
        if s.claim.granted == max_attempts:  # else somebody has changed it meanwhile
            max_attempts = s.claim.max_attempts
        verdict = decide(
            s.outcome,
            run_id=id,
            attempt=attempt,
            max_attempts=max_attempts,
            retry=s.retry,
            cancel_requested=cancel_at is not None,
        )
        if isinstance(verdict, Again) and verdict.is_interruption and s.claim.kind:
            before = self._before.get(id, 0)
            self._interruptions[id] = before + 1
            verdict = limit_interruptions(verdict, before, s.max_interruptions)
        if isinstance(verdict, Finish):
            if not s.claim.kind:
                return  # a leaked claim knows nothing of its schedule; recovery does, and ends the run
            self._finish(s, verdict, attempt, max_attempts)
        else:
            spent = attempt if verdict.spends_attempt else attempt - 1
            self._returns.append((id, fence, s.session, max_attempts, *self._place(s, verdict, spent)))
        if verdict.recorded:
            tried = (attempt, verdict.outcome, verdict.error, started_at, self._now)
            self._attempts.append((id, fence, *tried, s.session, *_reported(s.outcome)))
            if isinstance(s.outcome, Snoozed):
                self._snoozed.append(id)

    def _finish(self, s: Settlement, verdict: Finish, attempt: int, max_attempts: int) -> None:
        reason = verdict.reason and verdict.reason.value
        guard = (s.claim.id, s.claim.fence, s.session)
        self._finishes.append((*guard, max_attempts, verdict.status.value, reason, verdict.error, verdict.result))
        if isinstance(s.outcome, Continued) and verdict.status is RunStatus.COMPLETED:
            self._heirs.append((s.claim.id, s.outcome))
        if verdict.status is RunStatus.FAILED:
            report = s.outcome.report if isinstance(s.outcome, Failed) else None
            self._deaths.append(Death(s.claim, attempt, reason, verdict.error, report))

    def _place(self, s: Settlement, verdict: Again, spent: int) -> tuple[int, int, int | None]:
        """When a run that goes again is due, the attempts it has spent, and what it waits for."""
        if isinstance(s.outcome, Dispatched):
            due_at = NEVER if s.claim.timeout_ms is None else self._now + s.claim.timeout_ms
            return due_at, spent, int(Hold.OUTSIDE)
        if isinstance(s.outcome, Suspended) and self._tops.get(s.claim.id, 0) <= s.outcome.seen:
            return NEVER if s.outcome.wake_at is None else s.outcome.wake_at, spent, int(Hold.SIGNAL)
        return self._now + verdict.after_ms, spent, _HOLD[verdict.suspect]

    def write(self) -> Program[_Written]:
        ended: dict[str, RunStatus] = {}
        if self._heirs:  # while what they inherit is there
            yield from inherit(self._now, self._heirs)
        if self._finishes:
            rows = yield batch("finish_runs", columns(FINISH, self._finishes), now=self._now)
            ended = {id: _STATUS[status] for id, status in rows}
        returned: set[str] = set()
        if self._returns:
            starts = range(0, len(self._returns), RETURNED_AT_ONCE)
            parts = [self._returns[start : start + RETURNED_AT_ONCE] for start in starts]
            answers = yield group(*(batch("return_runs", columns(RETURN, part)) for part in parts))
            returned = {row[0] for rows in answers for row in rows}
        if self._attempts:
            insert = batch("insert_attempts", columns(ATTEMPT, self._attempts))
            prune = [query("prune_snoozed", ids=self._snoozed, keep=MAX_SNOOZED_RECORDS)] if self._snoozed else []
            yield group(insert, *prune)
        deaths = [death for death in self._deaths if death.claim.id in ended]
        return _Written(ended, returned, deaths, self._interruptions)


_NO_REPORT = ErrorReport()


def _reported(outcome: Outcome) -> tuple[str | None, str | None, str | None, bool | None]:
    """Type, location and stack of the exception that ended an attempt, and whether the stack was cut."""
    report = (outcome.report if isinstance(outcome, Failed) else None) or _NO_REPORT
    return report.type, report.location, report.stack, report.truncated if report.stack is not None else None


def _really_lost(missing: Sequence[Settlement]) -> Program[list[str]]:
    """Tell zombies from repeats: a settlement that finds what it would have written was kept the first time."""
    guards = [(s.claim.id, s.claim.fence, s.session) for s in missing]
    stopped = [guard for s, guard in zip(missing, guards, strict=True) if isinstance(s.outcome, Interrupted)]
    # The run was declared lost while its process could not reach the store: the process knows better.
    correct = [batch("correct_lost_attempts", columns(GUARD, stopped))] if stopped else []
    rows = (yield group(*correct, batch("settled_already", columns(GUARD, guards))))[-1]
    left = {row[0]: row[1:] for row in rows}
    return [s.claim.id for s in missing if s.claim.id not in left or not wrote(s.outcome, *left[s.claim.id])]


def wrote(outcome: Outcome, mark: str, word: str | None, reason: str | None) -> bool:
    """Whether what is left of an attempt is what this outcome leaves; if not, recovery closed its fence before."""
    if isinstance(outcome, Dispatched):
        return True  # the answer came before the dispatch was written, or the dispatch was written before
    if mark == "returned":
        return isinstance(outcome, Cancelled | Released | Snoozed | Suspended)
    if mark == "tried" and word is not None and word in _RECORDED_AS:
        return isinstance(outcome, _RECORDED_AS[word])
    if mark == "ended" and word == RunStatus.CANCELLED:
        return True
    match outcome:
        case Completed() | Continued():
            return word == RunStatus.COMPLETED
        case Failed(fatal=fatal, timed_out=timed_out):
            if mark == "tried":
                return not fatal and word == ("timed_out" if timed_out else "failed")
            if word != RunStatus.FAILED or reason in (Reason.LOST, Reason.INTERRUPTED):
                return False
            return reason != Reason.TIMEOUT or timed_out
        case Lost():
            return word == "lost" if mark == "tried" else reason == Reason.LOST
        case Released(started=True) | Interrupted():
            return reason == Reason.INTERRUPTED or (isinstance(outcome, Interrupted) and reason == Reason.LOST)
        case Cancelled() | Released() | Snoozed() | Suspended():
            return False
        case unknown:
            assert_never(unknown)


_RECORDED_AS: Mapping[str, Any] = {
    "released": Released | Cancelled,
    "interrupted": Interrupted,
    "snoozed": Snoozed,
}
"""Which outcomes leave which record, where the name alone says it."""


def _revisions(settlements: Sequence[Settlement]) -> dict[str, FiredUnder]:
    return {
        s.claim.schedule_id: FiredUnder(s.claim.revision, s.claim.definition)
        for s in settlements
        if s.claim.definition is not None and s.claim.schedule_id is not None
    }
