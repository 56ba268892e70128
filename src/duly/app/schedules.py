"""``app.schedules``: what people do with schedules."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Unpack

from duly.config import Settings
from duly.core.errors import EnqueueFailure, StoreError
from duly.core.ids import window_run_id
from duly.core.instants import to_ms
from duly.core.rules import editing
from duly.core.rules.bulk import check_trigger
from duly.core.rules.editing import Change
from duly.core.rules.replacing import Succession, reschedule
from duly.core.run import Run
from duly.core.saying import job_said_once
from duly.core.schedule import Schedule, Seen
from duly.core.timing import Timing
from duly.runtime.abreast import in_turn
from duly.runtime.batcher import Batcher
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.tracing import asking
from duly.store.sql import SqlStore
from duly.store.values import NewSchedule, Page, Put

from .applying import Applying
from .auditing import Auditing
from .backfilling import Backfilling
from .building import Builder
from .bulk import Bulk
from .checking import check_cursor, check_limit, check_list, check_text, check_truth, check_words, not_found
from .editing import Merge, Replacement
from .filtering import naming, schedule_filter
from .looking import Looking
from .operations import Operations
from .overview import Overview
from .owning import ANYBODYS, Owning
from .paging import filled, walked
from .payload import encode_payload
from .purging import Purging
from .putting import Stored, part_of_many, stored
from .words import CHANGE_WORDS, OPTIONS, SCHEDULE_WORDS, UNSET, Changes, JobLike, Options, ScheduleFilters

log = logging.getLogger("duly.app")

BULK = 1000
ABREAST = 2


class Schedules(Applying, Auditing, Backfilling, Bulk, Looking, Overview, Purging):
    """Create, find, change and trigger schedules. Ids and keys are both accepted where one is asked for."""

    def __init__(
        self,
        store: SqlStore,
        settings: Settings,
        builder: Builder,
        clock: Clock,
        chance: Chance,
        operations: Operations,
        *,
        on_schedules: Callable[[], None],
        on_pause: Callable[[int], None],
        on_runs: Callable[[], None],
        on_cancel: Callable[[], None],
        tell: Callable[..., None],
        expected_now: Callable[[], tuple[float, float] | None],
        owning: Owning = ANYBODYS,
        alone: bool = False,
    ) -> None:
        self._store = store
        self._settings = settings
        self._builder = builder
        self._clock = clock
        self._chance = chance
        self.operations = operations
        self._on_schedules, self._on_pause = on_schedules, on_pause
        self._on_runs, self._on_cancel = on_runs, on_cancel
        self._tell, self._expected_now = tell, expected_now
        self._owning = owning
        batcher: Batcher[NewSchedule, Schedule] = Batcher(self._put, most=BULK)
        self._store_one = batcher.put_alone if alone else batcher.put
        self._alone = alone

    async def create(
        self,
        key: str | None = None,
        timing: Timing | None = None,
        *,
        id: str | None = None,
        connection: Any = None,
        by: str | None = None,
        **options: Unpack[Options],
    ) -> Schedule:
        """Store a new schedule; raise if its key or client request id is in use. See ``words.Options``.

        ``id`` is the caller's own, so that a repeated create is one schedule: the second answers it as it is by then.
        """
        check_words("create", options, SCHEDULE_WORDS)
        new = self._builder.schedule(key, timing, id=id, created_by=by, **options)
        words = {"schedule_id": new.facts.id, "schedule_key": new.facts.key}
        with asking(self._builder.tracing, "create", words) as trace:
            new = new if trace is None else replace(new, trace=trace)
            if connection is not None:
                (put,) = await self._store.put_schedules([new], connection=connection)
                return stored(put)
            return await self._store_one(new)

    async def create_many(self, schedules: Iterable[Mapping[str, Any]], *, connection: Any = None) -> list[Schedule]:
        """Store many schedules, one transaction per batch of a thousand; answers them in order.

        One that is refused is raised, and ``details["item"]`` is its place. Where its arguments are wrong nothing is
        stored; where only the store can tell (a key that is taken, a moment that has gone by) nothing of its batch is.
        Roll back the transaction of a ``connection`` then.
        """
        new = self._builder.schedules("create_many", check_list("create_many", schedules, "mappings"))
        if connection is not None:
            with part_of_many(0):
                puts = await self._store.put_schedules(new, whole=True, connection=connection)
            return [stored(put) for put in puts]
        # Side by side: while the database writes one batch, the next is made ready.
        abreast = 1 if self._alone else ABREAST
        parts = await in_turn(partial(self._store_part, new), range(0, len(new), BULK), abreast=abreast)
        return [schedule for part in parts for schedule in part]

    async def get(self, ref: str, *, tenant: str | None = None) -> Schedule | None:
        """The schedule, or None; with what became of its newest window. ``tenant``: of several with this key, whose."""
        found = await self._store.get_schedule(ref, tenant=self._owning.where(tenant))
        if found is None:
            return None
        window, last = found.cursor.window_at, None
        if found.cursor.last_fired_at is not None and window is not None:
            last = await self._store.get_run(window_run_id(found.id, window))
        return replace(found, seen=Seen(self._clock.now(), whole=True, last=last))

    @naming("schedules.list")
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
        where = schedule_filter(
            tenant=tenant, owner=owner, job=job, topic=topic, tag=tag, status=status, enabled=enabled, q=q
        )
        look = lambda most, after: self._store.list_schedules(where, limit=most, after=after)
        page = await filled(look, check_limit(limit), check_cursor(cursor), self._clock)
        seen = Seen(self._clock.now())
        return Page([replace(schedule, seen=seen) for schedule in page.items], page.next_cursor)

    async def iterate(self, **filters: Unpack[ScheduleFilters]) -> AsyncIterator[Schedule]:
        """All pages, one schedule after another."""
        async for schedule in walked(self.list, **filters):
            yield schedule

    async def update(
        self,
        ref: str,
        *,
        if_revision: int | None = None,
        by: str | None = None,
        connection: Any = None,
        **changes: Unpack[Changes],
    ) -> Schedule:
        """Change what is given and leave the rest; None brings an option back to its default.

        A new timing counts from now; other changes move no window. Where ``if_revision`` is no longer the schedule's,
        somebody else came first: nothing is changed, and RevisionStale is raised.
        """
        check_words("update", changes, CHANGE_WORDS)
        timing = changes.get("timing")
        merge = Merge(
            builder=self._builder,
            words=self._builder.merge_words(changes),
            timing=self._builder.check_timing(timing) if "timing" in changes else None,
            if_revision=if_revision,
            by=by,
        )
        return await self._change(ref, merge, "schedule.updated", connection)

    async def put(
        self,
        key: str,
        timing: Timing,
        call: JobLike | None = None,
        *,
        if_revision: int | None = None,
        by: str | None = None,
        connection: Any = None,
        **options: Unpack[Options],
    ) -> Stored:
        """Create the schedule, or make the one that has this key exactly what is given here.

        What is not given goes back to its default, except a pause: that stays unless ``enabled`` is given. With
        ``if_revision`` nothing is created: a schedule of that revision must be there.
        """
        check_words("put", options, OPTIONS)
        if call is not None:
            options["job"] = job_said_once(call, options.get("job"))
        new = self._builder.schedule(key, timing, created_by=by, **options)
        replacement = Replacement(wanted=new, enabled=options.get("enabled"), if_revision=if_revision, by=by)
        return await self._place(new, replacement, connection)

    async def reschedule(
        self,
        ref: str,
        *,
        timing: Timing,
        if_revision: int | None = None,
        by: str | None = None,
        connection: Any = None,
    ) -> Schedule:
        """Give a schedule that never fired another timing under another id; raise NotCancellable if it did.

        The old one ends cancelled, with ``replaced_by``; the answer is the new one, pending, with ``replaces`` and the
        old one's key. ``update`` keeps the id and takes any schedule that has not ended.
        """
        timing = self._builder.check_timing(timing)
        new_id = self._chance.id(self._clock)

        def succession(schedule: Schedule, now: int) -> Succession:
            editing.check_revision(schedule.facts, if_revision)
            return reschedule(schedule, now, id=new_id, timing=timing, by=by)

        made = await self._store.replace_schedule(ref, new_id, succession, connection=connection)
        if made is None:
            raise not_found("schedule", ref)
        self._on_schedules()
        if connection is None:
            self._tell("schedule.created", made)
        return made

    async def pause(
        self,
        ref: str,
        *,
        reason: str | None = None,
        until: datetime | None = None,
        if_revision: int | None = None,
        by: str | None = None,
        connection: Any = None,
    ) -> Schedule:
        """Stop firing, with a reason and if wished an end; Conflict if it has ended. Paused time is not missed time."""
        end = None if until is None else to_ms(until, "until")
        reason = check_text(reason, "reason", 1000)
        pause = partial(editing.pause_by_hand, reason=reason, until=end, by=by)
        paused = await self._change(ref, pause, "schedule.paused", connection, if_revision)
        if end is not None:
            self._on_pause(end)
        return paused

    async def resume(
        self,
        ref: str,
        *,
        catch_up: bool = False,
        if_revision: int | None = None,
        by: str | None = None,
        connection: Any = None,
    ) -> Schedule:
        """Continue from now; with ``catch_up`` the paused windows count as missed and the catch-up policy applies."""
        resume = partial(editing.resume, catch_up=check_truth(catch_up, "catch_up"), by=by)
        return await self._change(ref, resume, "schedule.resumed", connection, if_revision)

    async def cancel(
        self, ref: str, *, if_revision: int | None = None, by: str | None = None, connection: Any = None
    ) -> Schedule:
        """End the schedule and its waiting runs; a running one gets no further attempt. Twice is fine."""
        return await self._change(ref, partial(editing.cancel, by=by), "schedule.cancelled", connection, if_revision)

    async def delete(
        self,
        ref: str,
        *,
        cancel_running: bool = False,
        purge: bool = False,
        by: str | None = None,
        connection: Any = None,
    ) -> None:
        """Remove the schedule; its key is free again, its history stays. Twice is fine, what never was is not.

        With ``purge`` its runs and all that was kept of it go too, in small batches, open ones when they have ended;
        also of one that was deleted before, or never was: nothing tells them apart.
        """
        if check_truth(purge, "purge"):
            await self._purge(ref, connection, cancel_running=cancel_running, by=by)
            return
        delete = partial(editing.delete, by=by, cancel_running=check_truth(cancel_running, "cancel_running"))
        deleted = await self._store.change_schedule(ref, delete, rules=self._settings.fire_rules, connection=connection)
        self._on_runs()
        if cancel_running:
            self._on_cancel()
        if connection is None and deleted is not None:
            self._tell("schedule.deleted", deleted)
        elif connection is None:  # what a caller's own transaction has deleted cannot be seen from outside of it
            await self.changes(ref, limit=1)

    async def trigger(
        self,
        ref: str,
        payload: Any = UNSET,
        *,
        force: bool = False,
        if_revision: int | None = None,
        id: str | None = None,
        connection: Any = None,
    ) -> Run:
        """Make a run now, also while paused, without moving the schedule; ``force`` ignores the overlap policy."""
        text = None if payload is UNSET else encode_payload(payload, self._settings.payload_limit)

        def check(schedule: Schedule) -> None:
            editing.check_revision(schedule.facts, if_revision)
            check_trigger(schedule)
            if text is not None:
                self._builder.check_payload(schedule.definition.target, text)

        given_id = self._chance.id(self._clock) if id is None else id
        run_id = self._owning.run_id(given_id)
        try:
            triggered = await self._store.trigger(
                ref,
                run_id=run_id,
                payload=text,
                force=check_truth(force, "force"),
                rules=self._settings.fire_rules,
                check=check,
                connection=connection,
            )
        except StoreError as error:
            raise EnqueueFailure(
                f"run {given_id} may not have been stored: {error}; trying again with the same id is safe", id=given_id
            ) from error
        if triggered is None:
            raise not_found("schedule", ref)
        self._on_runs()
        return triggered.run

    async def _change(
        self,
        ref: str,
        change: Callable[[Schedule, int], Change | None],
        event: str,
        connection: Any = None,
        if_revision: int | None = None,
    ) -> Schedule:
        happened, note = False, None

        def noted(schedule: Schedule, now: int) -> Change | None:
            nonlocal happened, note
            editing.check_revision(schedule.facts, if_revision)
            made = change(schedule, now)
            happened = made is not None and bool(made.changed)
            note = None if made is None else made.note
            return made

        changed = await self._store.change_schedule(
            ref, noted, rules=self._settings.fire_rules, expected=self._expected_now(), connection=connection
        )
        if changed is None:
            raise not_found("schedule", ref)
        self._on_schedules()
        if note is not None:
            log.info("schedule %r (%s): %s", changed.key, changed.id, note, extra={"schedule_id": changed.id})
        if happened and connection is None:  # else it has not happened before the caller commits
            self._tell(event, changed)
        return changed

    async def _store_part(self, new: Sequence[NewSchedule], start: int) -> Sequence[Schedule]:
        with part_of_many(start):
            return [stored(put) for put in await self._put(new[start : start + BULK], whole=True)]

    async def _put(self, new: Sequence[NewSchedule], whole: bool = False) -> Sequence[Put]:
        asked_at = self._clock.steady()
        puts = await self._store.put_schedules(new, whole=whole)
        if made := [put for put in puts if isinstance(put, Schedule)]:
            seen_within = 2 * self._settings.poll + self._clock.steady() - asked_at
            if any(_fires_within(seen_within, schedule) for schedule in made):
                self._on_schedules()
            self._tell("schedule.created", *made)
        return puts


def _fires_within(seconds: float, schedule: Schedule) -> bool:
    """Whether a new schedule fires so soon that the scheduler might not have looked by itself before."""
    fire_at = schedule.cursor.fire_at
    return fire_at is not None and fire_at - schedule.facts.created_at < seconds * 1000
