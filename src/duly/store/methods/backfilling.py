"""The backfill: one transaction makes all its runs, under the schedule's lock and without moving its cursor."""

from __future__ import annotations

from dataclasses import replace

from duly.core.operation import Operation, OperationStatus
from duly.core.rules.backfilling import backfill_runs, past_windows
from duly.core.rules.firing import FireRules
from duly.core.schedule import Schedule
from duly.store.orders import BackfillOrder, NewOperation
from duly.store.statements import Program, batch, columns, group, query

from .calendars import load_exclusions
from .firing import NEW_RUN, new_run_row
from .moving import open_runs_of
from .operations import Progress, count_backfill, find_operation, insert_operation, lock_operation, read_operation
from .schedules import lock_schedule


def backfill(
    now: int, ref: str, new: NewOperation, payload: str | None, rules: FireRules, tenant: str | None
) -> Program[Operation | None]:
    """Make the runs of a past range; see ``Operations.backfill``."""
    order = new.order
    assert isinstance(order, BackfillOrder)
    schedule: Schedule | None = yield from lock_schedule(ref, tenant)
    if schedule is None:
        return None
    schedule_id = schedule.id
    existing = yield from find_operation(now, new.id)
    if existing is not None:
        return existing
    definition, exclusions = schedule.definition, None
    if definition.excludes:
        exclusions = yield from load_exclusions(definition, schedule.facts.tenant)
    windows = past_windows(definition, order.since, order.until, now, exclusions)
    open_runs = yield from open_runs_of([schedule_id])
    runs = backfill_runs(
        schedule,
        open_runs[schedule_id],
        windows,
        operation_id=new.id,
        payload=payload,
        spacing_ms=0 if order.rate_per_second is None else 1000 / order.rate_per_second,
        force=order.force,
        now=now,
        rules=rules,
    )
    stored = replace(new, order=replace(order, schedule_id=schedule_id, windows=tuple(windows)))
    status = OperationStatus.RUNNING if windows else OperationStatus.COMPLETED
    yield group(
        batch("insert_runs", columns(NEW_RUN, map(new_run_row, runs))),
        query("touch_cursors", ids=[schedule_id]),
        insert_operation(now, stored, status=status, matched=len(windows)),
    )
    return (yield from find_operation(now, new.id))


def finish_backfill(now: int, id: str) -> Program[Operation | None]:
    """Write down how far a backfill has come."""
    progress: Progress | None = yield from lock_operation(id)
    if progress is None or not progress.running:
        return None if progress is None else read_operation(progress.row)
    order = progress.order
    assert isinstance(order, BackfillOrder)
    moved = yield from count_backfill(now, progress, order)
    yield moved.write()
    return read_operation(moved.row)
