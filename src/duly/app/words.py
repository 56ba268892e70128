"""The words of ``create``, ``update`` and ``put``: what each may hold, and where it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypedDict

import msgspec

from duly.core.errors import ValidationFailed
from duly.core.instants import to_ms
from duly.core.marks import Wanted
from duly.core.policy import CatchUp, Missed, Overlap, Retry, choose
from duly.core.schedule import DEFAULT_MAX_QUEUED, DEFAULT_QUEUE, Target
from duly.core.timing import Jitter, Timing
from duly.engine.job import Call, Job

from .aiming import TARGET_WORDS, check_target
from .checking import (
    check_catch_up,
    check_count,
    check_jitter,
    check_metadata,
    check_name,
    check_number,
    check_priority,
    check_prose,
    check_queue,
    check_retry,
    check_tags,
    check_text,
    check_truth,
    timeout_in_ms,
)
from .dates import DateLike, check_calendars, check_dates
from .payload import encode_payload

UNSET: Any = msgspec.UNSET
JobLike = str | Call | Job[..., ..., Any] | Callable[..., Any]


class Policies(TypedDict, total=False):
    """What is said of a schedule wherever it is declared; ``jitter`` is (min, max) in milliseconds."""

    description: str | None
    payload: Any
    overlap: str
    catch_up: str | CatchUp
    jitter: Jitter | tuple[int, int] | None
    start_at: datetime | None
    end_at: datetime | None
    max_runs: int | None
    enabled: bool
    queue: str
    priority: int
    max_queued: int
    max_concurrent: int | None
    pause_after_failures: int | None
    fire_current_window: bool
    calendars: Iterable[str]
    exclude_dates: Iterable[DateLike]
    fairness_key: str | None
    tags: Sequence[str]
    metadata: Mapping[str, str | None] | None


class Options(Policies, total=False):
    """Everything about a schedule but its key and timing; ``timeout`` is seconds per attempt, None for no limit.

    ``job`` is a name, a job itself, or a call that was bound to its payload.
    """

    name: str | None
    job: JobLike | None
    workflow: str | None
    topic: str | None
    target: Mapping[str, Any] | None
    retry: Retry | None
    timeout: float | None


class Changes(Options, total=False):
    """What ``update`` may change: the options, and the timing."""

    timing: Timing | None


class JobOptions(Policies, total=False):
    """What a decorator may say of the schedule that it declares beside a job."""

    key: str
    sync: str


class RunOptions(TypedDict, total=False):
    """How a run that is enqueued is to be run; ``id`` is the caller's own, so that a repeated request is one run.

    Of all runs with one ``singleton`` key at most ``max_running`` (1) go at once and at most ``max_queued`` wait. While
    a run with a ``unique`` key is open, or was enqueued less than ``unique_for`` ago (seconds or "5m"), another one is
    answered with the first (``on_conflict="return"``) or refused (``"refuse"``).
    """

    run_at: datetime | None
    queue: str
    priority: int
    max_attempts: int | None
    timeout: float | None
    id: str | None
    tenant: str
    fairness_key: str | None
    singleton: str | None
    max_running: int | None
    max_queued: int | None
    unique: str | None
    unique_for: float | str | None
    on_conflict: str | None


class ScheduleFilters(TypedDict, total=False):
    """What a list of schedules may be narrowed by; ``limit`` is the size of a page, ``cursor`` where to begin."""

    owner: str | None
    tenant: str | None
    job: str | None
    topic: str | None
    tag: str | None
    status: str | None
    enabled: bool | None
    q: str | None
    limit: int
    cursor: str | None


class RunFilters(TypedDict, total=False):
    """What a list of runs may be narrowed by; ``limit`` is the size of a page, ``cursor`` where to begin."""

    schedule: str | None
    job: str | None
    status: str | None
    workflow: str | None
    owner: str | None
    tenant: str | None
    tags: Sequence[str]
    attributes: Mapping[str, Any] | Sequence[Wanted]
    limit: int
    cursor: str | None


class DeadFilters(TypedDict, total=False):
    """Which dead letters; ``error`` is a part of the error's text, the other two are those of a group."""

    schedule: str | None
    job: str | None
    queue: str | None
    tenant: str | None
    error: str | None
    error_type: str | None
    error_location: str | None


