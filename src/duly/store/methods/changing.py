"""Changing a schedule: under its lock, by a pure function, and never at the cost of a window that was already due."""

from __future__ import annotations

from collections.abc import Callable

from duly.core.errors import StoreUnavailable
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.schedule import Schedule
from duly.store.codec import CURSOR, read_cursor
from duly.store.statements import Program, query

from .changes import write_changes
from .definitions import Definitions
from .ending import move_open_runs
from .firing import fire_held
from .schedules import find_schedule, resolve

MOST_PASSES = 20


def change_schedule(
    now: int,
    ref: str,
    change: Callable[[Schedule, int], Change | None],
    tenant: str | None,
    rules: FireRules,
    definitions: Definitions,
) -> Program[Schedule | None]:
    """Lock the cursor, let the pure function decide, write what it decided.

    Windows that were due before a new revision belong to the old one: they fire first. A pause or an end comes before
    them: what was stopped does not fire any more.
    """
    schedule_id = yield from resolve(ref, tenant)
    if schedule_id is None:
        return None
    yield query("lock_cursors", ids=[schedule_id])
    schedule = yield from find_schedule(schedule_id, tenant=tenant)
    if schedule is None:
        return None
    changed = change(schedule, now)
    if changed is None:
        return schedule
    if changed.definition is not None and _is_due(schedule, now):
        schedule = yield from _fire_first(now, schedule, rules, definitions)
        changed = change(schedule, now)
        if changed is None:
            return schedule
    (after,) = yield from write_changes(now, [(schedule, changed)])
    if changed.cancel_waiting or changed.cancel_running or changed.last_attempt or changed.release_lane:
        yield from move_open_runs(now, schedule_id, changed, after.definition)
    return after


def _is_due(schedule: Schedule, now: int) -> bool:
    return schedule.cursor.fire_at is not None and schedule.cursor.fire_at <= now


def _fire_first(now: int, schedule: Schedule, rules: FireRules, definitions: Definitions) -> Program[Schedule]:
    for _ in range(MOST_PASSES):
        yield from fire_held(now, schedule.cursor, schedule.facts.tenant, rules, definitions)
        rows = yield query("lock_cursors", ids=[schedule.id])
        schedule = Schedule(schedule.facts, schedule.definition, read_cursor(rows[0][: len(CURSOR)]))
        if not _is_due(schedule, now):
            break
    else:
        raise StoreUnavailable(
            f"schedule {schedule.key!r} has more windows due than one edit can fire; they fire now: try again soon"
        )
    found = yield from find_schedule(schedule.id, tenant=None)
    return found or schedule
