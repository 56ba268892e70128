"""Putting one schedule in another's place."""

from __future__ import annotations

from collections.abc import Callable

from duly.core.errors import DulyError
from duly.core.rules.replacing import Succession
from duly.core.schedule import Schedule
from duly.store.statements import Program
from duly.store.values import NewSchedule

from .changes import end_pauses, write_changes
from .ending import move_open_runs
from .schedules import find_schedule, lock_schedule, put_schedules


def replace_schedule(
    now: int, ref: str, new_id: str, succession: Callable[[Schedule, int], Succession], tenant: str | None
) -> Program[Schedule | None]:
    """End one schedule and make another under its lock; see ``Schedules.replace_schedule``."""
    schedule = yield from lock_schedule(ref, tenant)
    if schedule is None or schedule.id == new_id:
        return schedule
    if schedule.facts.replaced_by == new_id:
        return (yield from find_schedule(new_id, tenant=tenant))
    (schedule,) = yield from end_pauses(now, [schedule])
    planned = succession(schedule, now)
    yield from write_changes(now, [(schedule, planned.change)])
    yield from move_open_runs(now, schedule.id, planned.change, schedule.definition)
    (put,) = yield from put_schedules(now, [NewSchedule(facts=planned.facts, definition=planned.definition)])
    if isinstance(put, DulyError):
        raise put
    return put
