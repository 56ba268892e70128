"""Storing and finding schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from duly.core.errors import ClientRequestIdInUse, Conflict, DulyError, KeyInUse, QuotaExceeded
from duly.core.ids import check_ref, is_id, is_key
from duly.core.rules.starting import first_cursor, started
from duly.core.schedule import UNREAD, Facts, Schedule, TargetKind
from duly.core.timing import Cron, Every, Once
from duly.runtime.collecting import uncollected
from duly.store.clash import Clash
from duly.store.codec import (
    CURSOR,
    FACTS,
    Bodies,
    UnreadableDefinition,
    decode_body,
    encode_words,
    facts_columns,
    read_cursor,
    read_facts,
)
from duly.store.narrowing import owned
from duly.store.statements import Batch, Program, Row, batch, group, query
from duly.store.values import NewSchedule, Put

from .calendars import calendar_refusal, unknown_calendars
from .tracing import trace_steps

SHOWN = 2
"""So many holders of one key are named where it is not clear which is meant."""

MOST_MOVES = 20

_KINDS = {Cron: "cron", Every: "interval", Once: "once"}


def put_schedules(
    now: int, new: Sequence[NewSchedule], most: int | None = None, whole: bool = False
) -> Program[list[Put]]:
    """Insert schedules with their first revision and cursor; see ``Schedules.put_schedules``."""
    ready, refused = yield from _make_ready(now, new, most)
    rows = yield batch("insert_schedules", schedule_columns([*ready.values()]))
    inserted = {row[0] for row in rows}
    yield from _complete([schedule for id, schedule in ready.items() if id in inserted], _traces(new, inserted))
    puts: list[Put] = []
    for item in new:
        id = item.facts.id
        if id in refused:
            # A repeated create gets what is stored, also after its instant has passed.
            puts.append((yield from _find_earlier(item.facts)) or refused[id])
        else:
            puts.append(ready[id] if id in inserted else (yield from _why_refused(item.facts)))
    if whole:
        _raise_first(puts)
    return puts


def add_schedules(
    now: int, new: Sequence[NewSchedule], most: int | None = None, whole: bool = False
) -> Program[list[Put]]:
    """The same in one step, for what is new: if anything clashes or is refused, Clash is raised and nothing done."""
    ready, refused = yield from _make_ready(now, new, most)
    if refused:
        raise Clash("a schedule was refused; it may be a repeated create")
    made = [*ready.values()]
    yield from _complete(made, _traces(new, ready), batch("add_schedules", schedule_columns(made)), last=True)
    return [ready[item.facts.id] for item in new]


def _raise_first(puts: Sequence[Put | None]) -> None:
    """Raise the first refusal, with its place, if there is one: what was written before it is rolled back."""
    for item, put in enumerate(puts):
        if isinstance(put, DulyError):
            put.details["item"] = item
            raise put


Ready = tuple[dict[str, Schedule], dict[str, DulyError]]


def _make_ready(now: int, new: Sequence[NewSchedule], most: int | None) -> Program[Ready]:
    """The schedules that can be stored, and why others cannot be, as far as that can be told without storing them."""
    ready: dict[str, Schedule] = {}
    refused: dict[str, DulyError] = {}
    with uncollected():
        for item in new:
            facts = item.facts
            facts.created_at = facts.updated_at = now
            facts.paused_at = facts.paused_at and now
            definition = started(item.definition, now)
            try:
                cursor = first_cursor(facts.id, definition, now=now, slot=0, paused=facts.paused_at is not None)
            except DulyError as error:
                refused[facts.id] = error
            else:
                ready[facts.id] = Schedule(facts, definition, cursor)
    yield from _refuse_unknown_calendars(ready, refused)
    if most is not None:
        yield from _refuse_too_many(ready, refused, most)
    return ready, refused


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


def _complete(made: Sequence[Schedule], traces: Sequence[Batch], *before: Batch, last: bool = False) -> Program[None]:
    """Give new schedules their first revision, their slot and their cursor, in one step with what is to come before.

    Slots are fair-share ordinals: everyone's first schedule comes before anyone's second. They are taken late, because
    that holds the tenant's row until the commit, and whoever creates beside us waits for it.
    """
    if not made:
        return
    tenants = [schedule.facts.tenant for schedule in made]
    wanted = Counter(tenants)
    taken = [query("take_slots", tenant=tenant, count=count) for tenant, count in sorted(wanted.items())]
    behind = _behind(tenants, wanted)
    revisions = revision_columns(made, [schedule.facts.created_by for schedule in made])
    cursors = {
        "schedule_id": revisions["schedule_id"],
        "next_window_at": [schedule.cursor.next_window_at for schedule in made],
        "fire_at": [schedule.cursor.fire_at for schedule in made],
        "behind": behind,
        "tenant": tenants,
    }
    answers = yield group(
        *before, batch("insert_revisions", revisions), *taken, batch("place_cursors", cursors), *traces, last=last
    )
    first = len(before) + 1
    slots = {step.params["tenant"]: rows[0][0] for step, rows in zip(taken, answers[first:], strict=False)}
    for schedule, after in zip(made, behind, strict=True):
        schedule.cursor.slot = slots[schedule.facts.tenant] - after


def _behind(tenants: Sequence[str], wanted: Counter[str]) -> list[int]:
    """How many of the same tenant follow, for each."""
    if len(wanted) == 1:
        return [*range(len(tenants) - 1, -1, -1)]
    left = wanted.copy()
    behind = []
    for tenant in tenants:
        left[tenant] -= 1
        behind.append(left[tenant])
    return behind


def _traces(new: Sequence[NewSchedule], made: Container[str]) -> list[Batch]:
    return trace_steps((item.facts.id, item.trace) for item in new if item.facts.id in made)


def _find_earlier(facts: Facts) -> Program[Put | None]:
    """Return what an earlier create with this id stored, or an error if the client request id is in use."""
    mine = yield from find_schedule(facts.id, tenant=facts.tenant)
    if mine is not None:
        return mine
    if facts.client_request_id is not None:
        rows = yield query("find_client_request", tenant=facts.tenant, client_request_id=facts.client_request_id)
        if rows:
            # Also one that was deleted, but only to whom it belonged.
            seen = yield owned("seen_request", tenant=facts.tenant, client_request_id=facts.client_request_id)
            return ClientRequestIdInUse(facts.client_request_id, seen[0][0] if seen else None)
    return None


def _why_refused(facts: Facts) -> Program[Put]:
    """Tell a repeated create (same id: fine) from a key or a client request id that is taken."""
    earlier = yield from _find_earlier(facts)
    if earlier is not None:
        return earlier
    rows = yield owned("find_schedule_id", ref=facts.key, by_key=True, tenant=facts.tenant)
    return KeyInUse(facts.key, rows[0][0] if rows else None)


def end_schedules(now: int, ids: Sequence[str]) -> Program[None]:
    """Write down when schedules ended whose cursor has come to its end: retention counts from then."""
    if not ids:
        return
    # What a newer version wrote is left to that one.
    schedules = yield from read_schedules(ids)
    ended = [replace(schedule, facts=replace(schedule.facts, ended_at=now)) for schedule in schedules]
    if ended:
        yield batch("update_schedules", schedule_columns(ended))


def read_schedules(ids: Sequence[str]) -> Program[list[Schedule]]:
    """Read schedules by their ids, in id order; one that a newer version wrote is left out."""
    rows = yield owned("read_schedules", ids=sorted(ids))
    return sorted(readable_schedules(rows), key=lambda schedule: schedule.id)


def readable_schedules(rows: Iterable[Row]) -> list[Schedule]:
    """Those of the rows that this version can read: one that it cannot must not hide the others."""
    found: list[Schedule] = []
    for row in rows:
        with suppress(UnreadableDefinition):
            found.append(read_schedule(row))
    return found


def find_schedule(ref: str, tenant: str | None) -> Program[Schedule | None]:
    """Read one schedule by id, then by key."""
    schedule_id = yield from resolve(ref, tenant)
    if schedule_id is None:
        return None
    rows = yield owned("read_schedules", ids=[schedule_id])
    return read_schedule(rows[0]) if rows else None


def lock_schedule(ref: str, tenant: str | None) -> Program[Schedule | None]:
    """The schedule with its cursor locked; a key that went to another one while we waited is followed."""
    schedule: Schedule | None = None
    for _ in range(MOST_MOVES):
        schedule_id = yield from resolve(ref, tenant)
        if schedule_id is None:
            return None
        yield query("lock_cursors", ids=[schedule_id])
        schedule = yield from find_schedule(schedule_id, tenant=tenant)
        if schedule is not None and ref in (schedule.id, schedule.key):
            break
    return schedule


def read_schedule(row: Row) -> Schedule:
    """Build a schedule from the columns of facts, cursor, body and payload."""
    after_facts = len(FACTS)
    after_cursor = after_facts + len(CURSOR)
    body, payload = row[after_cursor:]
    return Schedule(
        read_facts(row[:after_facts]),
        decode_body(body, UNREAD if payload is None else payload),
        read_cursor(row[after_facts:after_cursor]),
    )


def resolve(ref: str, tenant: str | None) -> Program[str | None]:
    """The id of the schedule that is meant, or None; a key that several tenants hold means none of theirs.

    What can be no key is not asked for: stores differ about it.
    """
    check_ref(ref, "a schedule")
    if not is_key(ref):
        return None
    if is_id(ref):
        rows = yield owned("find_schedule_id", ref=ref, by_key=False, tenant=tenant)
        if rows:
            return str(rows[0][0])
    rows = yield owned("find_schedule_id", ref=ref, by_key=True, tenant=tenant)
    if len(rows) > 1:
        raise _held_by_several(ref, [str(row[0]) for row in rows])
    return str(rows[0][0]) if rows else None


def _held_by_several(key: str, ids: Sequence[str]) -> Conflict:
    named = " and ".join(ids[:SHOWN]) + (", to name two" if len(ids) > SHOWN else "")
    return Conflict(
        f"schedule key {key!r} is held by several tenants: it may be {named}; say it by its id, or name the tenant",
        key=key,
        ids=list(ids[:SHOWN]),
    )


def schedule_columns(schedules: Sequence[Schedule]) -> dict[str, Sequence[Any]]:
    """The facts of schedules, and of their definitions what they are found by."""
    definitions = [schedule.definition for schedule in schedules]
    targets = [definition.target for definition in definitions]
    return facts_columns([schedule.facts for schedule in schedules]) | {
        "kind": [_KINDS[type(definition.timing)] for definition in definitions],
        "job": [target.handler for target in targets],
        "topic": [target.name if target.kind is TargetKind.TOPIC else target.topic for target in targets],
        "calendars": [encode_words(d.calendars) if d.calendars else None for d in definitions],
    }


def revision_columns(schedules: Sequence[Schedule], made_by: Sequence[str | None]) -> dict[str, Sequence[Any]]:
    """The definitions of schedules as new revisions, each with who made it."""
    encode = Bodies().encode
    return {
        "schedule_id": [schedule.facts.id for schedule in schedules],
        "revision": [schedule.facts.revision for schedule in schedules],
        "body": [encode(schedule.definition) for schedule in schedules],
        "payload": [schedule.definition.payload for schedule in schedules],
        "made_at": [schedule.facts.updated_at for schedule in schedules],
        "made_by": made_by,
    }
