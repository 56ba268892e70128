"""``app.schedules.apply``: many schedules at once, as a file or a list says; the second time changes nothing.

Everything is checked before anything is written. Each schedule is created, or made exactly what is given: what is
absent goes back to its default, and only a pause that a person made stays, unless ``enabled`` is given.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any, Unpack

from duly.config import Settings
from duly.core.errors import Conflict, DulyError, Invalid, KeyInUse, ValidationFailed
from duly.core.ids import check_ref
from duly.core.policy import choose
from duly.core.rules.editing import Change
from duly.core.rules.starting import first_cursor, first_window, started
from duly.core.schedule import Schedule
from duly.core.timing import Timing
from duly.runtime.clock import Clock
from duly.store.sql import SqlStore
from duly.store.values import NewSchedule, Put

from .building import Builder
from .checking import check_list, check_truth, check_words
from .declared import SET
from .editing import Replacement
from .looking import exclusions_for
from .putting import Stored, check_request_id, put_in_place
from .sets import DISABLED, Leave, Prune, SetUpdate, check_owner, check_set
from .words import SCHEDULE_WORDS, Options

BATCH = 500
SHOWN = 3
"""So many refusals are told in the message; the details have all."""


class Outcome(StrEnum):
    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    ORPHANED = "orphaned"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one schedule, or would; ``before`` is None if there was none, ``after`` if there is none now."""

    key: str
    outcome: Outcome
    before: Schedule | None
    after: Schedule | None


@dataclass(frozen=True, slots=True)
class _Step:
    new: NewSchedule
    update: SetUpdate
    planned: Applied


class Applying:
    """The part of ``app.schedules`` that applies many at once."""

    _store: SqlStore
    _settings: Settings
    _builder: Builder
    _clock: Clock
    _on_schedules: Callable[[], None]
    _on_runs: Callable[[], None]
    _tell: Callable[[str, Schedule], None]
    _expected_now: Callable[[], tuple[float, float] | None]

    async def check(self, key: str | None = None, timing: Timing | None = None, **options: Unpack[Options]) -> None:
        """Raise what ``create`` would, as far as that can be told without the store, which need not be open."""
        check_words("check", options, SCHEDULE_WORDS)
        new = self._builder.schedule(key, timing, **options)
        now = self._clock.now()
        first_window(started(new.definition, now), now)

    async def apply(
        self,
        schedules: Sequence[Mapping[str, Any]],
        *,
        set: str | None = None,
        prune: str | None = None,
        keep: Collection[str] = (),
        dry_run: bool = False,
        by: str | None = None,
    ) -> list[Applied]:
        """Make schedules what is given (the arguments of ``create``, each with a key), in this order.

        With ``prune`` ("pause" or "delete"), what belongs to the set and is neither given nor among the ids and keys
        to ``keep`` goes. ``dry_run`` answers the same and changes nothing. What is refused is refused together:
        ``details["refusals"]`` of the error has each place in the list with its own error.
        """
        owner = None if set is None else f"{SET}{check_set(set)}"
        how = None if prune is None else choose(Prune, prune, "prune")
        if how is not None and owner is None:
            raise ValidationFailed(
                "prune needs a set: only what was applied under its name before is pruned", field="prune", got=prune
            )
        named = check_list("keep", keep, "ids and keys")
        for ref in named:
            check_ref(ref, "a schedule to keep")
        steps = await self._plan(schedules, owner, by)
        done: list[Applied] = []
        try:
            if check_truth(dry_run, "dry_run"):
                done += [step.planned for step in steps]
            else:
                async for one in self._written(steps):
                    done.append(one)
            if how is not None and owner is not None:
                kept = {*named, *(one.after.id for one in done if one.after is not None)}
                done += await self._pruned(owner, how, kept, dry_run=dry_run, by=by)
        except DulyError as error:
            error.message += f" ({len(done)} of {len(steps)} schedules were applied; to apply all again is safe)"
            raise
        return done

    async def _plan(self, schedules: Sequence[Mapping[str, Any]], owner: str | None, by: str | None) -> list[_Step]:
        steps: list[_Step] = []
        refusals: list[tuple[int, DulyError]] = []
        seen: dict[tuple[str, str], int] = {}
        for place, (id, arguments) in enumerate(zip(self._builder.ids(len(schedules)), schedules, strict=True)):
            try:
                step = await self._planned(id, arguments, owner, by)
                facts = step.new.facts
                if seen.setdefault((facts.tenant, facts.key), place) != place:
                    raise ValidationFailed(f"schedule {facts.key!r} is given twice; give one another key", field="key")
                steps.append(step)
            except (Invalid, Conflict) as error:
                refusals.append((place, error))
        if refusals:
            raise _together(refusals)
        return steps

    async def _planned(self, id: str, arguments: Mapping[str, Any], owner: str | None, by: str | None) -> _Step:
        if not isinstance(arguments, Mapping):
            raise ValidationFailed(f"apply got {arguments!r}; expected a mapping of create's arguments")
        check_words("apply", arguments, SCHEDULE_WORDS)
        if arguments.get("key") is None:
            raise ValidationFailed("key is missing; what is applied is known by its key", field="key")
        new = self._builder.schedule(id=id, **arguments, app=owner, created_by=by)
        if new.facts.paused_at is not None:
            new.facts.pause_reason, new.facts.paused_by = DISABLED, by
        await exclusions_for(self._store, new.definition, new.facts.tenant, strict=True)
        update = SetUpdate(wanted=new, app=owner, by=by, switch=arguments.get("enabled"))
        before = await self._store.get_schedule(new.facts.key, tenant=new.facts.tenant)
        return _Step(new, update, _foreseen(new, update, before, self._clock.now()))

    async def _written(self, steps: Sequence[_Step]) -> AsyncIterator[Applied]:
        """Write what differs, in order; new ones that follow each other go in one transaction."""
        for new, group in groupby(steps, lambda step: step.planned.before is None):
            for batch in _batches(list(group)) if new else ():
                for step, put in zip(batch, await self._store.put_schedules([s.new for s in batch]), strict=True):
                    yield await self._settled(step, put)
                self._on_schedules()
            for step in () if new else group:
                yield step.planned if step.planned.outcome is Outcome.UNCHANGED else await self._write(step)

    async def _settled(self, step: _Step, put: Put) -> Applied:
        if isinstance(put, KeyInUse):
            return await self._write(step)  # another came first: make that one what is wanted
        if isinstance(put, DulyError):
            raise put
        self._tell("schedule.created", put)
        return Applied(step.planned.key, Outcome.CREATED, None, put)

    async def _write(self, step: _Step) -> Applied:
        stored = await self._place(step.new, step.update)
        outcome = Outcome.CREATED if stored.created else Outcome.CHANGED if stored.changed else Outcome.UNCHANGED
        return Applied(step.planned.key, outcome, step.planned.before, stored.schedule)

    async def _place(self, new: NewSchedule, replacement: Replacement, connection: Any = None) -> Stored:
        """Put a schedule in its place, and tell of it."""
        rules, expected = self._settings.fire_rules, self._expected_now()
        stored = await put_in_place(self._store, new, replacement, rules, expected, connection)
        self._on_schedules()
        if stored.changed and connection is None:
            self._tell("schedule.created" if stored.created else "schedule.updated", stored.schedule)
        return stored

    async def _pruned(
        self, owner: str, how: Prune, kept: Collection[str], *, dry_run: bool, by: str | None
    ) -> list[Applied]:
        gone: list[Applied] = []
        for before in await self._store.declared_schedules(owner):
            if before.id in kept or before.key in kept or (before.status.ended and how is Prune.PAUSE):
                continue
            leave = Leave(owner, how, by)
            change = leave(before, self._clock.now())
            if change is None:
                continue
            after: Schedule | None = _changed(before, change)
            if not dry_run:
                after = await self._store.change_schedule(before.id, leave, rules=self._settings.fire_rules)
                self._on_schedules()
                self._on_runs()
                if after is not None:
                    self._tell("schedule.deleted" if how is Prune.DELETE else "schedule.paused", after)
            if how is Prune.DELETE:
                gone.append(Applied(before.key, Outcome.DELETED, before, None))
            else:
                gone.append(Applied(before.key, Outcome.ORPHANED, before, after))
        return gone


