"""Removing a schedule with all that it left: its runs in small batches, and itself when none is open any more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from duly.core.operation import Operation
from duly.core.rules import editing
from duly.core.rules.firing import FireRules
from duly.store.orders import NewOperation, PurgeOrder
from duly.store.statements import Program, group, query

from .changes import find_ever
from .changing import change_schedule
from .definitions import Definitions
from .keeping import OF_RUNS, OF_SCHEDULES
from .operations import Progress, find_operation, insert_operation, lock_operation, read_operation


def begin_purge(
    now: int, ref: str, new: NewOperation, tenant: str | None, rules: FireRules, definitions: Definitions
) -> Program[Operation | None]:
    """Delete a schedule and store the operation that removes it; see ``Operations.begin_purge``."""
    order = new.order
    assert isinstance(order, PurgeOrder)
    existing = yield from find_operation(now, new.id)
    if existing is not None:
        return existing
    delete = partial(editing.delete, by=new.by, cancel_running=order.cancel_running)
    deleted = yield from change_schedule(now, ref, delete, tenant, rules, definitions)
    found = (deleted.id,) if deleted is not None else (yield from find_ever(ref, tenant))
    if found is None:
        return None
    yield insert_operation(now, replace(new, order=replace(order, schedule_id=found[0], ref=ref)))
    return (yield from find_operation(now, new.id))


def purge_step(now: int, id: str, limit: int) -> Program[Operation | None]:
    """Remove some of the runs; when none is left, not even an open one, what there was of the schedule."""
    progress: Progress | None = yield from lock_operation(id)
    if progress is None or not progress.running:
        return None if progress is None else read_operation(progress.row)
    order = progress.order
    assert isinstance(order, PurgeOrder)
    rows = yield query("purge_runs_of", schedule_id=order.schedule_id, limit=limit)
    over = False
    if rows:
        ids = [row[0] for row in rows]
        yield group(*(query(name, ids=ids) for name in OF_RUNS))
    elif not (yield query("anything_left", schedule_id=order.schedule_id))[0][0]:
        over = True
        yield group(*(query(name, ids=[order.schedule_id]) for name in OF_SCHEDULES))
    moved = progress.moved(now, matched=len(rows), changed=len(rows), finished=over)
    yield moved.write()
    return read_operation(moved.row)
