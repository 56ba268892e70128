"""Operations, bound to their programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from duly.core.operation import Operation
from duly.core.rules.firing import FireRules
from duly.store.methods import backfilling, bulk, operations, purging, switching
from duly.store.orders import BackfillOrder, NewOperation, PauseAllOrder, PurgeOrder, ResumeAllOrder, TriggerOrder
from duly.store.values import Page

from .base import Bound


class BoundOperations(Bound):
    """``protocol.Operations`` on a driver."""

    async def put_operation(self, new: NewOperation) -> Operation:
        return await self._write(partial(operations.put_operation, new=new))

    async def step_operation(
        self,
        id: str,
        *,
        limit: int,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
    ) -> Operation | None:
        progress = await self._read(lambda now: operations.look_at(id))
        if progress is None:
            return None
        if not progress.running:
            return operations.read_operation(progress.row)
        # Whoever carries it on: it touches only what belongs to whom it was begun by.
        store = self if progress.whose is None else self.seen_by(progress.whose)
        return await store._step(progress, limit, rules)

    async def _step(self, progress: operations.Progress, limit: int, rules: FireRules) -> Operation | None:
        id, order = progress.id, progress.order
        if isinstance(order, BackfillOrder):
            return await self._write(partial(backfilling.finish_backfill, id=id))
        if isinstance(order, PurgeOrder):
            return await self._write(partial(purging.purge_step, id=id, limit=limit))
        if isinstance(order, ResumeAllOrder):
            settle = partial(switching.settle_backlog, id=id, limit=limit, rules=rules, definitions=self._definitions)
            return await self._write_and_hint("schedules", settle, None)
        if isinstance(order, PauseAllOrder):
            raise AssertionError("it is over when it is stored")
        # Found outside the write, which others wait for: a rare match may take a long look.
        match = partial(
            bulk.match_schedules, where=order.where, made_at=progress.made_at, since=progress.position, limit=limit
        )
        matches = await self._read(match) if order.ids is None else bulk.match_ids(order.ids, progress.position, limit)
        change = partial(bulk.change_matches, id=id, matches=matches, rules=rules)
        topic = "runs" if isinstance(order, TriggerOrder) else "schedules"
        return await self._write_and_hint(topic, change, None)

    async def begin_purge(
        self, ref: str, new: NewOperation, *, rules: FireRules, tenant: str | None = None
    ) -> Operation | None:
        begin = partial(
            purging.begin_purge, ref=ref, new=new, tenant=tenant, rules=rules, definitions=self._definitions
        )
        return await self._write_and_hint("schedules", begin, None)

    async def backfill(
        self, ref: str, new: NewOperation, *, payload: str | None, rules: FireRules, tenant: str | None = None
    ) -> Operation | None:
        transaction = partial(backfilling.backfill, ref=ref, new=new, payload=payload, rules=rules, tenant=tenant)
        return await self._write_and_hint("runs", transaction, None)

    async def get_operation(self, id: str) -> Operation | None:
        return await self._read(partial(operations.find_operation, id=id))

    async def list_operations(self, *, limit: int, after: str | None = None) -> Page[Operation]:
        return await self._read(partial(operations.list_operations, limit=limit, after=after))

    async def waiting_operations(self, *, untouched_ms: int, limit: int) -> Sequence[str]:
        return await self._read(partial(operations.waiting_operations, untouched_ms=untouched_ms, limit=limit))

    async def purge_operations(self, *, finished_before: int, limit: int) -> int:
        return await self._write(partial(operations.purge_operations, finished_before=finished_before, limit=limit))
