"""Runs of a schedule that people ask for, runs that they cancel, and runs that they look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duly.core.errors import RunActive
from duly.core.instants import to_datetime
from duly.core.rules.firing import FireRules
from duly.core.rules.overlap import Admission, admit_manual
from duly.core.run import Hold, NewRun, Reason, Run, RunKind, RunStatus
from duly.core.schedule import Schedule
from duly.core.steps import WORKFLOW
from duly.store.codec import read_open_run
from duly.store.narrowing import owned
from duly.store.statements import Program, Row, batch, columns, group, query
from duly.store.values import Triggered

from .ending import cancel_waiting_runs, request_cancels
from .firing import NEW_RUN, new_run_row
from .lanes import lock_lanes_of, release_lines
from .moving import Ended, lock_cursors, move_schedules
from .schedules import lock_schedule
from .stepping import tell_parents


def trigger(
    now: int,
    ref: str,
    run_id: str,
    payload: str | None,
    force: bool,
    rules: FireRules,
    tenant: str | None,
    check: Callable[[Schedule], None] | None = None,
    borrowed: bool = False,
) -> Program[Triggered | None]:
    """Make a manual run under the schedule's lock; see ``Runs.trigger``. ``borrowed`` is as in ``enqueue``."""
    schedule: Schedule | None = yield from lock_schedule(ref, tenant)
    if schedule is None:
        return None
    existing = yield from find_run(run_id)
    if existing is not None:
        return Triggered(existing, created=False)
    if check is not None:
        check(schedule)
    admission = yield from _admit(schedule, rules, force, borrowed)
    claimed_meanwhile = False
    if admission.cancel_waiting:
        ended = yield from cancel_waiting_runs(now, admission.cancel_waiting, Reason.SUPERSEDED)
        claimed_meanwhile = len(ended) < len(admission.cancel_waiting)
    if admission.cancel_running:
        yield from request_cancels(now, admission.cancel_running)
    if claimed_meanwhile:
        admission = replace(admission, hold=Hold.LANE)
    elif admission.release:
        yield query("release_lane", ids=sorted(admission.release), now=now)
    run = _manual_run(now, run_id, schedule, admission, payload, rules)
    yield group(batch("insert_runs", columns(NEW_RUN, [new_run_row(run)])), query("touch_cursors", ids=[schedule.id]))
    return Triggered(fresh_run(run, schedule.key, schedule.definition.payload), created=True)


def _admit(schedule: Schedule, rules: FireRules, force: bool, borrowed: bool) -> Program[Admission]:
    """What the overlap policy says to one more run now."""
    rows = yield batch("open_runs", {"schedule_id": [schedule.id]})
    open_runs = [read_open_run(row) for row in rows]
    admission = admit_manual(schedule.definition, open_runs, rules.grace_ms, force)
    if borrowed and (admission.refused or admission.hold):
        yield query("hold_deciding", ids=[run.id for run in open_runs], lanes=[])
    if admission.refused:
        raise RunActive(
            f"schedule {schedule.key!r} has a run that has not ended ({open_runs[0].id}) and overlap is"
            f" {schedule.definition.overlap.value!r}; wait for it, cancel it, or trigger with force",
            schedule_id=schedule.id,
            run_id=open_runs[0].id,
        )
    return admission


def _manual_run(
    now: int, run_id: str, schedule: Schedule, admission: Admission, payload: str | None, rules: FireRules
) -> NewRun:
    definition = schedule.definition
    return NewRun(
        id=run_id,
        job=definition.target.handler,
        kind=RunKind.MANUAL,
        due_at=now,
        window_at=now,
        fired_at=now,
        schedule_id=schedule.id,
        revision=schedule.revision,
        tenant=schedule.facts.tenant,
        queue=definition.queue,
        priority=definition.priority,
        slot=schedule.cursor.slot,
        hold=admission.hold,
        lane=schedule.id if (definition.uses_lane or admission.hold) and not admission.outside_lane else None,
        max_attempts=definition.retry.max_attempts if definition.retry else rules.default_max_attempts,
        timeout_ms=definition.timeout_ms,
        payload=payload,
        fair_key=definition.fairness_key,
    )


