"""Singleton and unique keys, as the model keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duly.core.errors import SingletonQueueFull, UniqueKeyInUse
from duly.core.ids import lane_id
from duly.core.lane import Singleton
from duly.core.run import Hold
from duly.runtime.clock import Clock
from duly.store.values import NewRequest


@dataclass(slots=True, kw_only=True)
class LaneRow:
    id: str
    tenant: str
    key: str
    max_running: int
    tickets: int
    used_at: int
    owner: str


@dataclass(slots=True, kw_only=True)
class UniqueRow:
    tenant: str
    owner: str
    key: str
    run_id: str
    expires_at: int


class LanesModel:
    """The part of the model that says which direct runs may be, and when they may go."""

    _clock: Clock
    runs: dict[str, Any]
    history: dict[str, Any]
    lanes: dict[str, LaneRow]
    uniques: dict[tuple[str, str, str], UniqueRow]

    def _has_the_key(self, request: NewRequest) -> str | None:
        """The other run that has a request's unique key."""
        if request.unique is None:
            return None
        tenant, owner = request.realm
        held = UniqueRow(tenant=tenant, owner=owner, key=request.unique.key, run_id=request.id, expires_at=0)
        row = self.uniques.setdefault((tenant, owner, request.unique.key), held)
        if (
            request.id in self.runs
            or request.id in self.history
            or (row.run_id not in self.runs and row.expires_at <= self._clock.now())
        ):
            return None
        if request.unique.refuse or (row.run_id not in self.runs and row.run_id not in self.history):
            raise UniqueKeyInUse(request.unique.key, row.run_id)
        return row.run_id

    def _keep_key(self, request: NewRequest) -> None:
        if request.unique is not None:
            expires_at = self._clock.now() + request.unique.for_ms
            tenant, owner = request.realm
            self.uniques[tenant, owner, request.unique.key] = UniqueRow(
                tenant=tenant, owner=owner, key=request.unique.key, run_id=request.id, expires_at=expires_at
            )

    def _use_lane(self, tenant: str, owner: str, singleton: Singleton) -> None:
        id = lane_id(tenant, owner, singleton.key)
        now = self._clock.now()
        lane = self.lanes.setdefault(
            id, LaneRow(id=id, tenant=tenant, owner=owner, key=singleton.key, max_running=0, tickets=0, used_at=now)
        )
        lane.max_running, lane.used_at = singleton.max_running, now
        self._release_line(id)

    def _enter(self, id: str, singleton: Singleton | None) -> tuple[int, int]:
        """Whether one more run of a lane waits, and its number; redriven ones (no singleton) are never refused."""
        lane, waiting = self.lanes[id], self._waiting(id)
        hold = Hold.NONE
        if waiting or self._going(id) >= lane.max_running:
            hold = Hold.LANE
            if singleton is not None and singleton.max_queued is not None and len(waiting) >= singleton.max_queued:
                raise SingletonQueueFull.behind(singleton)
        lane.tickets += 1
        return int(hold), lane.tickets

    def _release_line(self, id: str | None) -> int:
        if id not in self.lanes:
            return 0
        free = max(0, self.lanes[id].max_running - self._going(id))
        released = self._waiting(id)[:free]
        for run in released:
            run.hold = 0
        return len(released)

    def _going(self, id: str) -> int:
        return sum(run.lane == id and run.hold != Hold.LANE for run in self.runs.values())

    def _waiting(self, id: str) -> list[Any]:
        waiting = [run for run in self.runs.values() if run.lane == id and run.hold == Hold.LANE]
        return sorted(waiting, key=lambda run: run.slot)

    async def purge_keys(self, *, limit: int) -> int:
        now = self._clock.now()
        used = {run.lane for run in [*self.runs.values(), *self.history.values()]}
        lanes = [id for id, lane in self.lanes.items() if lane.used_at <= now - 60_000 and id not in used]
        uniques = [k for k, row in self.uniques.items() if row.expires_at <= now and row.run_id not in self.runs]
        for id in lanes[:limit]:
            del self.lanes[id]
        for key in uniques[:limit]:
            del self.uniques[key]
        return len(lanes[:limit]) + len(uniques[:limit])