OPTIONS = Options.__optional_keys__
SCHEDULE_WORDS = OPTIONS | {"key", "timing"}
OWN_WORDS = frozenset({"key", "timing", "name", "description", "payload", "tags", "metadata", "enabled"})
"""The words that mostly differ between schedules which are made together, and those that touch no policy."""
CHANGE_WORDS = Changes.__optional_keys__
JOB_WORDS = JobOptions.__optional_keys__

Check = Callable[[Any], Any]


def _instant(field: str) -> Check:
    return lambda value: None if value is None else to_ms(value, field)


def _text(field: str, most: int) -> Check:
    return partial(check_text, field=field, most=most)


DEFINITION: Mapping[str, tuple[str, Check]] = {
    "retry": ("retry", check_retry),
    "timeout": ("timeout_ms", timeout_in_ms),
    "overlap": ("overlap", lambda value: choose(Overlap, value, "overlap")),
    "catch_up": ("catch_up", check_catch_up),
    "jitter": ("jitter", check_jitter),
    "start_at": ("start_at", _instant("start_at")),
    "end_at": ("end_at", _instant("end_at")),
    "max_runs": ("max_runs", partial(check_count, field="max_runs")),
    "queue": ("queue", check_queue),
    "priority": ("priority", check_priority),
    "max_queued": ("max_queued", partial(check_number, field="max_queued", least=0, most=10_000)),
    "max_concurrent": ("max_concurrent", partial(check_count, field="max_concurrent")),
    "pause_after_failures": ("pause_after_failures", partial(check_count, field="pause_after_failures")),
    "fire_current_window": ("fire_current_window", partial(check_truth, field="fire_current_window")),
    "calendars": ("calendars", check_calendars),
    "exclude_dates": ("exclude_dates", partial(check_dates, field="exclude_dates")),
    "fairness_key": ("fairness_key", _text("fairness_key", 200)),
}
FACTS: Mapping[str, tuple[str, Check]] = {
    "name": ("name", check_name),
    "description": ("description", partial(check_prose, field="description", most=10_000)),
    "tags": ("tags", check_tags),
}
_META = {"owner_id": "owner", "tenant_id": "tenant", "correlation_id": "correlation_id",
         "client_request_id": "client_request_id"}  # fmt: skip
# What a merge makes of None, where None is no value of the word's own.
_BACK_TO: Mapping[str, Any] = {
    "overlap": Overlap.SKIP, "catch_up": Missed.LATEST, "queue": DEFAULT_QUEUE, "priority": 0,
    "max_queued": DEFAULT_MAX_QUEUED,
    "fire_current_window": False, "calendars": (), "exclude_dates": (), "tags": (), "payload": {}, "enabled": True,
}  # fmt: skip


@dataclass(slots=True)
class Words:
    """Options that were checked one by one, under the names that a definition and facts have for them."""

    definition: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    target: Target | None = None
    payload: str | None = None
    enabled: bool | None = None


def read_words(options: Mapping[str, Any], payload_limit: int) -> Words:
    """Check each option by itself; one that is UNSET was not given."""
    words = Words()
    aims: dict[str, Any] = {}
    for word, value in options.items():
        if value is UNSET:
            continue
        if word in DEFINITION:
            name, check = DEFINITION[word]
            words.definition[name] = check(value)
        elif word in FACTS:
            name, check = FACTS[word]
            words.facts[name] = check(value)
        elif word in TARGET_WORDS:
            aims[word] = value
        elif word == "payload":
            words.payload = encode_payload(value, payload_limit)
        elif word == "metadata":
            words.facts |= {_META[name]: text for name, text in check_metadata(value or {}).items()}
        elif word == "enabled":
            words.enabled = check_truth(value, "enabled")
    if aims and any(value is not None for value in aims.values()):
        words.target = check_target(**aims)
    return words


def merged_words(changes: Mapping[str, Any], payload_limit: int) -> Words:
    """The same for a merge into what is stored: None brings a word back to its default."""
    given = {word: _BACK_TO.get(word) if value is None else value for word, value in changes.items()}
    return read_words(given, payload_limit)


def check_span(start_at: int | None, end_at: int | None) -> None:
    """Refuse a life that ends before it begins."""
    if start_at is not None and end_at is not None and end_at <= start_at:
        raise ValidationFailed("end_at is not after start_at; expected a later instant", field="end_at")
