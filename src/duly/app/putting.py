"""``put``: create a schedule, or make the one that has its key exactly what is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from duly.core.errors import Conflict, DulyError, KeyInUse, RevisionStale
from duly.core.rules.editing import Change, check_revision
from duly.core.rules.firing import FireRules
from duly.core.rules.replacing import Succession, succeed
from duly.core.schedule import Schedule, ScheduleStatus
from duly.store.sql import SqlStore
from duly.store.values import NewSchedule, Put

from .checking import not_found
from .editing import Replacement, edited_facts

MOST_TURNS = 5


@dataclass(frozen=True, slots=True)
class Stored:
    """What ``put`` did. The attributes of the schedule can be read here too."""

    schedule: Schedule
    created: bool
    changed: bool

    def __getattr__(self, name: str) -> Any:
        return getattr(self.schedule, name)


class _Replacing:
    """A replacement that remembers what came of it, whoever calls it however often."""

    def __init__(self, replacement: Replacement) -> None:
        self._replacement = replacement
        self.changed = False
        self.ended = False

    def __call__(self, schedule: Schedule, now: int) -> Change | None:
        self.changed = self.ended = False
        if schedule.status is ScheduleStatus.CANCELLED:  # whoever puts it wants one that lives, also of the same shape
            check_revision(schedule.facts, self._replacement.if_revision)
            self.ended = True
            return None
        try:
            change = self._replacement(schedule, now)
        except RevisionStale:
            raise
        except Conflict:
            if not schedule.status.ended:
                raise
            self.ended = True
            return None
        check_request_id(schedule, self._replacement.wanted)
        self.changed = change is not None
        return change


async def put_in_place(
    store: SqlStore,
    new: NewSchedule,
    replacement: Replacement,
    rules: FireRules,
    expected: tuple[float, float] | None,
    connection: Any,
) -> Stored:
    """Change what has the key, or create it; one that has ended makes room for a new one."""
    key, tenant = new.facts.key, new.facts.tenant
    replacing = _Replacing(replacement)
    refusal: DulyError = KeyInUse(key, new.facts.id)
    for _ in range(MOST_TURNS):
        after = await store.change_schedule(
            key, replacing, tenant=tenant, rules=rules, expected=expected, connection=connection
        )
        if replacing.ended:
            after = await store.replace_schedule(
                key, new.facts.id, _successor(new, replacement.by), tenant=tenant, connection=connection
            )
        if after is not None:
            created = after.id == new.facts.id
            return Stored(after, created=created, changed=created or replacing.changed)
        if replacement.if_revision is not None:
            raise not_found("schedule", key)
        (put,) = await store.put_schedules([new], connection=connection)
        if isinstance(put, Schedule):
            return Stored(put, created=True, changed=True)
        if not isinstance(put, KeyInUse):
            raise put
        refusal = put  # another came first: make that one what is wanted
    raise refusal


def check_request_id(schedule: Schedule, wanted: NewSchedule) -> None:
    """Refuse another client request id than the schedule was created with; none is that one."""
    if wanted.facts.client_request_id is not None:
        edited_facts(schedule, {"client_request_id": wanted.facts.client_request_id})


def _successor(new: NewSchedule, by: str | None) -> Any:
    def succession(schedule: Schedule, now: int) -> Succession:
        if not schedule.status.ended:
            raise Conflict(
                f"schedule {schedule.key!r} was created anew by someone else in this moment; try again", id=schedule.id
            )
        return succeed(schedule, now, facts=new.facts, definition=new.definition, by=by)

    return succession


@contextmanager
def part_of_many(start: int) -> Iterator[None]:
    """Let the refusal of a batch say which item of ``create_many`` it is of; ``start`` is the batch's first."""
    try:
        yield
    except DulyError as error:
        if "item" in error.details:
            error.details["item"] += start
            error.add_note(
                f"this is item {error.details['item']} of create_many, counted from 0; nothing of its batch is stored,"
                f" which begins at item {start}"
            )
        raise


def stored(put: Put) -> Schedule:
    """The schedule that was stored, or the error that stands in its place, raised."""
    if isinstance(put, DulyError):
        raise put
    return put
