"""Stored text and rows to values and back. The payload of a definition is stored apart from its body."""

from __future__ import annotations

from dataclasses import fields
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import msgspec

from duly.core.calendar import Calendar, DateRange, Days, MonthDay
from duly.core.errors import DulyError
from duly.core.instants import to_datetime, to_ms
from duly.core.policy import Backoff, CatchUp, Missed, Overlap, Retry
from duly.core.queue import QueueState
from duly.core.run import OpenRun
from duly.core.schedule import Cursor, Definition, Facts, ScheduleStatus, Target, TargetKind
from duly.core.timing import Jitter, describe, from_description

from .statements import Row

_encode = msgspec.json.Encoder().encode
_decode_words = msgspec.json.Decoder(tuple[str, ...]).decode

FACTS = tuple(field.name for field in fields(Facts))
CURSOR = tuple(field.name for field in fields(Cursor))
QUEUE = tuple(field.name for field in fields(QueueState))


class UnreadableDefinition(DulyError):
    """A revision was written by a newer version, or damaged: the schedule is left alone."""

    code = "DEFINITION_UNREADABLE"


class _Days(msgspec.Struct, omit_defaults=True):
    """What a stored calendar says."""

    dates: tuple[date, ...] = ()
    ranges: tuple[tuple[date, date], ...] = ()
    yearly: tuple[tuple[int, int], ...] = ()


class _Shape(msgspec.Struct, omit_defaults=True):
    """What a stored definition says, all but its key and payload: many schedules say the same."""

    timing: dict[str, Any]
    target: tuple[str, str, str | None, str | None]
    overlap: str
    catch_up: tuple[str, int, int]
    retry: tuple[int, str, float, float, float] | None
    jitter: tuple[int, int] | None
    timeout_ms: int | None
    max_queued: int
    max_concurrent: int | None
    start_at: int | None
    end_at: int | None
    max_runs: int | None
    queue: str
    priority: int
    pause_after_failures: int | None
    fire_current_window: bool
    calendars: tuple[str, ...] = ()
    exclude_dates: tuple[date, ...] = ()
    fairness_key: str | None = None


_decode_days = msgspec.json.Decoder(_Days, strict=True).decode
_decode_shape = msgspec.json.Decoder(_Shape, strict=True).decode
_BETWEEN = ',"shape":'


def encode_body(definition: Definition) -> str:
    """Write a definition as JSON, all but its payload: ``{"key":…,"shape":…}``."""
    d = definition
    target, retry, catch_up, jitter = d.target, d.retry, d.catch_up, d.jitter
    shape = _Shape(
        describe(d.timing),
        (target.kind, target.name, target.spec, target.topic),
        d.overlap,
        (catch_up.policy, catch_up.max_lateness_ms, catch_up.max_runs),
        None if retry is None else _retry(retry),
        None if jitter is None else (jitter.min_ms, jitter.max_ms),
        d.timeout_ms,
        d.max_queued,
        d.max_concurrent,
        d.start_at,
        d.end_at,
        d.max_runs,
        d.queue,
        d.priority,
        d.pause_after_failures,
        d.fire_current_window,
        d.calendars,
        d.exclude_dates,
        d.fairness_key,
    )
    return f'{{"key":"{d.key}"{_BETWEEN}{_encode(shape).decode()}}}'


def _retry(retry: Retry) -> tuple[int, str, float, float, float]:
    # As floats, which they are when they are read back: the same definition is always the same text.
    return retry.max_attempts, retry.backoff, float(retry.delay), float(retry.max_delay), float(retry.jitter)


def decode_body(text: str, payload: str) -> Definition:
    """Read a definition back, or raise UnreadableDefinition."""
    # A key has no character that JSON would escape, so the text can be parted without being parsed.
    head, _, tail = text.partition(_BETWEEN)
    try:
        return Definition(key=head[8:-1], payload=payload, **_read_shape(tail[:-1]))
    except (DulyError, KeyError, TypeError, ValueError, msgspec.DecodeError) as error:
        raise UnreadableDefinition(f"the stored definition cannot be read by this version: {error}") from error