def request_cancel(now: int, run_id: str) -> Program[Run | None]:
    """End a waiting run, tell a running one to stop, leave an ended one."""
    run = yield from find_run(run_id)
    if run is None or run.status.terminal:
        return run
    cursors = yield from lock_cursors([] if run.schedule_id is None else [run.schedule_id])
    lanes = (yield from lock_lanes_of([run_id])) if run.schedule_id is None else []
    if run.job.startswith(WORKFLOW) or run.kind is RunKind.CHILD:
        below = yield from _lock_below(run_id)
        if below:
            yield from cancel_waiting_runs(now, below, Reason.CANCEL_REQUESTED)
    ended = yield from cancel_waiting_runs(now, [run_id], Reason.CANCEL_REQUESTED)
    if ended and run.kind is RunKind.CHILD:
        yield from tell_parents(now, ended)
    if ended and run.schedule_id in cursors:
        end = Ended(run.schedule_id, run.kind, RunStatus.CANCELLED)
        yield from move_schedules(now, [end], cursors, known={})
    if ended:
        yield from release_lines(lanes)
    return (yield from find_run(run_id))


def _lock_below(run_id: str) -> Program[list[str]]:
    """Lock a run and all that are open below it, and answer these.

    Whoever is locked has recorded what its body asked for, so look until there is no child that nobody saw before.
    """
    found = {row[0] for row in (yield query("open_descendants", id=run_id))}
    known: set[str] = set()
    while not known or not found <= known:
        known |= {run_id, *found}
        _, rows = yield group(query("lock_families", ids=sorted(known)), query("open_descendants", id=run_id))
        found = {row[0] for row in rows}
    return sorted(found - {run_id})


def find_run(run_id: str) -> Program[Run | None]:
    rows = yield owned("read_run", id=run_id)
    return read_run(rows[0]) if rows else None


def read_run(row: Row) -> Run:
    """Build a run from the columns that ``read_run`` and ``list_runs`` return."""
    window_at, due_at, fired_at = row[8], row[15], row[19]
    status = RunStatus(row[5])
    skipped = status is RunStatus.SKIPPED
    return Run(
        id=row[0],
        schedule_id=row[1],
        schedule_key=row[2],
        revision=None if row[1] is None else row[3],
        kind=RunKind(row[4]),
        status=status,
        reason=row[6],
        tenant=row[7],
        window_at=to_datetime(window_at),
        since=to_datetime(row[9]),
        window_count=row[10],
        job=row[11],
        queue=row[12],
        priority=row[13],
        hold=row[14],
        due_at=to_datetime(due_at),
        attempt=row[16],
        max_attempts=row[17],
        fence=row[18],
        fired_at=to_datetime(fired_at),
        scheduled_at=to_datetime(window_at if window_at is not None else due_at if due_at is not None else fired_at),
        started_at=to_datetime(row[20]),
        completed_at=to_datetime(row[21]),
        cancel_requested=bool(row[22]),
        reason_detail=row[23] if skipped else None,
        error_message=None if skipped else row[23],
        instance=row[24],
        payload_json=row[25],
        result_json=row[26],
        acknowledged_at=to_datetime(row[27]),
        redrive_of=row[28],
        redriven_as=row[29],
    )


def fresh_run(run: NewRun, key: str | None = None, payload: str | None = None) -> Run:
    """A run as people see it that was just inserted, unclaimed."""
    at = run.window_at if run.window_at is not None else run.due_at
    return Run(
        id=run.id,
        status=RunStatus.PENDING,
        kind=run.kind,
        job=run.job,
        queue=run.queue,
        attempt=0,
        max_attempts=run.max_attempts,
        fence=0,
        fired_at=to_datetime(run.fired_at),
        scheduled_at=to_datetime(at),
        schedule_id=run.schedule_id,
        schedule_key=key,
        revision=None if run.schedule_id is None else run.revision,
        window_at=to_datetime(run.window_at),
        tenant=run.tenant,
        priority=run.priority,
        due_at=to_datetime(run.due_at),
        hold=run.hold,
        payload_json=payload if run.payload is None else run.payload,
    )
