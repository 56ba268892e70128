"""The audit trail: one row per change of a schedule, written by the transaction that changes it.

A creation writes none, since the schedule itself says by whom and when it was made; nor does a fire.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from duly.core.change import Action, FieldChange, ScheduleChange
from duly.core.ids import is_id
from duly.core.instants import to_datetime
from duly.core.rules.editing import Change, end_pause
from duly.core.rules.excluding import without_excluded
from duly.core.rules.recording import record
from duly.core.run import SkippedWindows
from duly.core.schedule import Schedule
from duly.core.sealed import readable
from duly.store.codec import cursor_columns
from duly.store.narrowing import owned
from duly.store.statements import Program, Row, batch, columns, group, query
from duly.store.values import Page

from .calendars import load_exclusions
from .schedules import resolve, revision_columns, schedule_columns
from .skipping import insert_skips

CHANGE = ("schedule_id", "made_at", "made_by", "action", "revision", "fields")
_encode = msgspec.json.Encoder().encode


def write_changes(now: int, changes: Sequence[tuple[Schedule, Change]]) -> Program[list[Schedule]]:
    """Write changes of schedules whose cursors are locked, and their trail; answer the schedules after it."""
    after: list[Schedule] = []
    revised: list[Schedule] = []
    revised_by: list[str | None] = []
    trail: list[tuple[Any, ...]] = []
    for before, change in changes:
        facts = change.facts
        if facts.updated_at != now and change.alters(before):
            facts = replace(facts, updated_at=now)
        schedule = Schedule(facts, change.definition or before.definition, change.cursor)
        after.append(schedule)
        if change.definition is not None:
            revised.append(schedule)
            revised_by.append(change.by)
        recorded = record(before, schedule)
        if recorded is not None:
            fields = encode_fields(recorded.fields)
            trail.append((facts.id, now, change.by, recorded.action.value, facts.revision, fields))
    steps = [
        batch("update_schedules", schedule_columns(after)),
        batch("move_cursors", cursor_columns([schedule.cursor for schedule in after])),
    ]
    if revised:
        steps.append(batch("insert_revisions", revision_columns(revised, revised_by)))
    skips = yield from _skips(changes)
    if skips:
        steps.append(insert_skips(skips))
    if trail:
        steps.append(batch("insert_changes", columns(CHANGE, trail)))
    yield group(*steps)
    return after


def end_pauses(now: int, schedules: Sequence[Schedule]) -> Program[list[Schedule]]:
    """End those pauses of locked schedules that are over, before anything else is done; answer all as they are then.

    The end of a pause is an instant, not the janitor's next round: what came since then is not lost by a change.
    """
    over = [(schedule, end) for schedule in schedules if (end := end_pause(schedule, now)) is not None]
    if not over:
        return list(schedules)
    ended = {schedule.id: schedule for schedule in (yield from write_changes(now, over))}
    return [ended.get(schedule.id, schedule) for schedule in schedules]


def _skips(changes: Sequence[tuple[Schedule, Change]]) -> Program[list[tuple[str, SkippedWindows]]]:
    """The windows that the changes pass over, each with its tenant; excluded ones say so."""
    skips: list[tuple[str, SkippedWindows]] = []
    for before, change in changes:
        tenant, rows = change.facts.tenant, change.skips
        if rows and before.definition.excludes:
            exclusions = yield from load_exclusions(before.definition, tenant)
            rows = [part for row in rows for part in without_excluded(row, before.definition, exclusions)]
        skips += [(tenant, row) for row in rows]
    return skips


def find_ever(ref: str, tenant: str | None) -> Program[Row | None]:
    """Id, creation and creator of a schedule that lives or was deleted; by key, of the one that was deleted last."""
    id = (yield from resolve(ref, tenant)) or (ref if is_id(ref) else None)
    rows = yield owned("find_creation", id=id, key=ref, tenant=tenant)
    return rows[0] if rows else None


def list_changes(
    now: int, ref: str, limit: int, after: int | None, tenant: str | None
) -> Program[Page[ScheduleChange] | None]:
    """One page, newest first; the last entry of all is the creation. See ``Changes.list_changes``."""
    found = yield from find_ever(ref, tenant)
    if found is None:
        return None
    id, created_at, created_by = found
    rows = yield query("list_changes", schedule_id=id, after=after, limit=limit + 1)
    changes = [
        ScheduleChange(
            schedule_id=row[0],
            number=row[1],
            at=to_datetime(row[2]),
            by=row[3],
            action=Action(row[4]),
            revision=row[5],
            fields=decode_fields(row[6]),
        )
        for row in rows
    ]
    if len(rows) <= limit and (after is None or after > 0):
        created = to_datetime(created_at)
        changes.append(
            ScheduleChange(schedule_id=id, number=0, at=created, by=created_by, action=Action.CREATE, revision=1)
        )
    more = len(changes) > limit
    changes = changes[:limit]
    return Page(changes, str(changes[-1].number) if more else None)


def encode_fields(fields: Iterable[FieldChange]) -> str:
    """Triples of field, old and new; a field alone where the values are not shown."""
    return _encode([(f.field, f.old, f.new) if f.shown else (f.field,) for f in fields]).decode()


def decode_fields(text: str) -> tuple[FieldChange, ...]:
    words: list[list[Any]] = msgspec.json.decode(readable(text))
    return tuple(FieldChange(*word) if len(word) > 1 else FieldChange(word[0], shown=False) for word in words)
