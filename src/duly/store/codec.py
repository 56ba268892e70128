"""Stored text and rows to values and back. The payload of a definition is stored apart from its body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import date, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from duly.core.calendar import Calendar, DateRange, Days, MonthDay
from duly.core.errors import Conflict, DulyError
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
_USUAL = {field.name: field.default for field in fields(Definition)}


class UnreadableDefinition(Conflict):
    """A revision was written by a newer version, or damaged: the schedule is left alone."""

    code = "DEFINITION_UNREADABLE"


class _Days(msgspec.Struct, omit_defaults=True):
    """What a stored calendar says."""

    dates: tuple[date, ...] = ()
    ranges: tuple[tuple[date, date], ...] = ()
    yearly: tuple[tuple[int, int], ...] = ()


class _Rules(msgspec.Struct, omit_defaults=True):
    """What a stored definition says, all but its key, timing and payload: many schedules say the same."""

    target: tuple[str, str, str | None, str | None]
    overlap: str
    catch_up: tuple[str, int | None, int]
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
    left_to_job: int = 0


class _Shape(_Rules, omit_defaults=True, kw_only=True):
    """The same with the timing, as it is read; it stands before the rest."""

    timing: dict[str, Any]


_decode_days = msgspec.json.Decoder(_Days, strict=True).decode
_decode_shape = msgspec.json.Decoder(_Shape, strict=True).decode
_BETWEEN = ',"shape":'


def encode_body(definition: Definition) -> str:
    """Write a definition as JSON, all but its payload: ``{"key":…,"shape":…}``."""
    return Bodies().encode(definition)


class Bodies:
    """Writes definitions one after another; those whose rules are the same as of the one before share their text."""

    __slots__ = ("_rules", "_text")

    def __init__(self) -> None:
        self._rules: tuple[Any, ...] | None = None
        self._text = ""

    def encode(self, definition: Definition) -> str:
        rules = _rules_of(definition)
        if rules != self._rules:
            self._rules, self._text = rules, _encode_rules(*rules)
        timing = _encode(describe(definition.timing)).decode()
        return f'{{"key":"{definition.key}"{_BETWEEN}{{"timing":{timing},{self._text}}}'


_rules_of = attrgetter(*_Rules.__struct_fields__)


def _encode_rules(
    target: Target, overlap: Overlap, catch_up: CatchUp, retry: Retry | None, jitter: Jitter | None, *rest: Any
) -> str:
    """The rules as JSON, without the bracket that opens them."""
    rules = _Rules(
        (target.kind, target.name, target.spec, target.topic),
        overlap,
        (catch_up.policy, catch_up.max_lateness_ms, catch_up.max_runs),
        None if retry is None else _retry(retry),
        None if jitter is None else (jitter.min_ms, jitter.max_ms),
        *rest,
    )
    return _encode(rules).decode()[1:]


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
        said = f"the stored definition cannot be read by this version: {error}; ask a newer one"
        raise UnreadableDefinition(said) from error


def _duration(ms: int | None) -> timedelta | None:
    return None if ms is None else timedelta(milliseconds=ms)


@lru_cache(maxsize=4096)
def _read_shape(text: str) -> dict[str, Any]:
    """The fields of a definition that are not as usual, built and checked once for all schedules that share them."""
    shape = _decode_shape(text)
    kind, name, spec, topic = shape.target
    policy, max_lateness_ms, max_runs = shape.catch_up
    retry, jitter = shape.retry, shape.jitter
    values = {
        "timing": from_description(shape.timing),
        "target": Target(TargetKind(kind), name, spec, topic),
        "retry": None if retry is None else Retry(retry[0], Backoff(retry[1]), *retry[2:]),
        "timeout_ms": shape.timeout_ms,
        "overlap": Overlap(shape.overlap),
        "max_queued": shape.max_queued,
        "max_concurrent": shape.max_concurrent,
        "catch_up": CatchUp(Missed(policy), _duration(max_lateness_ms), max_runs),
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
        "left_to_job": shape.left_to_job,
    }
    return {name: value for name, value in values.items() if value != _USUAL[name]}


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


# Column by column: a tuple for each row would be made only to be taken apart, and the garbage collector walks them all.
_FACTS_READ = {name: attrgetter(name) for name in FACTS}
_CURSOR_READ = {name: attrgetter(name) for name in CURSOR}


def facts_columns(facts: Sequence[Facts]) -> dict[str, Sequence[Any]]:
    """The columns of FACTS, as stored."""
    columns: dict[str, Sequence[Any]] = {name: [*map(read, facts)] for name, read in _FACTS_READ.items()}
    columns["tags"] = [encode_words(tags) if tags else "[]" for tags in columns["tags"]]
    return columns


def read_facts(row: Row) -> Facts:
    values = dict(zip(FACTS, row, strict=True))
    values["tags"] = decode_words(values["tags"])
    return Facts(**values)


def cursor_columns(cursors: Sequence[Cursor]) -> dict[str, Sequence[Any]]:
    """The columns of CURSOR, as stored."""
    columns: dict[str, Sequence[Any]] = {name: [*map(read, cursors)] for name, read in _CURSOR_READ.items()}
    columns["status"] = [status.value for status in columns["status"]]
    return columns


def read_open_run(row: Row) -> OpenRun:
    """A row of ``open_runs``, without its schedule."""
    return OpenRun(row[1], row[2], bool(row[3]), bool(row[4]), *row[5:])


_STATUS = {status.value: status for status in ScheduleStatus}
_CURSOR_ENDS = len(CURSOR)


def read_cursor(row: Row) -> Cursor:
    """A cursor from the values of CURSOR; what follows them in the row is left out."""
    schedule_id, revision, status = row[:3]
    return Cursor(schedule_id, revision, _STATUS[status], *row[3:_CURSOR_ENDS])


def queue_row(queue: QueueState) -> dict[str, Any]:
    """The columns of a queue by name, as stored."""
    return {**{name: getattr(queue, name) for name in QUEUE}, "governed": queue.governed}


def read_queue(row: Row) -> QueueState:
    values = dict(zip(QUEUE, row, strict=True))
    return QueueState(**values | {"fair": bool(values["fair"]), "newest_first": bool(values["newest_first"])})
