"""Runs, bound to their programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duly.core.rules.firing import FireRules
from duly.core.run import Run
from duly.core.schedule import Schedule
from duly.store.methods import enqueueing, listing, marking, overview, runs, tracing
from duly.store.seen import Minute, Outcomes
from duly.store.values import NewRequest, Page, RunFilter, Triggered

from .base import Bound


class BoundRuns(Bound):
    """``protocol.Runs`` on a driver; with ``connection`` inside the caller's transaction."""

    async def enqueue(self, requests: Sequence[NewRequest], *, connection: Any = None) -> list[Run]:
        transaction = partial(enqueueing.enqueue, requests=requests, borrowed=connection is not None)
        return await self._write_and_hint("runs", transaction, connection)

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
        connection: Any = None,
    ) -> Triggered | None:
        transaction = partial(
            runs.trigger,
            ref=ref,
            run_id=run_id,
            payload=payload,
            force=force,
            rules=rules,
            tenant=tenant,
            check=check,
            borrowed=connection is not None,
        )
        return await self._write_and_hint("runs", transaction, connection)

    async def request_cancel(self, run_id: str, *, connection: Any = None) -> Run | None:
        run = await self._write_and_hint("cancels", partial(runs.request_cancel, run_id=run_id), connection)
        if connection is None:
            self.driver.hint("runs")  # the end of one that waited may let another one go
        return run

    async def get_run(self, run_id: str) -> Run | None:
        return await self._read(lambda now: runs.find_run(run_id))

    async def read_traces(self, ids: Sequence[str]) -> dict[str, str]:
        return await self._read(partial(tracing.read_traces, ids=ids))

    async def list_runs(self, where: RunFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        look = marking.list_marked if where.marks else listing.list_runs
        return await self._read(partial(look, where=where, limit=limit, after=after))

    async def recent_outcomes(self, schedule_ids: Sequence[str], *, each: int) -> dict[str, Outcomes]:
        return await self._read(partial(overview.recent_outcomes, ids=schedule_ids, each=each))

    async def count_minutes(self, *, since: int, until: int, limit: int) -> list[Minute]:
        return await self._read(partial(overview.count_minutes, since=since, until=until, limit=limit))

    async def recent_lags(self, *, limit: int) -> list[int]:
        return await self._read(partial(overview.recent_lags, limit=limit))
