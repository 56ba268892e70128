"""Keeps the house: retention in small batches, pauses that end, runs that nobody can execute."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Protocol

from duly.config import Settings
from duly.core.operation import OperationKind
from duly.runtime.clock import Clock
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
"""Full batches of a kind that one round deletes: a fleet may end thousands of runs a second."""

LOOK_EVERY = 60.0
"""Seconds in which nobody looks again for what to delete where nothing was left: it may walk over all that is kept."""


class Purge(Protocol):
    async def __call__(self, *, limit: int) -> int: ...


class Janitor:
    """Runs on one instance at a time, under a lease: a round every heartbeat, and between them the ends of pauses."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        guard: JumpGuard,
        session: Callable[[], int | None],
        watch: RestoreWatch,
        *,
        on_resumed: Callable[[], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._observer = observer
        self._guard = guard
        self._session = session
        self._watch = watch
        self._on_resumed = on_resumed
        self._round_at = clock.steady()
        self._told_unknown = False
        self._looked_at: dict[str, float] = {}
        self._purge_at = clock.steady()

    async def run_once(self) -> float:
        """End the pauses that are over, and if it is time do one small round; answer the seconds to the next."""
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
        pause_ends_at = await self._end_pauses()
        if self._clock.steady() >= self._round_at:
            busy = [await self._tend(), await self._go_on(), await self._purge()]
            self._round_at = self._clock.steady() + (self._settings.poll / 4 if any(busy) else rest)
        return max(0.0, min(self._round_at, pause_ends_at) - self._clock.steady())

    async def _end_pauses(self) -> float:
        """Resume what was paused until now; answer when, on the steady clock, there is more of it."""
        asked_at = self._clock.steady()
        # Asked before: what ends in between is either resumed now, or found by the look that follows at once.
        ends_in = await self._store.next_pause_end()
        resumed = await self._store.resume_expired_pauses(limit=BATCH)
        if resumed:
            self._on_resumed()
        if resumed == BATCH:
            return asked_at
        return math.inf if ends_in is None else asked_at + ends_in / 1000

    async def _tend(self) -> bool:
        """Let go on what waits for nobody; True if there may be more."""
        if not (self._told_unknown or await self._store.any_open()):
            return False
        await self._store.release_stuck_lanes(limit=BATCH)
        adopted = await self._store.adopt_fair_keys(limit=BATCH)
        unknown = await self._store.hold_unknown_jobs()
        if unknown or self._told_unknown:  # also when there are none any more
            self._observer.jobs_unknown(unknown)
        self._told_unknown = bool(unknown)
        unheard = await self._store.end_unheard_topics(patience_ms=self._settings.lease_ms * 2, limit=BATCH)
        if unheard:
            self._observer.topics_unheard(unheard)
        return BATCH in (adopted, len(unheard))

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

    async def _purge(self) -> bool:
        """Delete what was kept for its time; True if there may be more."""
        asked_at = self._clock.steady()
        if asked_at < self._purge_at:
            return False
        purges = self._purges(await self._store.now())
        more = any([await self._delete(asked_at, what, purge) for what, purge in purges.items()])
        self._purge_at = asked_at if more else min(self._looked_at.values()) + LOOK_EVERY
        return more

    def _purges(self, now: int) -> dict[str, Purge]:
        """What deletes a batch of each kind that is kept for a while only. A retention of 0 keeps for ever."""
        store, settings = self._store, self._settings
        purges: dict[str, Purge] = {
            "requests": store.purge_requests,
            "keys": store.purge_keys,
            "events": partial(store.purge_events, keep_ms=EVENTS_KEPT_MS, most=EVENTS_MOST),
        }
        for age, statuses in settings.retentions.items():
            if age:
                before = now - round(age * 1000)
                purges[f"runs of {age} s"] = partial(store.purge_history, finished_before=before, statuses=statuses)
        for status, keep in settings.retention_counts.items():
            purges[f"{status} runs beyond {keep}"] = partial(store.purge_surplus, status, keep=keep)
        if settings.retention:
            before = now - round(settings.retention * 1000)
            purges["schedules"] = partial(store.purge_schedules, ended_before=before)
            if all(settings.retentions):
                oldest = now - round(max(settings.retentions) * 1000)
                purges["instances"] = partial(store.purge_instances, ended_before=oldest)
            purges["operations"] = partial(store.purge_operations, finished_before=before)
        return purges

    async def _delete(self, asked_at: float, what: str, purge: Purge) -> bool:
        """Delete some batches, unless there was nothing to delete a moment ago; True if there may be more."""
        looked_at = self._looked_at.get(what)
        if looked_at is not None and asked_at - looked_at < LOOK_EVERY:
            return False
        for _ in range(PURGES):
            if await purge(limit=BATCH) < BATCH:
                self._looked_at[what] = asked_at
                return False
        return True
