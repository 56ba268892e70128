"""Dead letters: runs that failed for good are looked at, go again, or are laid to rest.

A redrive without a payload takes the run back from the history: its id, and with it what its handler uses to do
things once, stays the same. Its fence goes on from where it was, so no attempt from before can end it. With another
payload it is other work: a new run is made, whose id is a function of the death, and the old one stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from duly.core.dead import AttemptRecord, DeadGroup
from duly.core.failure import AttemptError, message_of
from duly.core.ids import redrive_run_id
from duly.core.instants import to_datetime
from duly.core.policy import Overlap
from duly.core.rules.overlap import Admission, admit_redriven
from duly.core.run import Hold, NewRun, OpenRun, Reason, RunKind, RunStatus
from duly.core.schedule import Cursor, Definition
from duly.core.sealed import is_sealed
from duly.core.steps import WORKFLOW
from duly.store.dead import DeadFilter, DeadRef, Done, Handled, Redrive
from duly.store.narrowing import owned
from duly.store.statements import Program, batch, columns, group, query

from .definitions import Definitions, Known
from .firing import NEW_RUN, new_run_row
from .lanes import Entrance, close_entrances, rejoin
from .moving import lock_cursors, open_runs_of
from .runs import find_run
from .stepping import tell_parents

SEALED_STACK = "(sealed: no key here can read it)"
REVIVED = ("id", "fence", "slot", "hold", "lane")
REDRIVEN = ("run_id", "fence", "redriven_by", "made_run")


class _Dead(NamedTuple):
    """A failed run, as ``lock_dead`` answers it."""

    id: str
    fence: int
    schedule_id: str | None
    revision: int | None
    kind: str
    window_at: int | None
    tenant: str
    job: str
    queue: str
    priority: int
    max_attempts: int
    timeout_ms: int | None
    finished_at: int
    payload: str | None
    acked_at: int | None
    reason: str | None
    lane: str | None

    @property
    def scheduled_at(self) -> int:
        return self.finished_at if self.window_at is None else self.window_at


def read_attempts(run_id: str) -> Program[list[AttemptRecord]]:
    rows = yield owned("read_attempts", id=run_id)
    return [
        AttemptRecord(
            attempt_number=attempt,
            outcome=outcome,
            error_message=error,
            started_at=to_datetime(started_at),
            ended_at=to_datetime(ended_at),
            instance=instance,
            error=None if error is None else _error(error, *reported),
            fence=fence,
            snoozes=snoozes,
        )
        for attempt, outcome, error, started_at, ended_at, instance, fence, snoozes, *reported in rows
    ]


def _error(error: str, type: str | None, location: str | None, stack: str | None, cut: bool | None) -> AttemptError:
    shown = SEALED_STACK if stack is not None and is_sealed(stack) else stack
    return AttemptError(type=type, message=message_of(error, type), stack=shown, truncated=bool(cut))


def find_dead(now: int, where: DeadFilter, died_by: int, limit: int, after: str | None) -> Program[list[DeadRef]]:
    rows = yield owned("find_dead", **asdict(where), died_by=died_by, after=after, limit=limit)
    return [DeadRef(*row) for row in rows]


def group_dead(now: int, where: DeadFilter, limit: int) -> Program[list[DeadGroup]]:
    rows = yield owned("group_dead", **asdict(where), limit=limit)
    return [
        DeadGroup(
            job=job,
            error=error,
            count=count,
            first_died_at=to_datetime(first),
            last_died_at=to_datetime(last),
            newest_run_id=newest,
            error_type=type,
            error_location=location,
        )
        for job, error, count, first, last, newest, type, location in rows
    ]


def acknowledge(now: int, dead: Sequence[DeadRef]) -> Program[list[Handled]]:
    """Take runs out of the dead letters; see ``DeadLetters.acknowledge``."""
    found = yield from _lock_dead([ref.run_id for ref in dead])
    named = {ref.run_id: found[ref.run_id] for ref in dead if _is_meant(found.get(ref.run_id), ref)}
    fresh = [(run.id, run.fence) for run in named.values() if run.acked_at is None]
    yield batch("acknowledge_dead", columns(("id", "fence"), fresh), now=now)
    answers: list[Handled] = []
    done = {id for id, _ in fresh}
    for ref in dead:
        if _is_meant(found.get(ref.run_id), ref):
            answers.append(Handled(ref.run_id, Done.DONE if ref.run_id in done else Done.REPEATED))
            done.discard(ref.run_id)
        else:
            run = yield from find_run(ref.run_id)
            answers.append(Handled(ref.run_id, Done.NOT_DEAD if run else Done.NOT_FOUND))
    return answers


def redrive(now: int, requests: Sequence[Redrive], definitions: Definitions) -> Program[list[Handled]]:
    """Let dead runs go again; see ``DeadLetters.redrive``."""
    found = yield from _lock_dead([request.dead.run_id for request in requests])
    rows = yield owned("read_redrives", ids=sorted({request.dead.run_id for request in requests}))
    redriven: dict[str, dict[int, str | None]] = {}
    for run_id, fence, made in rows:
        redriven.setdefault(run_id, {})[fence] = made
    # After the dead rows, and in id order: whoever holds a cursor never waits for a dead row.
    cursors = yield from lock_cursors(sorted({run.schedule_id for run in found.values() if run.schedule_id}))
    known = yield from definitions.load(_revisions(found, cursors))
    lines = yield from rejoin({run.lane for run in found.values() if run.lane is not None})
    batch_ = _Batch(now, cursors, known, (yield from open_runs_of(sorted(cursors))), lines)
    answers: dict[int, Handled] = {}
    age = {run.id: (run.scheduled_at, run.id) for run in found.values()}
    for place in sorted(range(len(requests)), key=lambda at: age.get(requests[at].dead.run_id, (0, ""))):
        request = requests[place]
        ref, run = request.dead, found.get(request.dead.run_id)
        past = redriven.setdefault(ref.run_id, {})
        if run is not None and _is_meant(run, ref) and run.fence not in past:
            answers[place] = batch_.add(run, request)
            if answers[place].outcome is Done.DONE:
                past[run.fence] = answers[place].goes_as if request.payload is not None else None
        else:
            answers[place] = yield from _past(ref, run, past)
    yield from batch_.write()
    if batch_.workflows:
        yield from _reopen_children(now, batch_.workflows, definitions)
    return [answers[place] for place in range(len(requests))]


def _reopen_children(now: int, ids: Sequence[str], definitions: Definitions) -> Program[None]:
    """Let the children go again whose failure killed these runs, and tell what has ended while these were dead.

    The children are locked first: one that is ending is waited for, and one that ends later finds its parent.
    """
    _, rows = yield group(query("lock_children", ids=sorted(ids)), query("failed_children", ids=sorted(ids)))
    if rows:
        waits = columns(("run_id", "position"), [row[:2] for row in rows])
        yield group(batch("reopen_steps", waits), batch("forget_ends", waits))
    dead = [Redrive(dead=DeadRef(child)) for _, _, child, status in rows if status == RunStatus.FAILED]
    if dead:
        yield from redrive(now, dead, definitions)
    ended = yield query("ended_children", ids=sorted(ids))
    if ended:
        yield from tell_parents(now, [row[0] for row in ended])


class _Place(NamedTuple):
    """Where a run that goes again stands among the others."""

    slot: int
    hold: Hold
    lane: str | None


class _Batch:
    """What one redrive is going to write."""

    def __init__(
        self,
        now: int,
        cursors: Mapping[str, Cursor],
        known: Known,
        open_runs: Mapping[str, list[OpenRun]],
        lines: Mapping[str, Entrance],
    ) -> None:
        self.now = now
        self.cursors = cursors
        self.known = known
        self.open_runs = open_runs
        self.lines = lines
        self.revived: list[tuple[Any, ...]] = []
        self.workflows: list[str] = []
        self.made: list[NewRun] = []
        self.directly: list[tuple[str, str]] = []
        self.replaced: list[tuple[str, int]] = []
        self.redriven: list[tuple[Any, ...]] = []

    def add(self, run: _Dead, request: Redrive) -> Handled:
        """Decide about one dead run that is to go again."""
        if request.payload is None and run.payload is None and not self._fired_under(run):
            return Handled(run.id, Done.NO_PAYLOAD)
        goes_as = run.id if request.payload is None else redrive_run_id(run.id, run.fence, run.finished_at)
        cursor = self.cursors.get(run.schedule_id or "")
        slot = cursor.slot if cursor else 0
        line = None if request.force else self.lines.get(run.lane or "")
        if line is not None:
            hold, slot = line.enter()
            admission, lane = Admission(hold=hold), run.lane
        else:
            admission, lane = self._admit(run, cursor, goes_as, request.force)
        if admission.refused:
            return Handled(run.id, Done.LANE_FULL)
        # Its process died with it again and again: it is tried apart from others.
        lost = run.reason == Reason.LOST and admission.hold is Hold.NONE
        place = _Place(slot, Hold.SUSPECT if lost else admission.hold, lane)
        if request.payload is None:
            self.revived.append((run.id, run.fence, place.slot, int(place.hold), place.lane))
            self.workflows += [run.id] if run.job.startswith(WORKFLOW) else []
        else:
            self.made.append(self._new_run(run, goes_as, request.payload, place))
            self.replaced.append((run.id, run.fence))
            if run.schedule_id is None:
                self.directly.append((run.id, goes_as))
        made = None if request.payload is None else goes_as
        self.redriven.append((run.id, run.fence, request.by, made))
        return Handled(run.id, Done.DONE, goes_as)

    def write(self) -> Program[None]:
        if self.revived:
            yield batch("revive_runs", columns(REVIVED, self.revived), now=self.now)
        if self.workflows:
            yield query("forget_failures", ids=sorted(self.workflows))
        if self.made:
            yield batch("acknowledge_dead", columns(("id", "fence"), self.replaced), now=self.now)
            yield batch("insert_runs", columns(NEW_RUN, map(new_run_row, self.made)))
            links = [(run.id, dead) for run, (dead, _) in zip(self.made, self.replaced, strict=True)]
            yield batch("inherit_marks", columns(("run_id", "parent_id"), links))
            if self.directly:
                yield batch("inherit_owners", columns(("run_id", "made_run"), self.directly))
        yield from close_entrances(self.lines)
        if self.cursors and self.redriven:
            yield query("touch_cursors", ids=sorted(self.cursors))
        if self.redriven:
            yield batch("insert_redrives", columns(REDRIVEN, self.redriven), now=self.now)

    def _fired_under(self, run: _Dead) -> bool:
        """Whether the definition is still there that holds the run's payload; with its cursor a schedule is purged."""
        return run.schedule_id in self.cursors and isinstance(
            self.known.get((run.schedule_id or "", run.revision or 0)), Definition
        )

    def _admit(self, run: _Dead, cursor: Cursor | None, goes_as: str, force: bool) -> tuple[Admission, str | None]:
        """Whether it may go at once, and the lane whose next run its end releases."""
        definition = cursor and self.known.get((cursor.schedule_id, cursor.revision))
        if not isinstance(definition, Definition) or run.schedule_id is None:
            return Admission(), None
        open_runs = self.open_runs[run.schedule_id]
        admission = admit_redriven(definition, open_runs, force)
        if admission.refused:
            return admission, None
        hold, kind = int(admission.hold), run.kind if goes_as == run.id else RunKind.MANUAL
        open_runs.append(OpenRun(goes_as, hold, False, False, kind, run.scheduled_at, self.now, self.now))
        overlaps = definition.overlap is Overlap.ALLOW and definition.max_concurrent is None
        return admission, None if overlaps or admission.outside_lane else run.schedule_id

    def _new_run(self, run: _Dead, id: str, payload: str, place: _Place) -> NewRun:
        return NewRun(
            id=id,
            job=run.job,
            kind=RunKind.DIRECT if run.schedule_id is None else RunKind.MANUAL,
            due_at=self.now,
            fired_at=self.now,
            schedule_id=run.schedule_id,
            revision=run.revision,
            window_at=run.window_at,
            tenant=run.tenant,
            queue=run.queue,
            priority=run.priority,
            slot=place.slot,
            hold=place.hold,
            lane=place.lane,
            max_attempts=run.max_attempts,
            timeout_ms=run.timeout_ms,
            payload=payload,
        )


