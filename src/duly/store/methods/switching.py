"""The fleet's switch: it is read by every fire, so that one row stops all firing; and the restore, which sets it.

A fire that had begun when the switch was set may still commit. Nothing is lost meanwhile: cursors stay where they are.
"""

from __future__ import annotations

from duly.core.ids import restore_id
from duly.core.instants import to_datetime
from duly.core.operation import Operation, OperationStatus
from duly.core.rules.backlog import all_missed, not_prompt, under
from duly.core.rules.firing import FireRules
from duly.core.schedule import Definition
from duly.core.switch import Backlog, FiringState
from duly.store.codec import CURSOR, read_cursor
from duly.store.orders import NewOperation, PauseAllOrder, ResumeAllOrder
from duly.store.statements import Program, Row, batch, query

from .definitions import Definitions
from .firing import Tick, named_calendars, write_tick
from .moving import by_schedule
from .operations import Progress, find_operation, insert_operation, lock_operation, read_operation

OVERTAKEN = "firing was paused again before the backlog was dealt with"


def firing_state(now: int) -> Program[FiringState]:
    rows = yield query("read_meta")
    return read_state(rows[0])


def find_home() -> Program[tuple[FiringState, str | None, str | None]]:
    """How the store stands, where it was at home and where it is now; None where that cannot be told."""
    rows = yield query("read_meta")
    return read_state(rows[0]), rows[0][7], rows[0][8]


def settle_home(now: int, home: str) -> Program[None]:
    yield query("settle_home", home=home)


def pause_firing(now: int, new: NewOperation) -> Program[FiringState]:
    """Stop all firing; see ``Switching.pause_firing``."""
    order = new.order
    assert isinstance(order, PauseAllOrder)
    if (yield from find_operation(now, new.id)) is None:
        yield query("pause_firing", now=now, by=new.by, reason=order.reason)
        yield query("stop_resuming", now=now, error=OVERTAKEN)
        yield insert_operation(now, new, status=OperationStatus.COMPLETED)
    return (yield from firing_state(now))


def mark_restored(
    now: int, epoch: int, reason: str | None, by: str | None, home: str | None = None
) -> Program[FiringState]:
    """Raise the epoch and stop all firing, unless somebody else has; see ``Switching.mark_restored``."""
    rows = yield query("mark_restored", now=now, by=by, reason=reason, epoch=epoch)
    if home is not None:
        yield query("settle_home", home=home)
    state = yield from firing_state(now)
    if rows:
        yield query("stop_resuming", now=now, error=OVERTAKEN)
        order = PauseAllOrder(reason=reason, epoch=state.epoch)
        new = NewOperation(id=restore_id(epoch, now), order=order, by=by)
        yield insert_operation(now, new, status=OperationStatus.COMPLETED)
    return state


def resume_firing(now: int, new: NewOperation) -> Program[Operation]:
    """Begin to fire again; see ``Switching.resume_firing``."""
    order = new.order
    assert isinstance(order, ResumeAllOrder)
    existing = yield from find_operation(now, new.id)
    if existing is not None:
        return existing
    state = yield from firing_state(now)
    at_once = order.backlog is Backlog.FIRE or not state.paused
    if at_once:
        yield query("resume_firing")
    yield insert_operation(now, new, status=OperationStatus.COMPLETED if at_once else OperationStatus.RUNNING)
    made = yield from find_operation(now, new.id)
    assert made is not None
    return made


def settle_backlog(
    now: int, id: str, limit: int, rules: FireRules, definitions: Definitions
) -> Program[Operation | None]:
    """Deal with some schedules that fell due while nothing fired; when none is left, let all of them fire."""
    progress: Progress | None = yield from lock_operation(id)
    if progress is None or not progress.running:
        return None if progress is None else read_operation(progress.row)
    order, as_of = progress.order, progress.made_at
    assert isinstance(order, ResumeAllOrder)
    rows = yield query("backlog_cursors", now=as_of, limit=limit)
    if not rows:
        left = (yield query("next_backlog"))[0][0]
        over = left is None or left > as_of  # else somebody holds them, and the next step finds them
        if over:
            yield query("resume_firing")
        moved = progress.moved(now, finished=over)
    else:
        changed = yield from _deal(rows, order.backlog, as_of, rules, definitions)
        moved = progress.moved(now, matched=len(rows), changed=changed, finished=False)
    yield moved.write()
    return read_operation(moved.row)


def _deal(rows: list[Row], backlog: Backlog, as_of: int, rules: FireRules, definitions: Definitions) -> Program[int]:
    """Plan each schedule as of the operator's choice, and write what was planned; answer how many runs that made."""
    due = [(read_cursor(row), row[len(CURSOR)]) for row in rows]
    known = yield from definitions.load((cursor.schedule_id, cursor.revision) for cursor, _ in due)
    open_runs = by_schedule((yield batch("open_runs", {"schedule_id": [cursor.schedule_id for cursor, _ in due]})))
    tick = Tick(as_of, all_missed(rules))
    tick.calendars = yield from definitions.calendars.load(named_calendars(due, known))
    for cursor, tenant in due:
        definition = known.get((cursor.schedule_id, cursor.revision))
        if isinstance(definition, Definition):
            cursor = not_prompt(cursor, definition)
            definition = under(backlog, definition)
        tick.add(cursor, definition, open_runs[cursor.schedule_id], tenant, len(due) + tick.windows + 1)
    fired = yield from write_tick(tick, None, full=False)
    return fired.runs


def read_state(row: Row) -> FiringState:
    """Build the state from the columns of ``read_meta``."""
    return FiringState(
        store_id=row[0],
        epoch=row[1],
        ticks=row[2],
        paused_at=to_datetime(row[3]),
        by=row[4],
        reason=row[5],
        restored_at=to_datetime(row[6]),
    )
