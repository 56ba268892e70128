"""Schedules, bound to their programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from duly.core.errors import ClientRequestIdInUse, KeyInUse
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.rules.replacing import Succession
from duly.core.schedule import Schedule
from duly.store.clash import Clash
from duly.store.load import Load
from duly.store.methods import bulk, changing, overview, reading, replacing, schedules
from duly.store.statements import Program
from duly.store.values import Ahead, Matching, NewSchedule, Page, Put, ScheduleFilter, Stats

from .base import Bound

SOON_MS = 300_000
"""A definition that was only just made is kept for its first fire if that is so near."""


class BoundSchedules(Bound):
    """``protocol.Schedules`` on a driver; with ``connection`` inside the caller's transaction."""

    async def put_schedules(
        self, new: Sequence[NewSchedule], *, whole: bool = False, connection: Any = None
    ) -> list[Put]:
        if connection is not None:
            return await self._put_schedules(schedules.put_schedules, new, whole, connection)
        puts = await self._put_new(new, whole)
        made = (put for put in puts if isinstance(put, Schedule) and _fires_soon(put))
        self._definitions.keep(((put.facts.id, put.facts.revision), put.definition) for put in made)
        return puts

    async def _put_new(self, new: Sequence[NewSchedule], whole: bool) -> list[Put]:
        """Count on them being new, which takes one step; after a clash look, until nothing clashes any more."""
        if not self._whole._clashing:
            with suppress(Clash):
                return await self._put_schedules(schedules.add_schedules, new, whole)
        puts = await self._put_schedules(schedules.put_schedules, new, whole)
        self._whole._clashing = any(isinstance(put, KeyInUse | ClientRequestIdInUse) for put in puts)
        return puts

    async def _put_schedules(
        self,
        program: Callable[..., Program[list[Put]]],
        new: Sequence[NewSchedule],
        whole: bool,
        connection: Any = None,
    ) -> list[Put]:
        most = None if self._whose is None else self._whose.schedules
        return await self._write_and_hint("schedules", partial(program, new=new, most=most, whole=whole), connection)

    async def change_schedule(
        self,
        ref: str,
        change: Callable[[Schedule, int], Change | None],
        *,
        tenant: str | None = None,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
        expected: tuple[float, float] | None = None,
        connection: Any = None,
    ) -> Schedule | None:
        return await self._write_and_hint(
            "schedules",
            partial(
                changing.change_schedule,
                ref=ref,
                change=change,
                tenant=tenant,
                rules=rules,
                definitions=self._definitions_on(connection),
                expected=expected,
            ),
            connection,
        )

    async def replace_schedule(
        self,
        ref: str,
        new_id: str,
        succession: Callable[[Schedule, int], Succession],
        *,
        tenant: str | None = None,
        connection: Any = None,
    ) -> Schedule | None:
        transaction = partial(replacing.replace_schedule, ref=ref, new_id=new_id, succession=succession, tenant=tenant)
        return await self._write_and_hint("schedules", transaction, connection)

    async def get_schedule(self, ref: str, *, tenant: str | None = None) -> Schedule | None:
        return await self._read(lambda now: schedules.find_schedule(ref, tenant))

    async def read_schedules(self, ids: Sequence[str]) -> list[Schedule]:
        return await self._read(lambda now: schedules.read_schedules(ids))

    async def declared_schedules(self, app: str) -> list[Schedule]:
        return await self._read(partial(reading.declared_schedules, app=app))

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        return await self._read(partial(reading.list_schedules, where=where, limit=limit, after=after))

    async def list_upcoming(
        self, *, limit: int, after: str | None = None, tenant: str | None = None, owner: str | None = None
    ) -> Page[Schedule]:
        return await self._read(partial(overview.list_upcoming, limit=limit, after=after, tenant=tenant, owner=owner))

    async def look_ahead(
        self,
        *,
        steps: int,
        step_ms: int,
        limit: int,
        most: int,
        tenant: str | None = None,
        owner: str | None = None,
    ) -> Ahead:
        return await self._read(
            lambda now: overview.look_ahead(now, steps, step_ms, limit, most, tenant=tenant, owner=owner)
        )

    async def count_schedules(self, where: ScheduleFilter, *, limit: int) -> Matching:
        return await self._read(partial(bulk.count_matches, where=where, limit=limit))

    async def stats(self, *, late_ms: int, limit: int = 10_000) -> Stats:
        """How the store fares, for whoever watches; each count stops at ``limit``."""
        return await self._read(partial(overview.stats, limit=limit, late_ms=late_ms))

    async def count_load(self, *, limit: int = 10_000) -> Load:
        """How much there is to do now, and since when, for whoever watches; each count stops at ``limit``."""
        return await self._read(partial(reading.count_waits, limit=limit))

    async def schema_version(self) -> int:
        """The schema's number, read now: whoever gets an answer has reached the store."""
        return await self._read(reading.schema_version)


def _fires_soon(schedule: Schedule) -> bool:
    fire_at = schedule.cursor.fire_at
    return fire_at is not None and fire_at - schedule.facts.created_at <= SOON_MS
