"""Schedules declared in code: upserted at start by key, never deleted.

The code decides (``update_from_code``): a start makes each declared schedule what the code says, also in the fields
that the code no longer mentions, and leaves alone what a person paused or ended. With ``keep_database`` it creates
what is missing and changes nothing else. A schedule that the app declared before and does not any more is an orphan:
it is paused, with a reason that says so, and belongs to nobody from then on, so that a person who resumes it is not
overruled by the next start. Declared again, it is resumed, and its catch-up policy decides about the windows between.

Instances that start at once with the same code find each other's work done. In a rolling deploy the newest start
wins: each start writes at most once, so old and new code do not overwrite each other while they run, and an old
instance that is restarted in between brings its own definition back until the next new one starts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from copy import copy
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from duly.core.errors import ConfigurationError, KeyInUse, MomentInPast, OutcomeUnknown, StoreUnavailable
from duly.core.policy import choose
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.schedule import Schedule
from duly.runtime.clock import Clock
from duly.store.codec import UnreadableDefinition
from duly.store.sql import SqlStore
from duly.store.values import NewSchedule, Put

from .building import Builder
from .checking import check_words
from .editing import Replacement, followed
from .placing import placed
from .words import SCHEDULE_WORDS

UNNAMED = "default"
CODE = "code"
ORPHAN = "orphan: "
ORPHANED = f"{ORPHAN}no longer declared in the code"
DISABLED = "disabled in the code"
SET = "set:"
"""A schedule of a set (``applying.py``) names it after this; no app is called so."""

TRIES = 6
FIRST_REST = 0.1
Value = TypeVar("Value")
log = logging.getLogger("duly.app")


class Sync(StrEnum):
    """Who decides about a declared schedule that is stored already."""

    UPDATE_FROM_CODE = "update_from_code"
    KEEP_DATABASE = "keep_database"


class Declared:
    """The schedules that this app's code declares."""

    def __init__(
        self, store: SqlStore, builder: Builder, clock: Clock, *, app: str | None, sync: str, scheduler: bool
    ) -> None:
        if app is not None and not (isinstance(app, str) and app):
            raise ConfigurationError(f"name is {app!r}; expected text, or None")
        if app is not None and app.startswith(SET):
            raise ConfigurationError(f"name is {app!r}; expected one that does not start with {SET!r}")
        self._store = store
        self._builder = builder
        self._clock = clock
        self._app = app or UNNAMED
        self._named = app is not None
        self._sync = choose(Sync, sync, "sync")
        self._scheduler = scheduler
        self._arguments: dict[str, Mapping[str, Any]] = {}
        self._syncs: dict[str, Sync] = {}
        self._dropped: frozenset[str] = frozenset()
        self._places: dict[str, str] = {}

    def add(self, declared: Mapping[str, Any], *, place: str | None = None) -> None:
        """Take the arguments of ``create``, and ``sync``; they are checked in full when the app starts.

        ``place`` is where they stand, if not in code: whoever must mend them is told of it.
        """
        with placed(place):
            self._add(declared)
        if place is not None:
            self._places[declared["key"]] = place

    def _add(self, declared: Mapping[str, Any]) -> None:
        if not isinstance(declared, Mapping):
            raise ConfigurationError(f"a declared schedule is {declared!r}; expected a mapping of create's arguments")
        check_words("a declared schedule", declared, SCHEDULE_WORDS | {"sync"})
        key = declared.get("key")
        if not isinstance(key, str):
            raise ConfigurationError(f"a declared schedule has the key {key!r}; expected a text: it is known by it")
        if key in self._arguments:
            raise ConfigurationError(f"schedule {key!r} is declared twice; give one of them another key")
        self._syncs[key] = choose(Sync, declared.get("sync", self._sync), "sync")
        self._arguments[key] = {word: value for word, value in declared.items() if word != "sync"}

    def known_as(self, name: str) -> None:
        """Declare under a name other than the app's, so that nothing else counts as declared by it."""
        self._app, self._named = name, True

    def take_over(self, other: Declared) -> None:
        """Declare what another did."""
        self._arguments |= other._arguments
        self._syncs |= other._syncs
        self._places |= other._places

    def build(self) -> list[NewSchedule]:
        """What the code declares, checked in full and ready to be stored."""
        made = []
        for key, arguments in self._arguments.items():
            with placed(self._places.get(key)):
                made.append(self._builder.schedule(**arguments, app=self._app))
        return made

    def instead(self, keys: Collection[str], declared: Iterable[tuple[Mapping[str, Any], str]]) -> Declared:
        """The same without some keys and with what is declared in their place, and where; this one stays as it is."""
        other = copy(self)
        other._arguments = {key: found for key, found in self._arguments.items() if key not in keys}
        other._syncs = {key: found for key, found in self._syncs.items() if key not in keys}
        other._places = {key: found for key, found in self._places.items() if key not in keys}
        for one, place in declared:
            other.add(one, place=place)
        other._dropped = frozenset(keys) - other._arguments.keys()
        return other

    async def sync(self, *, knows_jobs: bool = True) -> None:
        """Create what is new, update what changed, pause what is gone; ten instances may do this at once.

        An app without a name, schedules and jobs has no code that something could be gone from.
        """
        new = self.build()
        for item in new:
            item.facts.paused_by, item.facts.pause_reason = (CODE, DISABLED) if item.facts.paused_at else (None, None)
        if new:
            puts = await self._persist(lambda: self._store.put_schedules(new))
            for item, put in zip(new, puts, strict=True):
                with placed(self._places.get(item.facts.key)):
                    await self._settle(item, put)
        if self._named or (self._scheduler and (knows_jobs or self._arguments)):
            await self._pause_orphans()

    async def _settle(self, item: NewSchedule, put: Put) -> None:
        """Bring a schedule that is stored already up to what the code says."""
        if isinstance(put, Schedule):
            return
        key = item.facts.key
        try:
            found = await self._persist(lambda: self._store.get_schedule(key, tenant=item.facts.tenant))
        except UnreadableDefinition as error:  # in a rolling deploy the old code must still start
            log.warning("schedule %r is left as it is stored: %s", key, error)
            return
        if found is None:
            if not isinstance(put, MomentInPast):
                raise put
            log.warning("schedule %r is declared for a moment that has gone by; it is not created: %s", key, put)
            return
        if not isinstance(put, KeyInUse | MomentInPast):
            raise put
        update = _Update(item, self._syncs[key])
        if update(found, self._clock.now()) is not None:
            await self._persist(lambda: self._store.change_schedule(found.id, update))

    async def _pause_orphans(self) -> None:
        """Pause what this app declared once and declares no more.

        Apps without a name cannot tell their schedules from one another's. They leave alone what a live instance
        would still run; where several share a database, a name is better.
        """
        declared = await self._persist(lambda: self._store.declared_schedules(self._app))
        gone = [s for s in declared if s.key not in self._arguments and not s.status.ended]
        if gone and not self._named:
            served = {job for instance in await self._persist(self._store.list_instances) for job in instance.jobs}
            gone = [s for s in gone if s.key in self._dropped or s.definition.target.handler not in served]
        for schedule in gone:
            log.warning("schedule %r is no longer declared by app %r: paused", schedule.key, self._app)
            await self._persist(partial(self._store.change_schedule, schedule.id, self._orphan))

    def _orphan(self, schedule: Schedule, now: int) -> Change | None:
        if schedule.facts.app != self._app or schedule.status.ended:
            return None
        freed = editing.edit(schedule, now, by=CODE, facts_changes={"app": None})
        if not schedule.enabled:
            return freed
        reason = f"{ORPHANED} of app {self._app!r}"
        return followed(schedule, freed, lambda after: editing.pause(after, now, reason=reason, by=CODE))

    async def _persist(self, call: Callable[[], Awaitable[Value]]) -> Value:
        """Call the store; while it is away, or the answer was lost, try again a few times: every call is safe twice."""
        rest = FIRST_REST
        for _ in range(TRIES - 1):
            try:
                return await call()
            except (StoreUnavailable, OutcomeUnknown) as error:
                log.warning("declared schedules are not synced yet, trying again in %.1f s: %s", rest, error)
                await self._clock.wait(asyncio.Event(), rest)
                rest *= 2
        return await call()


