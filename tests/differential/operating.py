"""Operations in the model: one loop per step."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from duly.core.change import ScheduleChange
from duly.core.credential import Whose
from duly.core.errors import Conflict, DulyError
from duly.core.ids import backfill_run_id, bulk_run_id, restore_id
from duly.core.instants import to_datetime
from duly.core.operation import Became, Item, Operation, OperationKind, OperationStatus
from duly.core.rules import bulk, editing
from duly.core.rules.backfilling import backfill_runs, past_windows
from duly.core.rules.editing import Change
from duly.core.rules.excluding import Exclusions
from duly.core.rules.firing import FireRules
from duly.core.run import NewRun, OpenRun
from duly.core.schedule import Cursor, Definition, Facts, Schedule
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
    PurgeOrder,
    ResumeAllOrder,
    ResumeOrder,
    TriggerOrder,
    encode_order,
)
from duly.store.values import Page, ScheduleFilter, Triggered


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
    items: str | None = None
    tenant: str | None = None
    owner: str | None = None


class OperatingModel:
    """The part of the model that works on many schedules, step by step."""

    _clock: Clock
    operations: dict[str, OperationRow]
    meta: dict[str, Any]
    cursors: dict[str, Cursor]
    runs: dict[str, Any]
    history: dict[str, Any]
    facts: dict[str, Facts]
    whose: Whose | None

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        raise NotImplementedError

    def _schedule(self, id: str) -> Schedule:
        raise NotImplementedError

    def _apply(self, changed: Change, now: int) -> None:
        raise NotImplementedError

    def _end_pause(self, schedule: Schedule, now: int) -> Schedule:
        raise NotImplementedError

    def _exclusions(self, definition: Definition, tenant: str) -> Exclusions | None:
        raise NotImplementedError

    def _find(self, ref: str, tenant: str | None) -> Schedule | None:
        raise NotImplementedError

    async def list_changes(
        self, ref: str, *, limit: int, after: int | None = None, tenant: str | None = None
    ) -> Page[ScheduleChange] | None:
        raise NotImplementedError

    async def change_schedule(
        self,
        ref: str,
        change: Callable[[Schedule, int], Change | None],
        *,
        tenant: str | None = None,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
        expected: tuple[float, float] | None = None,
    ) -> Schedule | None:
        raise NotImplementedError

    async def trigger(
        self,
        ref: str,
        *,
        run_id: str,
        payload: str | None,
        force: bool,
        rules: FireRules,
        tenant: str | None = None,
        check: Callable[[Schedule], None] | None = None,
    ) -> Triggered | None:
        raise NotImplementedError

    def _forget_runs(self, ids: Sequence[str]) -> None:
        raise NotImplementedError

    def _forget_schedule(self, id: str) -> None:
        raise NotImplementedError

    def _open_runs(self, schedule_id: str) -> list[OpenRun]:
        raise NotImplementedError

    def _insert(self, run: NewRun) -> bool:
        raise NotImplementedError

    def _sees(self, tenant: str | None, owner: str | None) -> bool:
        raise NotImplementedError

    def seen_by(self, whose: Whose) -> Self:
        raise NotImplementedError

    def _sees_operation(self, id: str) -> bool:
        return self._sees(self.operations[id].tenant, self.operations[id].owner)

    def _mine(self) -> dict[str, Any]:
        return {} if self.whose is None else {"tenant": self.whose.tenant, "owner": self.whose.owner}

    async def put_operation(self, new: NewOperation) -> Operation:
        now = self._clock.now()
        made = OperationRow(
            id=new.id, order=new.order, kind=new.kind.value, made_at=now, made_by=new.by, updated_at=now, **self._mine()
        )
        for ref in new.missing:
            _tell(made, Item(ref, Became.NOT_FOUND))
        self.operations.setdefault(new.id, made)
        if not self._sees_operation(new.id):
            raise Conflict(f"operation id {new.id} is in use; choose another")
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
        if row is None or not self._sees_operation(id):
            return None
        if row.status != "running":
            return self._operation(id)
        if row.owner is not None and self.whose is None:
            return await self.seen_by(Whose(row.tenant or "", row.owner)).step_operation(id, limit=limit, rules=rules)
        if isinstance(row.order, BackfillOrder):
            self.operations[id] = self._counted(row, now)
        elif isinstance(row.order, ResumeAllOrder):
            self._settle_backlog(row, row.order.backlog, limit, now, rules)
        elif isinstance(row.order, PurgeOrder):
            self._purge(row, row.order.schedule_id or "", limit, now)
        elif not isinstance(row.order, PauseAllOrder) and row.order.ids is not None:
            left = sorted(one for one in set(row.order.ids) if row.position is None or one > row.position)
            row.matched += len(left[:limit])
            for one in left[:limit]:
                await self._change_listed(row, one, now, rules)
            row.position = left[:limit][-1] if left else row.position
            row.updated_at = now
            if len(left) <= limit:
                row.status, row.finished_at = "completed", now
        elif not isinstance(row.order, PauseAllOrder):
            page = (await self.list_schedules(row.order.where, limit=limit, after=row.position)).items
            for found in page:
                if found.facts.created_at <= row.made_at:
                    row.matched += 1
                    await self._change_one(row, self._schedule(found.id), now, rules)
            row.position = page[-1].id if page else row.position
            row.updated_at = now
            if len(page) < limit:
                row.status, row.finished_at = "completed", now
        return self._operation(id)

    async def _change_listed(self, row: OperationRow, id: str, now: int, rules: FireRules) -> None:
        before = (row.changed, row.refused)
        facts = self.facts.get(id)
        found = facts is not None and facts.deleted_at is None and self._sees(facts.tenant, facts.owner)
        if found:
            await self._change_one(row, self._schedule(id), now, rules)
        if row.refused == before[1]:
            same = Became.UNCHANGED if found else Became.NOT_FOUND
            _tell(row, Item(id, Became.CHANGED if row.changed > before[0] else same))

    async def begin_purge(
        self, ref: str, new: NewOperation, *, rules: FireRules, tenant: str | None = None
    ) -> Operation | None:
        order = new.order
        assert isinstance(order, PurgeOrder)
        if new.id in self.operations:
            return await self.get_operation(new.id)
        page = await self.list_changes(ref, limit=1, tenant=tenant)
        if page is None:
            return None
        id = page.items[0].schedule_id
        delete = lambda schedule, at: editing.delete(schedule, at, new.by, order.cancel_running)
        await self.change_schedule(id, delete, tenant=tenant, rules=rules)
        return await self.put_operation(replace(new, order=replace(order, schedule_id=id, ref=ref)))

    def _purge(self, row: OperationRow, schedule_id: str, limit: int, now: int) -> None:
        gone = sorted(id for id, run in self.history.items() if run.schedule_id == schedule_id)[:limit]
        self._forget_runs(gone)
        row.matched += len(gone)
        row.changed += len(gone)
        row.updated_at = now
        if not gone and not self._open_runs(schedule_id):
            row.status, row.finished_at = "completed", now
            self._forget_schedule(schedule_id)

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
                **self._mine(),
            )
        return await self.get_operation(new.id)

    def _counted(self, row: OperationRow, now: int) -> OperationRow:
        assert isinstance(row.order, BackfillOrder)
        ids = [backfill_run_id(row.id, window) for window in row.order.windows]
        still_open = sum(id in self.runs for id in ids)
        failed = sum(id in self.history and self.history[id].status in ("failed", "cancelled") for id in ids)
        counted = replace(row, changed=len(ids) - still_open, refused=failed, updated_at=now)
        if still_open:
            return counted
        ended_at = max(row.updated_at, *(self.history[id].finished_at or 0 for id in ids if id in self.history), 0)
        return replace(counted, status="completed", finished_at=ended_at, updated_at=ended_at)

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
            **self._mine(),
        )

    async def _change_one(self, row: OperationRow, schedule: Schedule, now: int, rules: FireRules) -> None:
        order, by = row.order, row.made_by
        if not isinstance(order, TriggerOrder):
            schedule = self._end_pause(schedule, now)
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
                case TriggerOrder():
                    run_id = bulk_run_id(row.id, schedule.id, row.made_at)
                    await self.trigger(
                        schedule.id,
                        run_id=run_id,
                        payload=None,
                        force=order.force,
                        rules=rules,
                        check=bulk.check_trigger,
                    )
                    row.changed += 1
                    return
                case _:
                    raise AssertionError("it changes no schedule")
        except DulyError as error:
            row.refused += 1
            _tell(row, Item(schedule.id, Became.REFUSED, error.message))
            return
        if change is not None:
            row.changed += 1
            self._apply(change, now)

    async def get_operation(self, id: str) -> Operation | None:
        row = self.operations.get(id)
        if row is None or not self._sees_operation(id):
            return None
        return _seen(self._looked_at(row))

    def _looked_at(self, row: OperationRow) -> OperationRow:
        counts = isinstance(row.order, BackfillOrder) and row.status == "running"
        return self._counted(row, row.updated_at) if counts else row

    async def list_operations(self, *, limit: int, after: str | None = None) -> Page[Operation]:
        seen = [id for id in self.operations if self._sees_operation(id)]
        ids = sorted((id for id in seen if after is None or id < after), reverse=True)
        return Page(
            [replace(_seen(self._looked_at(self.operations[id])), items=()) for id in ids[:limit]],
            ids[limit - 1] if len(ids) > limit else None,
        )

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
        items=tuple(Item(id, Became(became), detail) for id, became, detail in json.loads(row.items or "[]")),
    )


def _tell(row: OperationRow, item: Item) -> None:
    told = [*json.loads(row.items or "[]"), [item.id, item.became.value, item.detail]]
    row.items = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
