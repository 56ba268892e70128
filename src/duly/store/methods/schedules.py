"""Storing and finding schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from duly.core.errors import ClientRequestIdInUse, DulyError, KeyInUse, QuotaExceeded
from duly.core.ids import check_ref, is_id
from duly.core.rules.firing import first_cursor
from duly.core.schedule import Definition, Facts, Schedule, TargetKind
from duly.core.timing import Cron, Every
from duly.store.codec import (
    CURSOR,
    FACTS,
    UnreadableDefinition,
    cursor_row,
    decode_body,
    encode_body,
    encode_words,
    facts_row,
    read_cursor,
    read_facts,
)
from duly.store.narrowing import owned
from duly.store.statements import Program, Row, batch, columns, group, query
from duly.store.values import NewSchedule, Put

from .calendars import calendar_refusal, unknown_calendars
from .tracing import keep_traces

DERIVED = ("kind", "job", "topic", "calendars")
REVISION = ("schedule_id", "revision", "body", "payload", "made_at", "made_by")


def put_schedules(now: int, new: Sequence[NewSchedule], most: int | None = None) -> Program[list[Put]]:
    """Insert schedules with their first revision and cursor; see ``Schedules.put_schedules``."""
    ready: dict[str, Schedule] = {}
    refused: dict[str, DulyError] = {}
    for item in new:
        facts = item.facts
        facts.created_at = facts.updated_at = now
        facts.paused_at = facts.paused_at and now
        try:
            cursor = first_cursor(facts.id, item.definition, now=now, slot=0, paused=facts.paused_at is not None)
        except DulyError as error:
            refused[facts.id] = error
        else:
            ready[facts.id] = Schedule(facts, item.definition, cursor)
    yield from _refuse_unknown_calendars(ready, refused)
    if most is not None:
        yield from _refuse_too_many(ready, refused, most)
    rows = yield batch("insert_schedules", columns(FACTS + DERIVED, map(schedule_row, ready.values())))
    inserted = {row[0] for row in rows}
    yield from _complete([schedule for id, schedule in ready.items() if id in inserted])
    yield from keep_traces((item.facts.id, item.trace) for item in new if item.facts.id in inserted)
    puts: list[Put] = []
    for item in new:
        id = item.facts.id
        if id in refused:
            puts.append(refused[id])
        else:
            puts.append(ready[id] if id in inserted else (yield from _why_refused(item.facts)))
    return puts


def _refuse_unknown_calendars(ready: dict[str, Schedule], refused: dict[str, DulyError]) -> Program[None]:
    """Move new schedules that name a calendar that is not there from one to the other."""
    naming = [schedule for schedule in ready.values() if schedule.definition.calendars]
    if not naming:
        return
    unknown = yield from unknown_calendars(
        {(schedule.facts.tenant, name) for schedule in naming for name in schedule.definition.calendars}
    )
    for schedule in naming:
        error = calendar_refusal(schedule.facts, schedule.definition, unknown)
        if error is not None:
            refused[schedule.id] = error
            del ready[schedule.id]


def _refuse_too_many(ready: dict[str, Schedule], refused: dict[str, DulyError], most: int) -> Program[None]:
    """Move from one to the other what is more than its owner may have.

    Holds the tenant's row from here on: whoever creates beside us counts after us.
    """
    for tenant, owner in sorted({(s.facts.tenant, s.facts.owner or "") for s in ready.values()}):
        yield query("take_slots", tenant=tenant, count=0)
        rows = yield query("count_owned", tenant=tenant, owner=owner, limit=most)
        theirs = [s.id for s in ready.values() if (s.facts.tenant, s.facts.owner or "") == (tenant, owner)]
        for id in theirs[max(0, most - rows[0][0]) :]:
            del ready[id]
            refused[id] = QuotaExceeded(
                f"{owner!r} has {rows[0][0]} of at most {most} schedules; delete some, or ask for more", limit=most
            )


def _complete(made: Sequence[Schedule]) -> Program[None]:
    """Give new schedules their first revision and their cursor.

    Slots are fair-share ordinals: everyone's first schedule comes before anyone's second. They are taken late, because
    that holds the tenant's row until the commit, and whoever creates beside us waits for it.
    """
    if not made:
        return
    revisions = (revision_row(s.facts, s.definition, s.facts.created_by) for s in made)
    wanted = Counter(schedule.facts.tenant for schedule in made)
    _, *answers = yield group(
        batch("insert_revisions", columns(REVISION, revisions)),
        *(query("take_slots", tenant=tenant, count=count) for tenant, count in sorted(wanted.items())),
    )
    slots = {tenant: rows[0][0] - wanted[tenant] for tenant, rows in zip(sorted(wanted), answers, strict=True)}
    for schedule in made:
        slots[schedule.facts.tenant] += 1
        schedule.cursor.slot = slots[schedule.facts.tenant]
    cursors = ((*cursor_row(s.cursor), s.facts.tenant) for s in made)
    yield batch("insert_cursors", columns((*CURSOR, "tenant"), cursors))


def _why_refused(facts: Facts) -> Program[Put]:
    """Tell a repeated create (same id: fine) from a key or a client request id that is taken."""
    mine = yield from find_schedule(facts.id, tenant=facts.tenant)
    if mine is not None:
        return mine
    if facts.client_request_id is not None:
        rows = yield query("find_client_request", tenant=facts.tenant, client_request_id=facts.client_request_id)
        if rows:
            # Also one that was deleted, but only to whom it belonged.
            seen = yield owned("seen_request", tenant=facts.tenant, client_request_id=facts.client_request_id)
            return ClientRequestIdInUse(facts.client_request_id, seen[0][0] if seen else None)
    rows = yield owned("find_schedule_id", ref=facts.key, by_key=True, tenant=facts.tenant)
    return KeyInUse(facts.key, rows[0][0] if rows else None)


def end_schedules(now: int, ids: Sequence[str]) -> Program[None]:
    """Write down when schedules ended whose cursor has come to its end: retention counts from then."""
    if not ids:
        return
    rows = yield owned("read_schedules", ids=sorted(ids))
    ended = []
    for row in rows:
        try:
            schedule = read_schedule(row)
        except UnreadableDefinition:
            continue  # written by a newer version, which will see to its end
        ended.append(replace(schedule, facts=replace(schedule.facts, ended_at=now)))
    if ended:
        yield batch("update_schedules", columns(FACTS + DERIVED, map(schedule_row, ended)))


def read_schedules(ids: Sequence[str]) -> Program[list[Schedule]]:
    """Read schedules by their ids; one that a newer version wrote is left out."""
    rows = yield owned("read_schedules", ids=sorted(ids))
    found = []
    for row in rows:
        with suppress(UnreadableDefinition):
            found.append(read_schedule(row))
    return sorted(found, key=lambda schedule: schedule.id)


def find_schedule(ref: str, tenant: str | None) -> Program[Schedule | None]:
    """Read one schedule by id, then by key."""
    schedule_id = yield from resolve(ref, tenant)
    if schedule_id is None:
        return None
    rows = yield owned("read_schedules", ids=[schedule_id])
    return read_schedule(rows[0]) if rows else None


def read_schedule(row: Row) -> Schedule:
    """Build a schedule from the columns of facts, cursor, body and payload."""
    after_facts = len(FACTS)
    after_cursor = after_facts + len(CURSOR)
    body, payload = row[after_cursor:]
    return Schedule(
        read_facts(row[:after_facts]),
        decode_body(body, "{}" if payload is None else payload),
        read_cursor(row[after_facts:after_cursor]),
    )


def resolve(ref: str, tenant: str | None) -> Program[str | None]:
    """The id of the schedule that is meant, or None."""
    check_ref(ref, "a schedule")
    if is_id(ref):
        rows = yield owned("find_schedule_id", ref=ref, by_key=False, tenant=tenant)
        if rows:
            return str(rows[0][0])
    rows = yield owned("find_schedule_id", ref=ref, by_key=True, tenant=tenant)
    return str(rows[0][0]) if rows else None


def schedule_row(schedule: Schedule) -> tuple[Any, ...]:
    definition = schedule.definition
    timing = definition.timing
    kind = "cron" if isinstance(timing, Cron) else "interval" if isinstance(timing, Every) else "once"
    target = definition.target
    topic = target.name if target.kind is TargetKind.TOPIC else target.topic
    calendars = encode_words(definition.calendars) if definition.calendars else None
    return (*facts_row(schedule.facts), kind, target.handler, topic, calendars)


def revision_row(facts: Facts, definition: Definition, made_by: str | None) -> tuple[Any, ...]:
    return facts.id, facts.revision, encode_body(definition), definition.payload, facts.updated_at, made_by
