"""Operations in the model: one loop per step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from duly.core.errors import DulyError
from duly.core.instants import to_datetime
from duly.core.operation import Operation, OperationStatus
from duly.core.rules import bulk
from duly.core.rules.editing import Change
from duly.core.schedule import Schedule
from duly.runtime.clock import Clock
from duly.store.orders import CancelOrder, DeleteOrder, NewOperation, Order, PauseOrder, ResumeOrder, encode_order
from duly.store.values import Page, ScheduleFilter


@dataclass(slots=True, kw_only=True)
class OperationRow:
    id: str
    order: Order
    kind: str
    made_at: int
    made_by: str | None
    status: str = "running"
    position: str | None = None
    matched: int = 0
    changed: int = 0
    refused: int = 0
    error: str | None = None
    updated_at: int
    finished_at: int | None = None


class OperatingModel:
    """The part of the model that works on many schedules, step by step."""

    _clock: Clock
    operations: dict[str, OperationRow]

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        raise NotImplementedError

    def _schedule(self, id: str) -> Schedule:
        raise NotImplementedError

    def _apply(self, changed: Change, now: int) -> None:
        raise NotImplementedError

    async def put_operation(self, new: NewOperation) -> Operation:
        now = self._clock.now()
        made = OperationRow(
            id=new.id, order=new.order, kind=new.kind.value, made_at=now, made_by=new.by, updated_at=now
        )
        self.operations.setdefault(new.id, made)
        return self._operation(new.id)

    async def step_operation(self, id: str, *, limit: int) -> Operation | None:
        now = self._clock.now()
        row = self.operations.get(id)
        if row is None:
            return None
        if row.status == "running":
            page = (await self.list_schedules(row.order.where, limit=limit, after=row.position)).items
            for found in page:
                if found.facts.created_at <= row.made_at:
                    row.matched += 1
                    self._change_one(row, self._schedule(found.id), now)
            row.position = page[-1].id if page else row.position
            row.updated_at = now
            if len(page) < limit:
                row.status, row.finished_at = "completed", now
        return self._operation(id)

    def _change_one(self, row: OperationRow, schedule: Schedule, now: int) -> None:
        order, by = row.order, row.made_by
        try:
            match order:
                case PauseOrder():
                    change = bulk.pause(schedule, now, reason=order.reason, until=order.until, by=by)
                case ResumeOrder():
                    change = bulk.resume(schedule, now, reason=order.reason, catch_up=order.catch_up, by=by)
                case CancelOrder():
                    change = bulk.cancel(schedule, now, by=by)
                case DeleteOrder():
                    change = bulk.delete(schedule, now, cancel_running=order.cancel_running, by=by)
        except DulyError:
            row.refused += 1
            return
        if change is not None:
            row.changed += 1
            self._apply(change, now)

    async def get_operation(self, id: str) -> Operation | None:
        return self._operation(id) if id in self.operations else None

    async def list_operations(self, *, limit: int, after: str | None = None) -> Page[Operation]:
        ids = sorted((id for id in self.operations if after is None or id < after), reverse=True)
        return Page([self._operation(id) for id in ids[:limit]], ids[limit - 1] if len(ids) > limit else None)

    async def waiting_operations(self, *, untouched_ms: int, limit: int) -> Sequence[str]:
        before = self._clock.now() - untouched_ms
        left = [row for row in self.operations.values() if row.status == "running" and row.updated_at < before]
        return [row.id for row in sorted(left, key=lambda row: row.updated_at)][:limit]

    async def purge_operations(self, *, finished_before: int, limit: int) -> int:
        old = [id for id, row in self.operations.items() if (row.finished_at or finished_before) < finished_before]
        for id in old[:limit]:
            del self.operations[id]
        return len(old[:limit])

    def _operation(self, id: str) -> Operation:
        row = self.operations[id]
        return Operation(
            id=id,
            kind=NewOperation(id=id, order=row.order).kind,
            status=OperationStatus(row.status),
            arguments=json.loads(encode_order(row.order)),
            made_at=to_datetime(row.made_at),
            by=row.made_by,
            matched=row.matched,
            changed=row.changed,
            refused=row.refused,
            error=row.error,
            updated_at=to_datetime(row.updated_at),
            finished_at=to_datetime(row.finished_at),
        )
