"""Keeps the house: retention in small batches, pauses that end, runs that nobody can execute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duly.config import Settings
from duly.core.operation import OperationKind
from duly.core.run import RunStatus
from duly.runtime.events import Observer
from duly.store.protocol import Store

from .jumps import JumpGuard
from .restores import RestoreWatch

BATCH = 1000
OPERATIONS = 5
STEPS = 20
STEP = 200
ROLE = "janitor"
EVENTS_KEPT_MS = 300_000
EVENTS_MOST = 100_000
PURGES = 10
"""Full batches of old runs that one round deletes: a fleet may end thousands a second."""

LOOK_EVERY_MS = 60_000
"""How long nobody looks again for runs to delete where none were left: a look walks over all that are kept longer."""


class Janitor:
    """Runs on one instance at a time, under a lease."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        observer: Observer,
        guard: JumpGuard,
        session: Callable[[], int | None],
        watch: RestoreWatch,
    ) -> None:
        self._store = store
        self._settings = settings
        self._observer = observer
        self._guard = guard
        self._session = session
        self._watch = watch
        self._told_unknown = False
        self._looked_at: dict[float | RunStatus, int] = {}

    async def run_once(self) -> float:
        """Do one small round; answer the seconds to the next."""
        session = self._session()
        rest = self._settings.heartbeat
        # What a leap makes old must not be deleted, and a pause that a leap ends must not end.
        if self._guard.held_for() > 0 or await self._guard.look(self._store):
            return max(rest, self._guard.held_for())
        if session is None:
            return rest
        state = await self._watch.look()
        if await self._store.take_lease(ROLE, session, lease_ms=self._settings.lease_ms) is None:
            return rest
        self._store.remember(state)
        busy = [await self._tend(), await self._go_on(), await self._forget(), await self._purge()]
        return self._settings.poll / 4 if any(busy) else rest

    async def _tend(self) -> bool:
        """Let go on what waits for an instant or for nobody; True if there may be more."""
        resumed = await self._store.resume_expired_pauses(limit=BATCH)
        await self._store.release_stuck_lanes(limit=BATCH)
        adopted = await self._store.adopt_fair_keys(limit=BATCH)
        unknown = await self._store.hold_unknown_jobs()
        if unknown or self._told_unknown:  # also when there are none any more
            self._observer.jobs_unknown(unknown)
        self._told_unknown = bool(unknown)
        unheard = await self._store.end_unheard_topics(patience_ms=self._settings.lease_ms * 2, limit=BATCH)
        if unheard:
            self._observer.topics_unheard(unheard)
        return BATCH in (resumed, adopted, len(unheard))

    async def _go_on(self) -> bool:
        """Make a step of each operation whose driver is gone; True if there may be more to do."""
        left = await self._store.waiting_operations(untouched_ms=self._settings.lease_ms, limit=OPERATIONS)
        for id in left:
            removed = -1
            for _ in range(STEPS):
                operation = await self._store.step_operation(id, limit=STEP, rules=self._settings.fire_rules)
                if operation is None or operation.finished or operation.kind is OperationKind.BACKFILL:
                    break  # the runs of a backfill are others' work: it is only counted
                if operation.kind is OperationKind.PURGE and operation.changed == removed:
                    break  # it waits for runs that are still open
                removed = operation.changed
        return bool(left)

    async def _forget(self) -> bool:
        """Delete one batch of what was kept for a while only, whatever the retention; True if there may be more."""
        requests = await self._store.purge_requests(limit=BATCH)
        keys = await self._store.purge_keys(limit=BATCH)
        events = await self._store.purge_events(keep_ms=EVENTS_KEPT_MS, most=EVENTS_MOST, limit=BATCH)
        return max(requests, keys, events) >= BATCH

    async def _purge(self) -> bool:
        """Delete one batch of what is past its retention; True if there may be more. 0 keeps for ever."""
        now = await self._store.now()
        runs = [await self._purge_older(now, age, statuses) for age, statuses in self._settings.retentions.items()]
        runs += [
            await self._purge_surplus(now, status, keep) for status, keep in self._settings.retention_counts.items()
        ]
        if self._settings.retention == 0:
            return any(runs)
        before = now - round(self._settings.retention * 1000)
        schedules = await self._store.purge_schedules(ended_before=before, limit=BATCH)
        operations = await self._store.purge_operations(finished_before=before, limit=BATCH)
        return any(runs) or BATCH in (schedules, operations)

    async def _purge_older(self, now: int, age: float, statuses: Sequence[RunStatus]) -> bool:
        """Delete runs of some statuses that are older than so many seconds; True if there may be more."""
        if age == 0 or not self._is_time(age, now):
            return False
        before = now - round(age * 1000)
        for _ in range(PURGES):
            if await self._store.purge_history(finished_before=before, limit=BATCH, statuses=statuses) < BATCH:
                self._looked_at[age] = now
                return False
        return True

    async def _purge_surplus(self, now: int, status: RunStatus, keep: int) -> bool:
        """Delete runs beyond the greatest number of their status; True if there may be more."""
        if not self._is_time(status, now):
            return False
        if await self._store.purge_surplus(status, keep=keep, limit=BATCH) == BATCH:
            return True
        self._looked_at[status] = now
        return False

    def _is_time(self, what: float | RunStatus, now: int) -> bool:
        """Whether to look again for something of which none was left."""
        looked_at = self._looked_at.get(what)
        return looked_at is None or not 0 <= now - looked_at < LOOK_EVERY_MS
