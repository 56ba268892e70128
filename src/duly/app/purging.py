"""``app.schedules.delete(purge=True)``: a schedule goes with all that it left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duly.config import Settings
from duly.core.errors import ValidationFailed
from duly.core.operation import Operation
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.orders import NewOperation, PurgeOrder
from duly.store.sql import SqlStore

from .checking import check_id, check_text, check_truth
from .operations import Operations


class Purging:
    """The part of ``app.schedules`` that leaves nothing behind."""

    _store: SqlStore
    _settings: Settings
    _clock: Clock
    _chance: Chance
    _on_runs: Callable[[], None]
    operations: Operations

    async def begin_purge(
        self, ref: str, *, cancel_running: bool = False, by: str | None = None, id: str | None = None
    ) -> Operation | None:
        """Delete the schedule and begin to remove all that is left of it; None if there never was one.

        Whoever drives the operation does the work; if nobody does, the janitor of some instance.
        """
        id = self._chance.id(self._clock) if id is None else check_id(id)
        order = PurgeOrder(cancel_running=check_truth(cancel_running, "cancel_running"))
        new = NewOperation(id=id, order=order, by=check_text(by, "by", 100))
        begun = await self._store.begin_purge(ref, new, rules=self._settings.fire_rules)
        self._on_runs()
        return begun

    async def _purge(self, ref: str, connection: Any, *, cancel_running: bool, by: str | None) -> None:
        if connection is not None:
            raise ValidationFailed("purge takes many transactions; expected no connection with it", field="purge")
        begun = await self.begin_purge(ref, cancel_running=cancel_running, by=by)
        if begun is not None and not begun.finished:
            await self.operations.drive(begun.id)