class _Update:
    """Makes a stored schedule what the code says; None when it already is, or when a person ended it."""

    def __init__(self, wanted: NewSchedule, sync: Sync) -> None:
        self._wanted = wanted
        self._replacement = Replacement(wanted=wanted, app=wanted.facts.app, by=CODE)
        self._keep = sync is Sync.KEEP_DATABASE

    def __call__(self, schedule: Schedule, now: int) -> Change | None:
        if schedule.status.ended:
            return None
        facts = schedule.facts
        orphan = (facts.pause_reason or "").startswith(ORPHAN)  # of an app, or of a set of files
        if self._keep:
            change = editing.edit(schedule, now, by=CODE, facts_changes={"app": self._wanted.facts.app})
        else:
            change = self._replacement(schedule, now) or Change(facts, schedule.cursor, by=CODE)
        wants_pause = self._wanted.facts.paused_at is not None
        if wants_pause and not self._keep and (schedule.enabled or orphan):
            change = followed(schedule, change, lambda s: editing.pause(s, now, reason=DISABLED, by=CODE))
        elif orphan or (not wants_pause and not self._keep and facts.paused_by == CODE and not schedule.enabled):
            change = followed(schedule, change, lambda s: editing.resume(s, now, by=CODE, catch_up=orphan))
        return change if change.changed else None
