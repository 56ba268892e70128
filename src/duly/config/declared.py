"""``[[schedules]]``: schedules declared in a file, as the arguments that ``Duly(schedules=…)`` takes.

A table has a ``key``, one timing in the words of ``timing_from`` (``cron``, ``every``, ``at``, ``daily``, …, with
``timezone`` and its options) and the arguments of ``create`` in their Python spelling.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from inspect import signature
from typing import Any, Final

from duly.core.errors import ConfigurationError, DulyError
from duly.core.policy import CatchUp, Retry
from duly.core.timing.friendly import timing_from

from .toml import SCHEDULES, File
from .unknown import nearest

_TIMING_WORDS: Final = tuple(word for word in signature(timing_from).parameters if word != "minimum_ms")
WORDS: Final = frozenset({
    "key", "name", "description", "job", "workflow", "topic", "target", "payload", "retry", "timeout", "overlap",
    "catch_up", "jitter", "start_at", "end_at", "max_runs", "enabled", "queue", "priority", "max_queued",
    "max_concurrent", "pause_after_failures", "fire_current_window", "calendars", "exclude_dates", "fairness_key",
    "tags", "metadata", "sync", *_TIMING_WORDS,
})  # fmt: skip
"""What a table may have; those that are not the timing's are checked where they are used."""

_OF_REST: Final = {
    "cronExpression": "cron", "everyMs": "every", "onceAt": "at", "dailyTime": "daily", "weeklyTime": "weekly",
    "monthlyTime": "monthly", "jobType": "job", "jobPayload": "payload", "overlapPolicy": "overlap",
    "timeoutSeconds": "timeout", "maxAttempts": "retry", "maxRetries": "retry", "retryPolicy": "retry",
}  # fmt: skip
_HUMP: Final = re.compile("(?<=[a-z])(?=[A-Z])")


def place_of(file: File, key: object) -> str:
    """How a person finds a schedule in a file."""
    return f"{file.name}: [[{SCHEDULES}]] {key!r}"


def read_schedules(file: File, min_interval_ms: int) -> list[Mapping[str, Any]]:
    """The schedules of a file: every word known, and the timing made; the rest is checked where it is used."""
    tables = file.tables.get(SCHEDULES, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigurationError(f"{file.name}: {SCHEDULES} is not a list of tables; write [[{SCHEDULES}]] above each")
    found: dict[str, Mapping[str, Any]] = {}
    for number, table in enumerate(tables, 1):
        where = place_of(file, table.get("key", f"number {number}"))
        key = table.get("key")
        if not isinstance(key, str):
            raise ConfigurationError(f"{where} has no key; expected a text such as key = 'nightly-report'")
        if key in found:
            raise ConfigurationError(f"{where} is declared twice; give one of them another key")
        try:
            found[key] = _arguments(table, min_interval_ms)
        except DulyError as error:
            raise ConfigurationError(f"{where}: {error}") from error
    return list(found.values())


def _arguments(table: Mapping[str, Any], min_interval_ms: int) -> dict[str, Any]:
    _check_words(table, WORDS, "")
    arguments = {word: value for word, value in table.items() if word not in _TIMING_WORDS}
    arguments["timing"] = timing_from(
        minimum_ms=min_interval_ms, **{word: table[word] for word in _TIMING_WORDS if word in table}
    )
    for word, kind in (("retry", Retry), ("catch_up", CatchUp)):
        given = arguments.get(word)
        if isinstance(given, dict):
            _check_words(given, {field.name for field in fields(kind)}, f"{word}.")
            arguments[word] = kind(**given)
    if isinstance(arguments.get("jitter"), list):
        arguments["jitter"] = tuple(arguments["jitter"])
    return arguments


def _check_words(table: Mapping[str, Any], known: Collection[str], inside: str) -> None:
    """Refuse a word that does not exist, and name the one that was meant: that of Python where REST has another."""
    unknown = next((word for word in table if word not in known), None)
    if unknown is None:
        return
    plain = _OF_REST.get(unknown, _HUMP.sub("_", unknown).lower())
    meant = plain if plain in known else nearest(unknown, known)
    expected = f"did you mean {inside}{meant}?" if meant else f"expected some of {', '.join(sorted(known))}"
    raise ConfigurationError(f"{inside}{unknown} is unknown; {expected}")
