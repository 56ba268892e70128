"""``app.operations``: work in many steps, begun by one call and carried on by whoever is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duly.config import Settings
from duly.core.errors import OperationNotFound
from duly.core.operation import Operation, OperationKind
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.orders import BulkOrder, NewOperation
from duly.store.sql import SqlStore
from duly.store.values import Page

from .checking import check_cursor, check_id, check_limit, check_text, may_be_id

Progress = Callable[[Operation], None]
"""Is shown the operation after each step."""

FIRST_STEP, SMALLEST_STEP, LARGEST_STEP = 200, 100, 1000
SHORT, LONG = 0.01, 0.03
"""Seconds that a step should take: while it writes, others wait, above all a fire on SQLite."""


class Operations:
    """Look at operations, and carry them on. An operation is stored before its first step.

    If the process that drives it goes away, the janitor of another instance goes on within a lease.
    """

    def __init__(
        self, store: SqlStore, settings: Settings, clock: Clock, chance: Chance, *, on_step: Callable[[], None]
    ) -> None:
        self._store = store
        self._rules = settings.fire_rules
        self._clock = clock
        self._chance = chance
        self._on_step = on_step

    async def get(self, id: str) -> Operation | None:
        """The operation as it is now, or None."""
        return await self._store.get_operation(id) if may_be_id(id, "an operation") else None

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Operation]:
        """One page, newest first."""
        return await self._store.list_operations(limit=check_limit(limit), after=check_cursor(cursor))

    async def begin(
        self, order: BulkOrder, *, missing: Sequence[str] = (), by: str | None = None, id: str | None = None
    ) -> Operation:
        """Store an operation without making a step; one that has this id already is answered as it is.

        Whoever drives it does the work; if nobody does, the janitor of some instance. ``missing`` was named and is
        nobody's: ``items`` tells of it.
        """
        id = self._chance.id(self._clock) if id is None else check_id(id)
        by = check_text(by, "by", 100)
        return await self._store.put_operation(NewOperation(id=id, order=order, by=by, missing=tuple(missing)))

    async def drive(self, id: str, on_progress: Progress | None = None, *, within: float | None = None) -> Operation:
        """Make steps until the operation has finished, or waits for runs that others execute; answer it.

        With ``within`` no step is begun after so many seconds.
        """
        if not may_be_id(id, "an operation"):
            raise OperationNotFound.named(id)
        started = self._clock.steady()
        limit, removed = FIRST_STEP, -1
        while True:
            began = self._clock.steady()
            operation = await self._store.step_operation(id, limit=limit, rules=self._rules)
            took = self._clock.steady() - began
            if operation is None:
                raise OperationNotFound.named(id)
            self._on_step()
            if on_progress is not None:
                on_progress(operation)
            if operation.finished or operation.kind is OperationKind.BACKFILL:
                return operation  # the runs of a backfill are executed by others
            if operation.kind is OperationKind.PURGE and operation.changed == removed:
                return operation  # what is left waits for runs that are still open
            removed = operation.changed
            if within is not None and self._clock.steady() - started >= within:
                return operation
            if took > LONG:
                limit = max(SMALLEST_STEP, limit // 2)
            elif took < SHORT:
                limit = min(LARGEST_STEP, limit * 2)
