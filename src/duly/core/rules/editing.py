"""Changes that people make to a schedule, as pure functions of the schedule under its lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from duly.core.errors import ALREADY_CANCELLED, Conflict, RevisionStale, ValidationFailed
from duly.core.rules.moving import edited_cursor, resumed_cursor
from duly.core.rules.stopping import come_at_stop, pending_at
from duly.core.run import Reason, SkippedWindows
from duly.core.schedule import Cursor, Definition, Facts, Schedule, ScheduleStatus

EDITABLE = frozenset({"name", "description", "owner", "correlation_id", "tags", "app"})
_LANE_FIELDS = frozenset({"overlap", "max_concurrent", "max_queued", "catch_up"})


@dataclass(slots=True)
class Change:
    """What a change writes. Parts that stay as they are, are the very objects that were given.

    ``definition`` is the new revision, or None for the same one. ``cancel_waiting``: open runs that nobody has
    claimed end cancelled, with ``reason``. ``cancel_running``: claimed ones get a cancel request.
    ``last_attempt``: claimed ones may finish, but get no further attempt. ``release_lane``: how many runs may go at
    once may have changed, so ask ``lane_release``. ``skips``: windows that had come and do not fire any more.
    ``note`` is for whoever asked, ``changed`` names the fields.
    """

    facts: Facts
    cursor: Cursor
    definition: Definition | None = None
    cancel_waiting: bool = False
    cancel_running: bool = False
    last_attempt: bool = False
    release_lane: bool = False
    reason: Reason | None = None
    by: str | None = None
    note: str | None = None
    changed: tuple[str, ...] = ()
    skips: Sequence[SkippedWindows] = ()

    def alters(self, schedule: Schedule) -> bool:
        """Whether the schedule is another one afterwards; a change that repeats one before it is not dated."""
        return self.definition is not None or self.facts != schedule.facts or self.cursor != schedule.cursor


def pause(schedule: Schedule, now: int, *, reason: str | None, until: int | None = None, by: str | None) -> Change:
    """Stop firing until a resume. Pausing a paused schedule gives it the new reason and end.

    Who resumes it at ``until`` resumes it as of ``until``, so that a late look at the clock loses no window.
    """
    facts, cursor = schedule.facts, schedule.cursor
    if until is not None and until <= now:
        raise ValidationFailed(
            f"schedule {facts.key!r}: the end of the pause has gone by; give a later one, or none",
            field="until",
            got=until,
            expected="an instant after now",
            id=facts.id,
        )
    if cursor.status.ended:
        return Change(facts, cursor, by=by, note=f"the schedule is {cursor.status} and never fires")
    facts = replace(
        facts,
        paused_at=now if facts.paused_at is None else facts.paused_at,
        paused_until=until,
        paused_by=by,
        pause_reason=reason,
        updated_at=now,
    )
    return Change(facts, _parked(cursor), by=by, changed=("enabled",))


def pause_by_hand(
    schedule: Schedule, now: int, *, reason: str | None, until: int | None = None, by: str | None
) -> Change:
    """Pause as a person asks for it: one that has ended is refused, since it cannot keep the reason or the end."""
    check_open(schedule, "paused")
    return pause(schedule, now, reason=reason, until=until, by=by)


def resume(schedule: Schedule, now: int, *, by: str | None, catch_up: bool = False) -> Change:
    """Fire again from now on: windows that passed during the pause are not missed, those due before it are skipped.

    One that its jitter still delayed when the pause came fires now or at its instant, or is skipped if others passed.

    With ``catch_up`` all of them are missed, and the catch-up policy decides about them.
    """
    facts, cursor = schedule.facts, schedule.cursor
    check_open(schedule, "resumed")
    if facts.paused_at is None:
        return Change(facts, cursor, by=by, note="the schedule was not paused")
    cursor = resumed_cursor(cursor, schedule.definition, now, paused_at=facts.paused_at, catch_up=catch_up)
    skips = _left_behind(schedule, cursor, now)
    ended = cursor.status.ended
    facts = replace(
        facts,
        paused_at=None,
        paused_until=None,
        paused_by=None,
        pause_reason=None,
        updated_at=now,
        ended_at=now if ended else None,
    )
    note = "its last window passed during the pause" if ended else None
    return Change(facts, cursor, by=by, note=note, changed=("enabled",), skips=skips)


def end_pause(schedule: Schedule, now: int) -> Change | None:
    """Resume, as of its end, a pause that has reached it: windows since then are due. None for any other schedule."""
    facts = schedule.facts
    if facts.paused_at is None or facts.paused_until is None or facts.paused_until > now:
        return None
    if schedule.cursor.status.ended:
        return Change(replace(facts, paused_until=None), schedule.cursor)
    return resume(schedule, facts.paused_until, by="duly")


def cancel(schedule: Schedule, now: int, by: str | None) -> Change:
    """End a schedule: waiting runs are cancelled, a running one gets no further attempt. Repeating it is fine."""
    facts, cursor = schedule.facts, schedule.cursor
    if cursor.status.ended:
        cancelled = cursor.status is ScheduleStatus.CANCELLED
        note = ALREADY_CANCELLED if cancelled else f"the schedule is already {cursor.status}"
        return Change(facts, cursor, by=by, note=note)
    skips = _come_at_end(schedule, now, Reason.SCHEDULE_CANCELLED)
    return Change(
        replace(facts, updated_at=now, ended_at=now),
        replace(cursor, status=ScheduleStatus.CANCELLED, next_window_at=None, fire_at=None),
        cancel_waiting=True,
        last_attempt=True,
        reason=Reason.SCHEDULE_CANCELLED,
        by=by,
        changed=("status",),
        skips=skips,
    )


def delete(schedule: Schedule, now: int, by: str | None, cancel_running: bool = False) -> Change:
    """End a schedule that is to go: waiting runs are cancelled, running ones finish unless they are to stop too."""
    facts, cursor = schedule.facts, schedule.cursor
    status = cursor.status if cursor.status.ended else ScheduleStatus.CANCELLED
    skips = _come_at_end(schedule, now, Reason.SCHEDULE_DELETED)
    return Change(
        replace(facts, updated_at=now, ended_at=now if facts.ended_at is None else facts.ended_at, deleted_at=now),
        replace(cursor, status=status, next_window_at=None, fire_at=None),
        cancel_waiting=True,
        cancel_running=cancel_running,
        reason=Reason.SCHEDULE_DELETED,
        by=by,
        changed=("status",),
        skips=skips,
    )


def edit(
    schedule: Schedule,
    now: int,
    *,
    by: str | None,
    definition: Definition | None = None,
    facts_changes: Mapping[str, Any] | None = None,
    expected_revision: int | None = None,
) -> Change:
    """Make a new revision, also where only names or tags differ; only a new timing or start moves the next window.

    A revision is what people compare before they overwrite each other's work, so every edit makes one.

    Windows that are due under the old timing are fired first, by the same transaction. Those that cannot fire, because
    they were due when a pause came or while all firing is stopped, are skipped if the schedule moves past them;
    so is one that its jitter still delays, where the new timing cannot go on from it.
    """
    old, facts, cursor = schedule.definition, schedule.facts, schedule.cursor
    check_revision(facts, expected_revision)
    changed = _changed_facts(facts, facts_changes or {})
    revision = facts.revision + 1
    if changed:
        facts = replace(facts, updated_at=now, **changed)
    if definition is None or definition == old:
        if not changed.keys() - {"app"}:  # who declares it is nothing that people edit
            return Change(facts, cursor, by=by, changed=tuple(changed))
        facts, cursor = replace(facts, revision=revision), replace(cursor, revision=revision)
        return Change(facts, cursor, old, by=by, changed=tuple(changed))
    check_open(schedule, "edited")
    names = tuple(f.name for f in fields(Definition) if getattr(definition, f.name) != getattr(old, f.name))
    cursor = edited_cursor(cursor, old, definition, now, paused_at=facts.paused_at)
    skips = _left_behind(schedule, cursor, now)
    ended_at = now if cursor.status.ended else None
    return Change(
        replace(facts, revision=revision, updated_at=now, ended_at=ended_at),
        replace(cursor, revision=revision),
        definition,
        release_lane=not _LANE_FIELDS.isdisjoint(names),
        by=by,
        changed=(*changed, *names),
        skips=skips,
    )


def check_open(schedule: Schedule, verb: str) -> None:
    """Refuse what can only be done to a schedule that has not ended."""
    status = schedule.cursor.status
    if status.ended:
        raise Conflict(
            f"schedule {schedule.facts.key!r} is {status} and cannot be {verb}; create a new one",
            id=schedule.facts.id,
            status=str(status),
        )


def check_revision(facts: Facts, expected: int | None) -> None:
    """Refuse what was meant for another revision; None is any."""
    check_asked_revision(expected)
    if expected is not None and expected != facts.revision:
        raise RevisionStale(
            f"schedule {facts.key!r} is at revision {facts.revision}, not {told_revision(expected)}; read it again",
            id=facts.id,
            revision=facts.revision,
            expected=expected,
        )


def check_asked_revision(expected: int | None) -> None:
    """Refuse what can be no revision."""
    if expected is not None and type(expected) is not int:
        raise ValidationFailed(
            f"if_revision is {expected!r}; expected the schedule's or calendar's revision, a whole number",
            field="if_revision",
            got=expected,
            expected="a whole number",
        )


def told_revision(expected: int) -> str:
    """A revision that was asked for, in words; those from 1 on can be."""
    return str(expected) if expected > 0 else "the one asked for"


def _left_behind(schedule: Schedule, cursor: Cursor, now: int) -> list[SkippedWindows]:
    """Where a cursor goes on from another window, skip what had come: now, or when the pause came."""
    before, paused_at = schedule.cursor, schedule.facts.paused_at
    if cursor.next_window_at == before.next_window_at:
        return []
    stopped_at, reason = (now, Reason.MISSED) if paused_at is None else (paused_at, Reason.PAUSED)
    if cursor.status is ScheduleStatus.FAILED:
        stopped_at = now  # a one-shot: its only window passed during the pause
    pending = pending_at(before, schedule.definition, stopped_at)
    kept = pending if pending == cursor.next_window_at else None
    return come_at_stop(before, schedule.definition, stopped_at, reason=reason, now=now, kept=kept)


def _come_at_end(schedule: Schedule, now: int, reason: Reason) -> list[SkippedWindows]:
    """What has come, or had when the pause came, and will never fire."""
    paused_at = schedule.facts.paused_at
    stopped_at = now if paused_at is None else paused_at
    return come_at_stop(schedule.cursor, schedule.definition, stopped_at, reason=reason, now=now)


def _changed_facts(facts: Facts, changes: Mapping[str, Any]) -> dict[str, Any]:
    for name in changes:
        if name not in EDITABLE:
            allowed = ", ".join(sorted(EDITABLE))
            raise ValidationFailed(
                f"schedule {facts.key!r}: {name} cannot be edited; expected one of {allowed}",
                field=name,
                expected=allowed,
                id=facts.id,
            )
    return {name: value for name, value in changes.items() if value != getattr(facts, name)}


def _parked(cursor: Cursor) -> Cursor:
    return cursor if cursor.fire_at is None else replace(cursor, fire_at=None)
