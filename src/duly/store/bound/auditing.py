"""Audits, bound to their programs."""

from __future__ import annotations

from functools import partial

from duly.core.audit import Ledger
from duly.store.methods import auditing

from .base import Bound


class BoundAuditing(Bound):
    """``protocol.Auditing`` on a driver."""

    async def read_ledger(
        self,
        *,
        since: int,
        until: int,
        limit: int,
        after: str | None = None,
        ref: str | None = None,
        tenant: str | None = None,
    ) -> Ledger | None:
        return await self._read(
            partial(auditing.read_ledger, since=since, until=until, limit=limit, after=after, ref=ref, tenant=tenant)
        )

    async def overdue(self, *, late_ms: int, limit: int) -> list[str]:
        return await self._read(partial(auditing.overdue, late_ms=late_ms, limit=limit))
