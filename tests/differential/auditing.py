"""What an audit reads, in the model: everything there is, as the dictionaries have it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duly.core.audit import Ledger, Life, RevisionMade, Stop, WindowRow
from duly.core.change import ScheduleChange
from duly.core.instants import to_ms
from duly.core.operation import OperationKind
from duly.core.run import RunKind
from duly.core.schedule import UNREAD, Cursor, Facts
from duly.runtime.clock import Clock
from duly.store.methods.auditing import switched
from duly.store.orders import PurgeOrder
from tests.differential.operating import OperationRow


class AuditingModel:
    """The part of the model that an audit reads."""

    _clock: Clock
    facts: dict[str, Facts]
    cursors: dict[str, Cursor]
    revisions: dict[tuple[str, int], Any]
    changes: dict[str, list[ScheduleChange]]
    operations: dict[str, OperationRow]
    runs: dict[str, Any]
    history: dict[str, Any]
    meta: dict[str, Any]

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
        found = sorted(id for id, facts in self.facts.items() if tenant is None or facts.tenant == tenant)
        if ref is not None:
            found = self._named(ref, found)
            if not found:
                return None
        found = [id for id in found if id > (after or "") and self.facts[id].created_at <= until]
        return Ledger(
            now=self._clock.now(),
            stops=self._stops(),
            purged_before=self.meta.get("purged_before"),
            going=frozenset(
                one.order.schedule_id
                for one in self.operations.values()
                if isinstance(one.order, PurgeOrder) and one.status == "running" and one.order.schedule_id is not None
            ),
            lives=[self._life(id, since) for id in found[:limit]],
            next=found[limit - 1] if len(found) > limit else None,
        )

    async def overdue(self, *, late_ms: int, limit: int) -> list[str]:
        if self.meta["paused_at"] is not None:
            return []
        before = self._clock.now() - late_ms
        owed = [c for c in self.cursors.values() if c.fire_at is not None and c.fire_at < before]
        return [c.schedule_id for c in sorted(owed, key=lambda c: c.fire_at or 0)][:limit]

    def _named(self, ref: str, among: list[str]) -> list[str]:
        if ref in among:
            return [ref]
        keyed = [self.facts[id] for id in among if self.facts[id].key == ref]
        return [facts.id for facts in sorted(keyed, key=lambda f: -1 if f.deleted_at is None else -f.deleted_at)][:1]

    def _life(self, id: str, since: int) -> Life:
        facts, cursor = self.facts[id], self.cursors[id]
        life = Life(
            schedule_id=id,
            key=facts.key,
            tenant=facts.tenant,
            created_at=facts.created_at,
            paused_at=facts.paused_at,
            ended_at=facts.ended_at,
            status=cursor.status,
            window_at=cursor.window_at,
            next_window_at=cursor.next_window_at,
            fire_at=cursor.fire_at,
            fired=cursor.fired,
            error=cursor.error,
        )
        for (owner, number), row in sorted(self.revisions.items()):
            if owner == id:
                life.revisions.append(RevisionMade(number, row.made_at, replace(row.definition, payload=UNREAD)))
        for change in sorted(self.changes.get(id, []), key=lambda change: change.number):
            switch = switched(to_ms(change.at), change.by, change.fields)
            if switch is not None:
                life.switches.append(switch)
        rows = [
            *(
                WindowRow(r.id, r.revision, r.window_at, None, None, r.fired_at, None, None)
                for r in self._open_windows(id)
            ),
            *(
                WindowRow(h.id, h.revision, h.window_at, h.since, h.windows, h.fired_at, h.finished_at, str(h.status))
                for h in self.history.values()
                if h.schedule_id == id and h.kind == RunKind.WINDOW and h.window_at >= since
            ),
        ]
        life.rows = sorted(rows, key=lambda row: (row.window_at, row.id, row.status or ""))
        life.busy = any(run.schedule_id == id and run.kind != RunKind.WINDOW for run in self.runs.values())
        return life

    def _open_windows(self, id: str) -> list[Any]:
        return [run for run in self.runs.values() if run.schedule_id == id and run.kind == RunKind.WINDOW]

    def _stops(self) -> list[Stop]:
        stops: list[Stop] = []
        since: int | None = None
        for one in sorted(self.operations.values(), key=lambda one: (one.made_at, one.id)):
            if one.kind == OperationKind.PAUSE_ALL and since is None:
                since = one.made_at
            elif one.kind == OperationKind.RESUME_ALL and since is not None and one.finished_at is not None:
                stops.append(Stop(since, one.finished_at))
                since = None
        paused_at = self.meta["paused_at"]
        return stops if paused_at is None else [*stops, Stop(paused_at if since is None else since, None)]
