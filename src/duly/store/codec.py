"""Stored text and rows to values and back. The payload of a definition is stored apart from its body."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import Any

import msgspec

from duly.core.errors import DulyError
from duly.core.policy import Backoff, CatchUp, Missed, Overlap, Retry
from duly.core.schedule import Cursor, Definition, Facts, ScheduleStatus, Target, TargetKind
from duly.core.timing import Jitter, describe, from_description

from .statements import Row

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

FACTS = tuple(field.name for field in fields(Facts))
CURSOR = tuple(field.name for field in fields(Cursor))
_PLAIN = (
    "timeout_ms",
    "max_queued",
    "max_concurrent",
    "start_at",
    "end_at",
    "max_runs",
    "queue",
    "priority",
    "pause_after_failures",
    "fire_current_window",
)


class UnreadableDefinition(DulyError):
    """A revision was written by a newer version, or damaged: the schedule is left alone."""

    code = "DEFINITION_UNREADABLE"


def encode_body(definition: Definition) -> str:
    """Write a definition as JSON, all but its payload."""
    target, retry, catch_up, jitter = definition.target, definition.retry, definition.catch_up, definition.jitter
    body: dict[str, Any] = {name: getattr(definition, name) for name in _PLAIN}
    body["key"] = definition.key
    body["timing"] = describe(definition.timing)
    body["target"] = [target.kind, target.name, target.spec, target.topic]
    body["overlap"] = definition.overlap
    body["catch_up"] = [catch_up.policy, catch_up.max_lateness_ms, catch_up.max_runs]
    body["retry"] = retry and [retry.max_attempts, retry.backoff, retry.delay, retry.max_delay, retry.jitter]
    body["jitter"] = jitter and [jitter.min_ms, jitter.max_ms]
    return _encode(body).decode()


def decode_body(text: str, payload: str) -> Definition:
    """Read a definition back, or raise UnreadableDefinition."""
    try:
        body = _decode(text)
        kind, name, spec, topic = body["target"]
        policy, lateness, most = body["catch_up"]
        retry, jitter = body["retry"], body["jitter"]
        return Definition(
            key=body["key"],
            timing=from_description(body["timing"]),
            target=Target(TargetKind(kind), name, spec, topic),
            payload=payload,
            overlap=Overlap(body["overlap"]),
            catch_up=CatchUp(Missed(policy), timedelta(milliseconds=lateness), most),
            retry=retry and Retry(retry[0], Backoff(retry[1]), retry[2], retry[3], retry[4]),
            jitter=jitter and Jitter(jitter[0], jitter[1]),
            **{name: body[name] for name in _PLAIN},
        )
    except (DulyError, KeyError, TypeError, ValueError, msgspec.DecodeError) as error:
        raise UnreadableDefinition(f"the stored definition cannot be read by this version: {error}") from error


def encode_words(words: tuple[str, ...]) -> str:
    return _encode(words).decode()


def decode_words(text: str) -> tuple[str, ...]:
    return tuple(_decode(text))


def facts_row(facts: Facts) -> list[Any]:
    """The values of FACTS, in order, as stored."""
    return [encode_words(facts.tags) if name == "tags" else getattr(facts, name) for name in FACTS]


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
