"""Changing many schedules: a batch per transaction, so that firing goes on meanwhile.

The batch is found by a read, which holds up nobody however much it has to look through. The write locks the cursors of
the batch in id order and lets the pure rule decide about each schedule as it is then. How far the operation has come
is written with the batch: no schedule is dealt with twice, whoever goes on with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from duly.core.change import Action
from duly.core.errors import DulyError
from duly.core.ids import bulk_run_id
from duly.core.operation import Became, Item, Operation
from duly.core.rules import bulk
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.rules.recording import pause_fields
from duly.core.schedule import Schedule
from duly.store.narrowing import owned
from duly.store.orders import BulkOrder, CancelOrder, DeleteOrder, PauseOrder, ResumeOrder, TriggerOrder
from duly.store.statements import Program, batch, columns, query
from duly.store.values import Matching, ScheduleFilter

from .changes import CHANGE, encode_fields, end_pauses, write_changes
from .ending import cancel_waiting_runs, request_cancels
from .moving import hold_runs_of
from .operations import Progress, lock_operation, read_operation
from .reading import filter_params
from .runs import trigger
from .schedules import read_schedule

_ID, _KEY, _CREATED_AT = 0, 1, 15
SHOWN = 5
Changing = PauseOrder | ResumeOrder | CancelOrder | DeleteOrder


class Matches(NamedTuple):
    """A batch of schedules, and where the next one begins."""

    ids: Sequence[str]
    since: str | None
    until: str | None
    more: bool


def match_schedules(now: int, where: ScheduleFilter, made_at: int, since: str | None, limit: int) -> Program[Matches]:
    """The next schedules that match and are no younger than the operation, in id order."""
    rows = yield owned("list_schedules", **filter_params(where), after=since, upper=None, limit=limit)
    ids = [row[_ID] for row in rows if row[_CREATED_AT] <= made_at]
    return Matches(ids, since, rows[-1][_ID] if rows else since, len(rows) == limit)


def match_ids(ids: Sequence[str], since: str | None, limit: int) -> Matches:
    """The next of the schedules that were asked for by id, in id order."""
    left = sorted(id for id in set(ids) if since is None or id > since)
    return Matches(left[:limit], since, left[:limit][-1] if left else since, len(left) > limit)


def count_matches(now: int, where: ScheduleFilter, limit: int) -> Program[Matching]:
    """How many match, counted up to ``limit``, and the keys of the first."""
    rows = yield owned("list_schedules", **filter_params(where), after=None, upper=None, limit=limit + 1)
    return Matching(min(len(rows), limit), len(rows) > limit, tuple(row[_KEY] for row in rows[:SHOWN]))


def change_matches(now: int, id: str, matches: Matches, rules: FireRules) -> Program[Operation | None]:
    """Change a batch of schedules, and move the operation behind it, unless somebody else has."""
    progress: Progress | None = yield from lock_operation(id)
    if progress is None:
        return None
    if not progress.running or progress.position != matches.since:
        return read_operation(progress.row)
    order = progress.order
    assert isinstance(order, BulkOrder)
    items: list[Item] = []
    if matches.ids:
        ids = sorted(matches.ids)
        yield query("lock_cursors", ids=ids)
        if isinstance(order, TriggerOrder):
            items = yield from _trigger(now, order, progress, ids, rules)
        elif isinstance(order, PauseOrder) and order.ids is None and (order.until is None or order.until > now):
            items = yield from _pause(now, order, progress.by, ids)
        else:
            items = yield from _change(now, order, progress.by, ids)
    moved = progress.moved(
        now,
        position=matches.until,
        matched=len(matches.ids),
        changed=sum(item.became is Became.CHANGED for item in items),
        refused=sum(item.became is Became.REFUSED for item in items),
        finished=not matches.more,
        items=[item for item in items if order.ids is not None or item.became is Became.REFUSED],
    )
    yield moved.write()
    return read_operation(moved.row)


def _pause(now: int, order: PauseOrder, by: str | None, ids: list[str]) -> Program[list[Item]]:
    """Pause without looking at each: a pause is the same for all that are not paused, and the commonest of these."""
    rows = yield query("pause_schedules", ids=ids, now=now, until=order.until, by=by, reason=order.reason)
    if rows:
        fields = encode_fields(pause_fields(order.reason, order.until))
        trail = [(id, now, by, Action.PAUSE.value, revision, fields) for id, revision in rows]
        yield batch("insert_changes", columns(CHANGE, trail))
    paused = {row[0] for row in rows}
    items = {id: Item(id, Became.CHANGED if id in paused else Became.UNCHANGED) for id in ids}
    left = [id for id in ids if id not in paused]
    over = [row[0] for row in (yield query("expired_pauses_of", ids=left, now=now))] if left else []
    if over:
        items |= {item.id: item for item in (yield from _change(now, order, by, over))}
    return list(items.values())


def _change(now: int, order: Changing, by: str | None, ids: list[str]) -> Program[list[Item]]:
    """Let the pure rule decide about each; answer what became of it."""
    items = {id: Item(id, Became.NOT_FOUND) for id in ids}
    schedules: list[Schedule] = []
    for row in (yield owned("read_schedules", ids=ids)):
        try:
            schedules.append(read_schedule(row))
        except DulyError as error:
            items[row[_ID]] = Item(row[_ID], Became.REFUSED, error.message)
    changes: list[tuple[Schedule, Change]] = []
    for schedule in (yield from end_pauses(now, schedules)):
        try:
            change = _decide(order, schedule, now, by)
        except DulyError as error:
            items[schedule.id] = Item(schedule.id, Became.REFUSED, error.message)
            continue
        items[schedule.id] = Item(schedule.id, Became.UNCHANGED if change is None else Became.CHANGED)
        if change is not None:
            changes.append((schedule, change))
    if changes:
        yield from write_changes(now, changes)
        yield from _move_runs(now, [change for _, change in changes])
    return list(items.values())


def _trigger(
    now: int, order: TriggerOrder, progress: Progress, ids: list[str], rules: FireRules
) -> Program[list[Item]]:
    """Make a manual run of each, as if it were triggered alone."""
    items: list[Item] = []
    for id in ids:
        run_id = bulk_run_id(progress.id, id, progress.made_at)
        try:
            made = yield from trigger(now, id, run_id, None, order.force, rules, None, bulk.check_trigger)
        except DulyError as error:
            items.append(Item(id, Became.REFUSED, error.message))
        else:
            items.append(Item(id, Became.NOT_FOUND if made is None else Became.CHANGED))
    return items


def _decide(order: Changing, schedule: Schedule, now: int, by: str | None) -> Change | None:
    match order:
        case PauseOrder(reason=reason, until=until):
            return bulk.pause(schedule, now, reason=reason, until=until, by=by)
        case ResumeOrder(reason=reason, catch_up=catch_up):
            return bulk.resume(schedule, now, reason=reason, catch_up=catch_up, by=by)
        case CancelOrder():
            return bulk.cancel(schedule, now, by=by)
        case DeleteOrder(cancel_running=cancel_running):
            return bulk.delete(schedule, now, cancel_running=cancel_running, by=by)
        case unknown:
            assert_never(unknown)


def _move_runs(now: int, changes: Sequence[Change]) -> Program[None]:
    """Do to the open runs of the schedules what their changes ask for; all of them ask for the same."""
    first = changes[0]
    if not first.cancel_waiting:
        return
    found = yield from hold_runs_of([change.facts.id for change in changes])
    runs = [run for of_one in found.values() for run in of_one]
    waiting, claimed = [run.id for run in runs if not run.claimed], [run.id for run in runs if run.claimed]
    if waiting:
        yield from cancel_waiting_runs(now, waiting, first.reason)
    if claimed and first.cancel_running:
        yield from request_cancels(now, claimed)
    if claimed and first.last_attempt:
        yield query("spend_attempts", ids=claimed)