def _past(ref: DeadRef, run: _Dead | None, past: Mapping[int, str | None]) -> Program[Handled]:
    """The answer for a run that is not there to be redriven: it was before, or it never died."""
    fence = ref.fence if ref.fence is not None else run.fence if run else max(past, default=None)
    if fence is not None and fence in past:
        return Handled(ref.run_id, Done.REPEATED, past[fence] or ref.run_id)
    there = run is not None or (yield from find_run(ref.run_id)) is not None
    return Handled(ref.run_id, Done.NOT_DEAD if there else Done.NOT_FOUND)


def _lock_dead(ids: Sequence[str]) -> Program[dict[str, _Dead]]:
    rows = yield owned("lock_dead", ids=sorted(set(ids)))
    return {row[0]: _Dead(*row) for row in rows}


def _is_meant(run: _Dead | None, ref: DeadRef) -> bool:
    return run is not None and ref.fence in (None, run.fence)


def _revisions(dead: Mapping[str, _Dead], cursors: Mapping[str, Cursor]) -> set[tuple[str, int]]:
    """The definitions that the runs were fired under, and those that hold now."""
    then = {(run.schedule_id, run.revision) for run in dead.values() if run.schedule_id and run.revision is not None}
    return then | {(id, cursor.revision) for id, cursor in cursors.items()}
