"""What a field takes, in words, read from its type."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from msgspec import inspect

from .bodies import WORDS

_BY_THE_SERVER = "the server sets it; leave it out"
_OWNED = {
    "status": "use enabled, or POST to /pause, /resume or /cancel below the schedule",
    "key": "PUT makes a schedule of another key, DELETE removes this one",
    "pausedReason": "POST it as reason to /pause below the schedule",
    "pausedUntil": "POST it as until to /pause below the schedule",
    "scheduleType": "it follows from the timing; leave it out",
    **dict.fromkeys(
        ("id", "health", "nextWindowAt", "nextFireAt", "lastFiredAt", "firedAt", "attempts", "lastError", "revision",
         "createdAt", "updatedAt", "createdBy", "replaces", "replacedBy"),
        _BY_THE_SERVER,
    ),
}  # fmt: skip


@lru_cache(maxsize=1024)
def expected(kind: Any) -> str:
    """A type in words."""
    options = _options(inspect.type_info(kind))
    words = [_words(option) for option in options if not isinstance(option, inspect.NoneType)]
    return " or ".join(words) + (", or null" if len(words) < len(options) else "")


def owned(name: str, fields: Iterable[str]) -> str | None:
    """What to say of a field that the answers of schedules have, and that no body may have."""
    if name not in _OWNED or "cronExpression" not in fields:
        return None
    return f"{name} cannot be {'changed' if name == 'key' else 'given'} here: {_OWNED[name]}"


def _options(info: inspect.Type) -> list[inspect.Type]:
    if isinstance(info, inspect.Metadata) and not (info.extra and WORDS in info.extra):
        return _options(info.type)
    if isinstance(info, inspect.UnionType):
        return [option for one in info.types for option in _options(one)]
    return [info]


def _words(info: inspect.Type) -> str:
    match info:
        case inspect.Metadata(extra={"words": words}):
            return str(words)
        case inspect.IntType():
            return f"a whole number{_bounds(info)}"
        case inspect.FloatType():
            return f"a number{_bounds(info)}"
        case inspect.StrType():
            line = " on one line, without control characters" if info.pattern else ""
            return f"text{_many(info)}{' characters' if info.max_length else ''}{line}"
        case inspect.LiteralType():
            return " | ".join(str(value) for value in info.values)
        case inspect.ListType():
            return f"a list{_many(info)}"
        case inspect.BoolType():
            return "true or false"
        case inspect.AnyType():
            return "any value"
        case _:
            return "an object"


def _many(info: inspect.StrType | inspect.ListType) -> str:
    if info.max_length is None:
        return ""
    return f" of {info.min_length} to {info.max_length}" if info.min_length else f" of at most {info.max_length}"


def _bounds(info: inspect.IntType | inspect.FloatType) -> str:
    if info.ge is not None and info.le is not None:
        return f" from {info.ge} to {info.le}"
    if info.gt is not None and info.le is not None:
        return f" above {info.gt:g} and up to {round(info.le)}"
    return ""