def _batches(steps: Sequence[_Step]) -> Iterator[Sequence[_Step]]:
    return (steps[start : start + BATCH] for start in range(0, len(steps), BATCH))


def _foreseen(new: NewSchedule, update: SetUpdate, before: Schedule | None, now: int) -> Applied:
    """What applying would do, as of now."""
    key = new.facts.key
    if before is None:
        return Applied(key, Outcome.CREATED, None, _first(new, now))
    check_owner(before, update.app)
    try:
        change = update(before, now)
    except Conflict:
        if not before.status.ended:
            raise
        return Applied(key, Outcome.CREATED, before, _first(new, now))  # in the place of the one that has ended
    check_request_id(before, new)
    if change is None:
        return Applied(key, Outcome.UNCHANGED, before, before)
    return Applied(key, Outcome.CHANGED, before, _changed(before, change))


def _first(new: NewSchedule, now: int) -> Schedule:
    facts = replace(new.facts, created_at=now, updated_at=now)
    paused = facts.paused_at is not None
    definition = started(new.definition, now)
    return Schedule(facts, definition, first_cursor(facts.id, definition, now=now, slot=0, paused=paused))


def _changed(before: Schedule, change: Change) -> Schedule:
    return Schedule(change.facts, change.definition or before.definition, change.cursor)


def _together(refusals: Sequence[tuple[int, DulyError]]) -> DulyError:
    """One error for all: of bad values while there are any, else of conflicts."""
    invalid = [error for _, error in refusals if isinstance(error, Invalid)]
    told = [error.message for error in invalid] or [error.message for _, error in refusals]
    message = "; ".join(told[:SHOWN]) + (f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else "")
    if not invalid:
        return Conflict(message, refusals=refusals)
    kinds = {type(error) for error in invalid}
    kind = kinds.pop() if len(kinds) == 1 else ValidationFailed
    return kind(message, field=invalid[0].field, got=invalid[0].got, refusals=refusals)
