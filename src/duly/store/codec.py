"""Stored text and rows to values and back. The payload of a definition is stored apart from its body."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from functools import lru_cache
from typing import Any

import msgspec

from duly.core.errors import DulyError
from duly.core.policy import Backoff, CatchUp, Missed, Overlap, Retry
from duly.core.schedule import Cursor, Definition, Facts, ScheduleStatus, Target, TargetKind
from duly.core.timing import Jitter, Timing, describe, from_description

from .statements import Row

_encode = msgspec.json.Encoder().encode
_decode_words = msgspec.json.Decoder(tuple[str, ...]).decode

FACTS = tuple(field.name for field in fields(Facts))
CURSOR = tuple(field.name for field in fields(Cursor))


class UnreadableDefinition(DulyError):
    """A revision was written by a newer version, or damaged: the schedule is left alone."""

    code = "DEFINITION_UNREADABLE"


class _Body(msgspec.Struct):
    """A stored definition, all but its payload."""

    key: str
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


_decode_body = msgspec.json.Decoder(_Body, strict=True).decode


def encode_body(definition: Definition) -> str:
    """Write a definition as JSON, all but its payload."""
    d = definition
    target, retry, catch_up, jitter = d.target, d.retry, d.catch_up, d.jitter
    body = _Body(
        d.key,
        describe(d.timing),
        (target.kind, target.name, target.spec, target.topic),
        d.overlap,
        (catch_up.policy, catch_up.max_lateness_ms, catch_up.max_runs),
        None if retry is None else (retry.max_attempts, retry.backoff, retry.delay, retry.max_delay, retry.jitter),
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
    )
    return _encode(body).decode()


def decode_body(text: str, payload: str) -> Definition:
    """Read a definition back, or raise UnreadableDefinition."""
    try:
        body = _decode_body(text)
        return Definition(
            key=body.key,
            timing=_timing(**body.timing),
            target=_target(*body.target),
            payload=payload,
            retry=None if body.retry is None else _retry(*body.retry),
            timeout_ms=body.timeout_ms,
            overlap=_OVERLAPS[body.overlap],
            max_queued=body.max_queued,
            max_concurrent=body.max_concurrent,
            catch_up=_catch_up(*body.catch_up),
            jitter=None if body.jitter is None else _jitter(*body.jitter),
            start_at=body.start_at,
            end_at=body.end_at,
            max_runs=body.max_runs,
            queue=body.queue,
            priority=body.priority,
            pause_after_failures=body.pause_after_failures,
            fire_current_window=body.fire_current_window,
        )
    except (DulyError, KeyError, TypeError, ValueError, msgspec.DecodeError) as error:
        raise UnreadableDefinition(f"the stored definition cannot be read by this version: {error}") from error


# The parts of a definition are values that most schedules share: each is built, and checked, once.

_OVERLAPS = {overlap.value: overlap for overlap in Overlap}


@lru_cache(maxsize=4096)
def _timing(**description: Any) -> Timing:
    return from_description(description)


@lru_cache(maxsize=4096)
def _target(kind: str, name: str, spec: str | None, topic: str | None) -> Target:
    return Target(TargetKind(kind), name, spec, topic)


@lru_cache(maxsize=1024)
def _catch_up(policy: str, max_lateness_ms: int, max_runs: int) -> CatchUp:
    return CatchUp(Missed(policy), timedelta(milliseconds=max_lateness_ms), max_runs)


@lru_cache(maxsize=1024)
def _retry(max_attempts: int, backoff: str, delay: float, max_delay: float, jitter: float) -> Retry:
    return Retry(max_attempts, Backoff(backoff), delay, max_delay, jitter)


@lru_cache(maxsize=1024)
def _jitter(min_ms: int, max_ms: int) -> Jitter:
    return Jitter(min_ms, max_ms)


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