@lru_cache(maxsize=4096)
def _read_shape(text: str) -> dict[str, Any]:
    """The fields of a definition, built and checked once for all schedules that share them."""
    shape = _decode_shape(text)
    kind, name, spec, topic = shape.target
    policy, max_lateness_ms, max_runs = shape.catch_up
    retry, jitter = shape.retry, shape.jitter
    return {
        "timing": from_description(shape.timing),
        "target": Target(TargetKind(kind), name, spec, topic),
        "retry": None if retry is None else Retry(retry[0], Backoff(retry[1]), *retry[2:]),
        "timeout_ms": shape.timeout_ms,
        "overlap": Overlap(shape.overlap),
        "max_queued": shape.max_queued,
        "max_concurrent": shape.max_concurrent,
        "catch_up": CatchUp(Missed(policy), timedelta(milliseconds=max_lateness_ms), max_runs),
        "jitter": None if jitter is None else Jitter(*jitter),
        "start_at": shape.start_at,
        "end_at": shape.end_at,
        "max_runs": shape.max_runs,
        "queue": shape.queue,
        "priority": shape.priority,
        "pause_after_failures": shape.pause_after_failures,
        "fire_current_window": shape.fire_current_window,
        "calendars": shape.calendars,
        "exclude_dates": shape.exclude_dates,
        "fairness_key": shape.fairness_key,
    }


def encode_days(days: Days) -> str:
    return _encode(_Days(days.dates, days.ranges, days.yearly)).decode()


def decode_days(text: str) -> Days:
    shape = _decode_days(text)
    return Days(
        shape.dates, tuple(DateRange(*one) for one in shape.ranges), tuple(MonthDay(*one) for one in shape.yearly)
    )


def calendar_row(calendar: Calendar) -> dict[str, Any]:
    """A calendar as it is stored."""
    return {
        "id": calendar.id,
        "name": calendar.name,
        "tenant": calendar.tenant,
        "description": calendar.description,
        "body": encode_days(calendar.days),
        "revision": calendar.revision,
        "created_at": to_ms(calendar.created_at),
        "created_by": calendar.created_by,
        "updated_at": to_ms(calendar.updated_at),
        "updated_by": calendar.updated_by,
    }


def read_calendar(row: Row) -> Calendar:
    id, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by = row
    return Calendar(
        id=id,
        name=name,
        tenant=tenant,
        description=description,
        days=decode_days(body),
        revision=revision,
        created_at=to_datetime(created_at),
        created_by=created_by,
        updated_at=to_datetime(updated_at),
        updated_by=updated_by,
    )


def encode_words(words: tuple[str, ...]) -> str:
    return _encode(words).decode()


def decode_words(text: str) -> tuple[str, ...]:
    return _decode_words(text)


def facts_row(facts: Facts) -> tuple[Any, ...]:
    """The values of FACTS, in order, as stored."""
    return (
        facts.id,
        facts.key,
        facts.name,
        facts.tenant,
        facts.description,
        facts.owner,
        facts.correlation_id,
        facts.client_request_id,
        encode_words(facts.tags) if facts.tags else "[]",
        facts.app,
        facts.revision,
        facts.paused_at,
        facts.paused_until,
        facts.paused_by,
        facts.pause_reason,
        facts.created_at,
        facts.created_by,
        facts.updated_at,
        facts.ended_at,
        facts.deleted_at,
        facts.replaces,
        facts.replaced_by,
    )


def read_facts(row: Row) -> Facts:
    values = dict(zip(FACTS, row, strict=True))
    values["tags"] = decode_words(values["tags"])
    return Facts(**values)


def cursor_row(cursor: Cursor) -> tuple[Any, ...]:
    """The values of CURSOR, in order, as stored."""
    return (
        cursor.schedule_id,
        cursor.revision,
        cursor.status.value,
        cursor.window_at,
        cursor.next_window_at,
        cursor.fire_at,
        cursor.slot,
        cursor.fired,
        cursor.failures,
        cursor.last_fired_at,
        cursor.error,
    )


def read_open_run(row: Row) -> OpenRun:
    """A row of ``open_runs``, without its schedule."""
    return OpenRun(row[1], row[2], bool(row[3]), bool(row[4]), bool(row[5]))


_STATUS = {status.value: status for status in ScheduleStatus}


def read_cursor(row: Row) -> Cursor:
    return Cursor(
        schedule_id=row[0],
        revision=row[1],
        status=_STATUS[row[2]],
        window_at=row[3],
        next_window_at=row[4],
        fire_at=row[5],
        slot=row[6],
        fired=row[7],
        failures=row[8],
        last_fired_at=row[9],
        error=row[10],
    )


def queue_row(queue: QueueState) -> dict[str, Any]:
    """The columns of a queue by name, as stored."""
    return {**{name: getattr(queue, name) for name in QUEUE}, "governed": queue.governed}


def read_queue(row: Row) -> QueueState:
    values = dict(zip(QUEUE, row, strict=True))
    return QueueState(**values | {"fair": bool(values["fair"]), "newest_first": bool(values["newest_first"])})
