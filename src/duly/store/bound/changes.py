"""The audit trail, bound to its program."""

from __future__ import annotations

from functools import partial

from duly.core.change import ScheduleChange
from duly.store.methods import changes
from duly.store.values import Page

from .base import Bound


class BoundChanges(Bound):
    """``protocol.Changes`` on a driver."""

    async def list_changes(
        self, ref: str, *, limit: int, after: int | None = None, tenant: str | None = None
    ) -> Page[ScheduleChange] | None:
        return await self._read(partial(changes.list_changes, ref=ref, limit=limit, after=after, tenant=tenant))
