"""``[[schedules]]``: schedules declared in a file, as the arguments that ``Duly(schedules=…)`` takes.

A table has a ``key``, one timing in the words of ``timing_from`` (``cron``, ``every``, ``at``, ``daily``, …, with
``timezone`` and its options) and the arguments of ``create`` in their Python spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, Final

from duly.core.errors import ConfigurationError, DulyError
from duly.core.policy import CatchUp, Retry
from duly.core.timing.friendly import timing_from

from .toml import SCHEDULES, File

_TIMING_WORDS: Final = tuple(word for word in signature(timing_from).parameters if word != "minimum_ms")


def read_schedules(file: File, min_interval_ms: int) -> list[Mapping[str, Any]]:
    """The schedules of a file; their other words are checked where they are used."""
    tables = file.tables.get(SCHEDULES, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigurationError(f"{file.name}: {SCHEDULES} is not a list of tables; write [[{SCHEDULES}]] above each")
    found: dict[str, Mapping[str, Any]] = {}
    for number, table in enumerate(tables, 1):
        where = f"{file.name}: [[{SCHEDULES}]] {table.get('key', f'number {number}')!r}"
        key = table.get("key")
        if not isinstance(key, str):
            raise ConfigurationError(f"{where} has no key; expected a text such as key = 'nightly-report'")
        if key in found:
            raise ConfigurationError(f"{where} is declared twice; give one of them another key")
        try:
            found[key] = _arguments(table, min_interval_ms)
        except (DulyError, TypeError) as error:
            raise ConfigurationError(f"{where}: {error}") from error
    return list(found.values())


def _arguments(table: Mapping[str, Any], min_interval_ms: int) -> dict[str, Any]:
    arguments = {word: value for word, value in table.items() if word not in _TIMING_WORDS}
    arguments["timing"] = timing_from(
        minimum_ms=min_interval_ms, **{word: table[word] for word in _TIMING_WORDS if word in table}
    )
    if isinstance(arguments.get("retry"), dict):
        arguments["retry"] = Retry(**arguments["retry"])
    if isinstance(arguments.get("catch_up"), dict):
        arguments["catch_up"] = CatchUp(**arguments["catch_up"])
    if isinstance(arguments.get("jitter"), list):
        arguments["jitter"] = tuple(arguments["jitter"])
    return arguments
