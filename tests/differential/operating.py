"""Operations in the model: one loop per step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from duly.core.errors import DulyError
from duly.core.ids import backfill_run_id, restore_id
from duly.core.instants import to_datetime
from duly.core.operation import Operation, OperationKind, OperationStatus
from duly.core.rules import bulk
from duly.core.rules.backfilling import backfill_runs, past_windows
from duly.core.rules.editing import Change
from duly.core.rules.excluding import Exclusions
from duly.core.rules.firing import FireRules
from duly.core.run import NewRun, OpenRun
from duly.core.schedule import Cursor, Definition, Schedule
from duly.core.switch import Backlog, FiringState
from duly.runtime.clock import Clock
from duly.store.orders import (
    BackfillOrder,
    CancelOrder,
    DeleteOrder,
    NewOperation,
    Order,
    PauseAllOrder,
    PauseOrder,
    ResumeAllOrder,
    ResumeOrder,
    encode_order,
)
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
    meta: dict[str, Any]
    cursors: dict[str, Cursor]
    runs: dict[str, Any]
    history: dict[str, Any]

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        raise NotImplementedError

    def _schedule(self, id: str) -> Schedule:
        raise NotImplementedError

    def _apply(self, changed: Change, now: int) -> None:
        raise NotImplementedError

    def _exclusions(self, definition: Definition, tenant: str) -> Exclusions | None:
        raise NotImplementedError

    def _find(self, ref: str, tenant: str | None) -> Schedule | None:
        raise NotImplementedError

    def _open_runs(self, schedule_id: str) -> list[OpenRun]:
        raise NotImplementedError

    def _insert(self, run: NewRun) -> bool:
        raise NotImplementedError

    async def put_operation(self, new: NewOperation) -> Operation:
        now = self._clock.now()
        made = OperationRow(
            id=new.id, order=new.order, kind=new.kind.value, made_at=now, made_by=new.by, updated_at=now
        )
        self.operations.setdefault(new.id, made)
        return self._operation(new.id)

    async def step_operation(
        self,
        id: str,
        *,
        limit: int,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
    ) -> Operation | None:
        now = self._clock.now()
        row = self.operations.get(id)
        if row is None:
            return None
        if row.status != "running":
            return self._operation(id)
        if isinstance(row.order, BackfillOrder):
            self.operations[id] = self._counted(row, now)
        elif isinstance(row.order, ResumeAllOrder):
            self._settle_backlog(row, row.order.backlog, limit, now, rules)
        elif not isinstance(row.order, PauseAllOrder):
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

    async def backfill(
        self, ref: str, new: NewOperation, *, payload: str | None, rules: FireRules, tenant: str | None = None
    ) -> Operation | None:
        now = self._clock.now()
        schedule = self._find(ref, tenant)
        if schedule is None:
            return None
        if new.id not in self.operations:
            order = new.order
            assert isinstance(order, BackfillOrder)
            exclusions = self._exclusions(schedule.definition, schedule.facts.tenant)
            windows = past_windows(schedule.definition, order.since, order.until, now, exclusions)
            runs = backfill_runs(
                schedule,
                self._open_runs(schedule.id),
                windows,
                operation_id=new.id,
                payload=payload,
                spacing_ms=1000 / order.rate_per_second if order.rate_per_second else 0,
                force=order.force,
                now=now,
                rules=rules,
            )
            for run in runs:
                self._insert(run)
            self.operations[new.id] = OperationRow(
                id=new.id,
                order=replace(order, schedule_id=schedule.id, windows=tuple(windows)),
                kind=new.kind.value,
                made_at=now,
                made_by=new.by,
                status="running" if windows else "completed",
                matched=len(windows),
                updated_at=now,
                finished_at=None if windows else now,
            )
        return await self.get_operation(new.id)

    def _counted(self, row: OperationRow, now: int) -> OperationRow:
        assert isinstance(row.order, BackfillOrder)
        ids = [backfill_run_id(row.id, window) for window in row.order.windows]
        still_open = sum(id in self.runs for id in ids)
        failed = sum(id in self.history and self.history[id].status in ("failed", "cancelled") for id in ids)
        counted = replace(row, changed=len(ids) - still_open, refused=failed, updated_at=now)
        return counted if still_open else replace(counted, status="completed", finished_at=now)

    async def firing_state(self) -> FiringState:
        return FiringState(
            paused_at=to_datetime(self.meta["paused_at"]),
            by=self.meta["by"],
            reason=self.meta["reason"],
            restored_at=to_datetime(self.meta["restored_at"]),
            epoch=self.meta["epoch"],
            ticks=self.meta["ticks"],
            store_id="model",
        )

    async def pause_firing(self, new: NewOperation) -> FiringState:
        now = self._clock.now()
        assert isinstance(new.order, PauseAllOrder)
        if new.id not in self.operations:
            self.meta |= {"paused_at": self.meta["paused_at"] or now, "by": new.by, "reason": new.order.reason}
            self._stop_resuming(now)
            self._done(new, now)
        return await self.firing_state()

    async def mark_restored(self, *, epoch: int, reason: str | None, by: str | None) -> FiringState:
        now = self._clock.now()
        if self.meta["epoch"] == epoch:
            paused_at = self.meta["paused_at"] or now
            self.meta |= {"paused_at": paused_at, "by": by, "reason": reason, "epoch": epoch + 1, "restored_at": now}
            self._stop_resuming(now)
            order = PauseAllOrder(reason=reason, epoch=epoch + 1)
            self._done(NewOperation(id=restore_id(epoch, now), order=order, by=by), now)
        return await self.firing_state()

    async def notice_restore(self, state: FiringState, seen: int) -> FiringState:
        reason = f"restored: the store is at tick {state.ticks}, and tick {seen} has been seen of it"
        return await self.mark_restored(epoch=state.epoch, reason=reason, by="duly")

    def remember(self, state: FiringState) -> None: ...

    async def resume_firing(self, new: NewOperation) -> Operation:
        now = self._clock.now()
        assert isinstance(new.order, ResumeAllOrder)
        if new.id not in self.operations:
            at_once = new.order.backlog is Backlog.FIRE or self.meta["paused_at"] is None
            self._done(new, now)
            if at_once:
                self._resume_firing()
            else:
                self.operations[new.id].status, self.operations[new.id].finished_at = "running", None
        found = await self.get_operation(new.id)
        assert found is not None
        return found

    def _settle_backlog(self, row: OperationRow, backlog: Backlog, limit: int, now: int, rules: FireRules) -> None:
        due = [c for c in self.cursors.values() if c.fire_at is not None and c.fire_at <= row.made_at]
        due.sort(key=lambda c: (c.fire_at, c.slot))
        row.matched += len(due[:limit])
        row.changed += self._fire_under(backlog, due[:limit], row.made_at, rules)
        row.updated_at = now
        if not due:
            row.status, row.finished_at = "completed", now
            self._resume_firing()

    def _fire_under(self, backlog: Backlog, due: Sequence[Cursor], as_of: int, rules: FireRules) -> int:
        raise NotImplementedError

    def _resume_firing(self) -> None:
        self.meta |= {"paused_at": None, "by": None, "reason": None, "restored_at": None}

    def _stop_resuming(self, now: int) -> None:
        for row in self.operations.values():
            if row.kind == "resume_all" and row.status == "running":
                row.status, row.updated_at, row.finished_at = "failed", now, now
                row.error = "firing was paused again before the backlog was dealt with"

    def _done(self, new: NewOperation, now: int) -> None:
        self.operations[new.id] = OperationRow(
            id=new.id,
            order=new.order,
            kind=new.kind.value,
            made_at=now,
            made_by=new.by,
            status="completed",
            updated_at=now,
            finished_at=now,
        )

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
                case _:
                    raise AssertionError("it changes no schedule")
        except DulyError:
            row.refused += 1
            return
        if change is not None:
            row.changed += 1
            self._apply(change, now)

    async def get_operation(self, id: str) -> Operation | None:
        row = self.operations.get(id)
        if row is None:
            return None
        if isinstance(row.order, BackfillOrder) and row.status == "running":
            row = self._counted(row, self._clock.now())
        return _seen(row)

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
        return _seen(self.operations[id])


def _seen(row: OperationRow) -> Operation:
    return Operation(
        id=row.id,
        kind=OperationKind(row.kind),
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
