"""Operations as they are stored: what was asked, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from duly.core.credential import Whose
from duly.core.errors import Conflict
from duly.core.ids import backfill_run_id
from duly.core.instants import to_datetime
from duly.core.operation import Became, Item, Operation, OperationKind, OperationStatus
from duly.store.narrowing import made, owned
from duly.store.orders import BackfillOrder, NewOperation, Order, decode_order, encode_order
from duly.store.statements import Program, Query, Row, query
from duly.store.values import Page

MOST_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class Progress:
    """A stored operation while a step is made: its row is locked."""

    row: Row

    @property
    def id(self) -> str:
        return str(self.row[0])

    @property
    def order(self) -> Order:
        return decode_order(self.row[1], self.row[2])

    @property
    def made_at(self) -> int:
        return int(self.row[3])

    @property
    def by(self) -> str | None:
        return self.row[4]  # type: ignore[no-any-return]  # a column of text

    @property
    def whose(self) -> Whose | None:
        """Who began it: it touches only what is theirs; None is everything."""
        tenant, owner = self.row[14:]
        return None if owner is None else Whose(tenant, owner)

    @property
    def updated_at(self) -> int:
        return int(self.row[11])

    @property
    def running(self) -> bool:
        return bool(self.row[5] == OperationStatus.RUNNING)

    @property
    def changed(self) -> int:
        return int(self.row[8])

    @property
    def refused(self) -> int:
        return int(self.row[9])

    @property
    def items(self) -> tuple[Item, ...]:
        return _read_items(self.row[13])

    @property
    def position(self) -> str | None:
        return self.row[6]  # type: ignore[no-any-return]  # a column of text

    def moved(
        self,
        now: int,
        *,
        finished: bool,
        position: str | None = None,
        matched: int = 0,
        changed: int = 0,
        refused: int = 0,
        error: str | None = None,
        items: Iterable[Item] = (),
    ) -> Progress:
        """The row after a step that did so much more."""
        id, kind, body, made_at, made_by, _, before, was_matched, was_changed, was_refused, *_ = self.row
        ended = OperationStatus.FAILED if error is not None else OperationStatus.COMPLETED
        status = ended if finished else OperationStatus.RUNNING
        counts = was_matched + matched, was_changed + changed, was_refused + refused
        finished_at = now if finished else None
        row = (id, kind, body, made_at, made_by, status.value, position or before, *counts, error, now, finished_at)
        told = _write_items((*self.items, *items)[:MOST_ITEMS])
        return Progress((*row, told, *self.row[14:]))

    def write(self) -> Query:
        names = ("status", "position", "matched", "changed", "refused", "error", "now", "finished_at", "items")
        return query("move_operation", id=self.id, **dict(zip(names, self.row[5:14], strict=True)))


def insert_operation(
    now: int, new: NewOperation, *, status: OperationStatus = OperationStatus.RUNNING, matched: int = 0
) -> Query:
    """The row of a new operation; one whose id is there already stays as it is."""
    return made(
        "insert_operation",
        id=new.id,
        kind=new.kind.value,
        body=encode_order(new.order),
        made_by=new.by,
        status=status.value,
        matched=matched,
        now=now,
        finished_at=None if status is OperationStatus.RUNNING else now,
        items=_write_items([Item(ref, Became.NOT_FOUND) for ref in new.missing[:MOST_ITEMS]]),
    )


def put_operation(now: int, new: NewOperation) -> Program[Operation]:
    """Store an operation, or find the one of this id; see ``Operations.put_operation``."""
    yield insert_operation(now, new)
    rows = yield owned("read_operation", id=new.id)
    if not rows:
        raise Conflict(f"operation id {new.id} is in use; choose another", id=new.id)
    return read_operation(rows[0])


def look_at(id: str) -> Program[Progress | None]:
    rows = yield owned("read_operation", id=id)
    return Progress(rows[0]) if rows else None


def lock_operation(id: str) -> Program[Progress | None]:
    rows = yield owned("lock_operation", id=id)
    return Progress(rows[0]) if rows else None


def find_operation(now: int, id: str) -> Program[Operation | None]:
    """The operation as it is now; the runs of a backfill are counted, not kept count of."""
    found = yield from look_at(id)
    return None if found is None else read_operation((yield from _counted(found)).row)


def _counted(progress: Progress) -> Program[Progress]:
    """The same as it is now: looking at it is no step, so nothing of it is as of now."""
    if progress.running and isinstance(progress.order, BackfillOrder):
        return (yield from count_backfill(progress.updated_at, progress, progress.order))
    return progress


def count_backfill(now: int, progress: Progress, order: BackfillOrder) -> Program[Progress]:
    """A backfill with its runs counted as they are; it has ended when the last of them did, whoever looks when."""
    rows = yield query("count_backfill", ids=[backfill_run_id(progress.id, window) for window in order.windows])
    still_open, failed, ended_at = rows[0]
    ended = len(order.windows) - still_open
    over = still_open == 0
    return progress.moved(
        max(ended_at or 0, progress.updated_at) if over else now,
        changed=ended - progress.changed,
        refused=failed - progress.refused,
        finished=over,
    )


def list_operations(now: int, limit: int, after: str | None) -> Program[Page[Operation]]:
    """One page, newest first."""
    rows = yield owned("list_operations", after=after, limit=limit + 1)
    found = []
    for row in rows[:limit]:
        counted = yield from _counted(Progress(row))
        found.append(read_operation(counted.row))
    return Page(found, found[-1].id if len(rows) > limit else None)


def waiting_operations(now: int, untouched_ms: int, limit: int) -> Program[Sequence[str]]:
    """Operations that nobody has moved for so long."""
    rows = yield query("waiting_operations", before=now - untouched_ms, limit=limit)
    return [row[0] for row in rows]


def purge_operations(now: int, finished_before: int, limit: int) -> Program[int]:
    rows = yield query("purge_operations", finished_before=finished_before, limit=limit)
    return len(rows)


def read_operation(row: Row) -> Operation:
    """Build an operation from its columns."""
    arguments: dict[str, Any] = msgspec.json.decode(row[2])
    return Operation(
        id=row[0],
        kind=OperationKind(row[1]),
        status=OperationStatus(row[5]),
        arguments=arguments,
        made_at=to_datetime(row[3]),
        by=row[4],
        matched=row[7],
        changed=row[8],
        refused=row[9],
        error=row[10],
        updated_at=to_datetime(row[11]),
        finished_at=to_datetime(row[12]),
        items=_read_items(row[13]),
    )


def _read_items(text: str | None) -> tuple[Item, ...]:
    words: list[list[Any]] = [] if text is None else msgspec.json.decode(text)
    return tuple(Item(id, Became(became), detail) for id, became, detail in words)


def _write_items(items: Sequence[Item]) -> str | None:
    return msgspec.json.encode([(item.id, item.became, item.detail) for item in items]).decode() if items else None
