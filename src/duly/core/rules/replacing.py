"""One schedule in another's place: the old one ends, the new one has its key, and each knows the other's id."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duly.core.errors import NotCancellable
from duly.core.rules.editing import Change, cancel, delete
from duly.core.rules.starting import first_window, started
from duly.core.schedule import Definition, Facts, Schedule, ScheduleStatus
from duly.core.timing import Timing


@dataclass(frozen=True, slots=True)
class Succession:
    """What becomes of the old schedule, and the new one."""

    change: Change
    facts: Facts
    definition: Definition


def reschedule(schedule: Schedule, now: int, *, id: str, timing: Timing, by: str | None) -> Succession:
    """Let a schedule that never fired go on under another id and timing; one that did is ``NotCancellable``.

    The old one is cancelled and gives up its key for its id. Idempotent creation is its: a client request id stays.
    """
    facts = schedule.facts
    if schedule.status is not ScheduleStatus.PENDING:
        raise NotCancellable(
            f"schedule {facts.key!r} is {schedule.status}; only a pending one can be rescheduled:"
            f" {'create a new one' if schedule.status.ended else 'update it, or create a new one'}",
            id=facts.id,
            status=str(schedule.status),
        )
    key = id if facts.key == facts.id else facts.key
    definition = started(replace(schedule.definition, key=key, timing=timing), now)
    first_window(definition, now)  # refuses a timing that has none, before anything is written
    change = cancel(schedule, now, by)
    change.facts = replace(change.facts, key=facts.id, replaced_by=id)
    heir = replace(facts, id=id, key=key, client_request_id=None, revision=1, created_by=by, replaces=facts.id)
    return Succession(change, heir, definition)


def succeed(schedule: Schedule, now: int, *, facts: Facts, definition: Definition, by: str | None) -> Succession:
    """Put a new schedule in the place of one that has ended, which is deleted."""
    definition = started(definition, now)
    first_window(definition, now)
    change = delete(schedule, now, by)
    change.facts = replace(change.facts, replaced_by=facts.id)
    return Succession(change, replace(facts, replaces=schedule.id), definition)
