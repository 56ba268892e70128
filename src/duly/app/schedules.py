"""``app.schedules``: what people do with schedules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from duly.config import Settings
from duly.core.errors import DulyError, NotFound, ValidationFailed
from duly.core.ids import is_id
from duly.core.instants import to_ms
from duly.core.policy import choose
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.run import Run
from duly.core.schedule import Schedule, ScheduleStatus
from duly.core.timing import Timing
from duly.runtime.batcher import Batcher
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore
from duly.store.values import NewSchedule, Page, Put, ScheduleFilter

from .building import SCHEDULE_WORDS, UNSET, Builder, check_text, check_words
from .payload import encode_payload

BULK = 1000
ABREAST = 2


class Schedules:
    """Create, find, change and trigger schedules. Ids and keys are both accepted where one is asked for."""

    def __init__(
        self,
        store: SqlStore,
        settings: Settings,
        builder: Builder,
        clock: Clock,
        chance: Chance,
        *,
        on_schedules: Callable[[], None],
        on_runs: Callable[[], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._builder = builder
        self._clock = clock
        self._chance = chance
        self._on_schedules = on_schedules
        self._on_runs = on_runs
        self._puts: Batcher[NewSchedule, Schedule] = Batcher(self._put, most=BULK)

    async def create(
        self, key: str | None = None, timing: Timing | None = None, *, connection: Any = None, **options: Any
    ) -> Schedule:
        """Store a new schedule; raise if its key or client request id is in use. See ``Builder.schedule``."""
        check_words("create", options, SCHEDULE_WORDS)
        new = self._builder.schedule(key, timing, **options)
        if connection is not None:
            (put,) = await self._store.put_schedules([new], connection=connection)
            return _unwrap(put)
        return await self._puts.put(new)

    async def create_many(self, schedules: Sequence[Mapping[str, Any]]) -> list[Schedule]:
        """Store many schedules, one transaction per batch; answers them in order, raises at the first refused."""
        for arguments in schedules:
            if not isinstance(arguments, Mapping):
                raise ValidationFailed(f"create_many got {arguments!r}; expected a mapping of create's arguments")
            check_words("create_many", arguments, SCHEDULE_WORDS)
        new = [self._builder.schedule(**arguments) for arguments in schedules]
        made: list[Schedule] = []
        batches = [new[start : start + BULK] for start in range(0, len(new), BULK)]
        for start in range(0, len(batches), ABREAST):
            # Side by side: while the database writes one batch, the next is made ready.
            stored = await asyncio.gather(*map(self._store.put_schedules, batches[start : start + ABREAST]))
            made += [_unwrap(put) for puts in stored for put in puts]
        if made:
            self._on_schedules()
        return made

    async def get(self, ref: str) -> Schedule | None:
        """The schedule, or None."""
        return await self._store.get_schedule(ref)

    async def list(
        self,
        *,
        owner: str | None = None,
        tenant: str | None = None,
        job: str | None = None,
        topic: str | None = None,
        tag: str | None = None,
        status: str | None = None,
        enabled: bool | None = None,
        q: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Schedule]:
        """One page, oldest first, without payloads."""
        if status is not None:
            choose(ScheduleStatus, status, "status")
        where = ScheduleFilter(
            tenant=tenant, owner=owner, job=job, topic=topic, tag=tag, status=status, enabled=enabled, q=q
        )
        return await self._store.list_schedules(where, limit=check_limit(limit), after=check_cursor(cursor))

    async def iterate(self, **filters: Any) -> AsyncIterator[Schedule]:
        """All pages, one schedule after another."""
        cursor: str | None = None
        while True:
            page = await self.list(**{"limit": 200, **filters, "cursor": cursor})
            for schedule in page.items:
                yield schedule
            cursor = page.next_cursor
            if cursor is None:
                return

    async def pause(
        self, ref: str, *, reason: str | None = None, until: datetime | None = None, by: str | None = None
    ) -> Schedule:
        """Stop firing, with a reason and if wished an end. Paused time is not missed time."""
        end = None if until is None else to_ms(until, "until")
        reason = check_text(reason, "reason", 1000)
        return await self._change(ref, partial(editing.pause, reason=reason, until=end, by=by))

    async def resume(self, ref: str, *, catch_up: bool = False, by: str | None = None) -> Schedule:
        """Continue from now; with ``catch_up`` the paused windows count as missed and the catch-up policy applies."""
        return await self._change(ref, partial(editing.resume, catch_up=catch_up, by=by))

    async def cancel(self, ref: str, *, by: str | None = None) -> Schedule:
        """End the schedule and its waiting runs; a running one gets no further attempt. Twice is fine."""
        return await self._change(ref, partial(editing.cancel, by=by))

    async def delete(self, ref: str, *, cancel_running: bool = False, by: str | None = None) -> None:
        """Remove the schedule; its key is free again, its history stays. Twice is fine."""
        await self._store.change_schedule(ref, partial(editing.delete, by=by, cancel_running=cancel_running))
        self._on_runs()

    async def trigger(self, ref: str, payload: Any = UNSET, *, force: bool = False, id: str | None = None) -> Run:
        """Make a run now, also while paused, without moving the schedule; ``force`` ignores the overlap policy."""
        text = None if payload is UNSET else encode_payload(payload, self._settings.payload_limit)
        triggered = await self._store.trigger(
            ref,
            run_id=self._chance.id(self._clock) if id is None else check_run_id(id),
            payload=text,
            force=force,
            rules=self._settings.fire_rules,
        )
        if triggered is None:
            raise not_found("schedule", ref)
        self._on_runs()
        return triggered.run

    async def _change(self, ref: str, change: Callable[[Schedule, int], Change | None]) -> Schedule:
        changed = await self._store.change_schedule(ref, change, rules=self._settings.fire_rules)
        if changed is None:
            raise not_found("schedule", ref)
        self._on_schedules()
        return changed

    async def _put(self, new: Sequence[NewSchedule]) -> Sequence[Put]:
        puts = await self._store.put_schedules(new)
        self._on_schedules()
        return puts


def check_cursor(cursor: str | None) -> str | None:
    if cursor is not None and (not isinstance(cursor, str) or not is_id(cursor)):
        raise ValidationFailed(f"cursor is {cursor!r}; expected the next_cursor of the page before", field="cursor")
    return cursor


def check_limit(limit: int) -> int:
    if type(limit) is not int or not 1 <= limit <= 200:
        raise ValidationFailed(f"limit is {limit!r}; expected a whole number from 1 to 200", field="limit", got=limit)
    return limit


def check_run_id(id: str) -> str:
    """Answer an id that the caller chose for a run, or refuse it."""
    if not isinstance(id, str) or not is_id(id):
        raise ValidationFailed(f"id is {id!r}; expected a UUID in lower case with hyphens", field="id", got=id)
    return id


def not_found(what: str, ref: str) -> NotFound:
    return NotFound(f"there is no {what} with id or key {ref!r}", ref=ref)


def _unwrap(put: Put) -> Schedule:
    if isinstance(put, DulyError):
        raise put
    return put
