"""Dead letters, bound to their programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from duly.core.dead import AttemptRecord, DeadGroup, OnDead
from duly.core.run import Run
from duly.store.dead import DeadFilter, DeadRef, Handled, Redrive
from duly.store.methods import dead_letters, dying, listing
from duly.store.values import Page

from .base import Bound


class BoundDeadLetters(Bound):
    """``protocol.DeadLetters`` on a driver."""

    async def read_attempts(self, run_id: str) -> list[AttemptRecord]:
        return await self._read(lambda now: dead_letters.read_attempts(run_id))

    async def list_dead(self, where: DeadFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        return await self._read(partial(listing.list_dead, where=where, limit=limit, after=after))

    async def find_dead(
        self, where: DeadFilter, *, died_by: int, limit: int, after: str | None = None
    ) -> Sequence[DeadRef]:
        return await self._read(partial(dead_letters.find_dead, where=where, died_by=died_by, limit=limit, after=after))

    async def group_dead(self, where: DeadFilter, *, limit: int) -> list[DeadGroup]:
        return await self._read(partial(dead_letters.group_dead, where=where, limit=limit))

    async def redrive(self, requests: Sequence[Redrive]) -> list[Handled]:
        transaction = partial(dead_letters.redrive, requests=requests, definitions=self._definitions)
        return await self._write_and_hint("runs", transaction, None)

    async def acknowledge(self, dead: Sequence[DeadRef]) -> list[Handled]:
        return await self._write(partial(dead_letters.acknowledge, dead=dead))

    async def put_on_dead(self, jobs: Sequence[str], on_dead: Sequence[OnDead]) -> None:
        await self._write(partial(dying.put_on_dead, jobs=jobs, on_dead=on_dead))
