"""Changing a schedule: under its lock, by a pure function, and never at the cost of a window that was already due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duly.core.errors import StoreUnavailable
from duly.core.instants import to_datetime
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.schedule import Schedule
from duly.store.codec import CURSOR, read_cursor
from duly.store.statements import Program, query

from .calendars import calendar_refusal, unknown_calendars
from .changes import end_pauses, write_changes
from .definitions import Definitions
from .ending import move_open_runs
from .firing import fire_held
from .schedules import find_schedule, lock_schedule

AT_ONCE = 1000
"""Windows that one pass fires before an edit; an edit makes as many passes as it takes."""


def change_schedule(
    now: int,
    ref: str,
    change: Callable[[Schedule, int], Change | None],
    tenant: str | None,
    rules: FireRules,
    definitions: Definitions,
    expected: tuple[float, float] | None = None,
) -> Program[Schedule | None]:
    """Lock the cursor, let the pure function decide, write what it decided.

    Windows that were due before a new revision belong to the old one: they fire first, unless all firing is stopped. A
    pause or an end comes before them: what was stopped does not fire any more.
    """
    schedule: Schedule | None = yield from lock_schedule(ref, tenant)
    if schedule is None:
        return None
    (schedule,) = yield from end_pauses(now, [schedule])
    changed = change(schedule, now)
    if changed is None:
        return schedule
    if changed.definition is not None:
        if expected is not None and not expected[0] <= now <= expected[1]:
            raise StoreUnavailable(
                f"schedule {schedule.key!r} was not edited: the store's clock has leapt to {to_datetime(now)}, and"
                " where the schedule goes on depends on it; set the clock right, or try again when it has stayed so"
            )
        if _is_due(schedule, now) and not (yield query("firing_stopped")):
            schedule = yield from _fire_first(now, schedule, rules, definitions)
            changed = change(schedule, now)
        if changed is None:
            return schedule
        yield from _check_calendars(schedule, changed)
    (after,) = yield from write_changes(now, [(schedule, changed)])
    if changed.cancel_waiting or changed.cancel_running or changed.last_attempt or changed.release_lane:
        yield from move_open_runs(now, schedule.id, changed, after.definition)
    return after


def _check_calendars(schedule: Schedule, changed: Change) -> Program[None]:
    """Refuse a definition that names a calendar that is not there; those it had before are kept by it."""
    if changed.definition is None:
        return
    tenant, had = schedule.facts.tenant, schedule.definition.calendars
    wanted = {(tenant, name) for name in changed.definition.calendars if name not in had}
    if wanted:
        error = calendar_refusal(schedule.facts, changed.definition, (yield from unknown_calendars(wanted)))
        if error is not None:
            raise error


def _is_due(schedule: Schedule, now: int) -> bool:
    return schedule.cursor.fire_at is not None and schedule.cursor.fire_at <= now


def _fire_first(now: int, schedule: Schedule, rules: FireRules, definitions: Definitions) -> Program[Schedule]:
    """Fire all that is due: at most what the catch-up policy lets fire, and each pass leaves fewer."""
    rules, moved = replace(rules, per_schedule=AT_ONCE), True
    while moved and _is_due(schedule, now):
        before = schedule.cursor
        yield from fire_held(now, before, schedule.facts.tenant, rules, definitions)
        rows = yield query("lock_cursors", ids=[schedule.id])
        schedule = Schedule(schedule.facts, schedule.definition, read_cursor(rows[0][: len(CURSOR)]))
        moved = schedule.cursor != before
    found = yield from find_schedule(schedule.id, tenant=None)
    return found or schedule
