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
def expected(kind: Any, place: str = "") -> str:
    """A type in words; with ``place`` the type of what is inside a list."""
    info = inspect.type_info(kind)
    if place:
        lists = [option for option in _options(info) if isinstance(option, inspect.ListType)]
        info = lists[0].item_type if lists else info
    options = _options(info)
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
            least, most = info.min_length or 0, info.max_length
            return f"text{f' of {least} to {most} characters' if most else ''}{line}"
        case inspect.LiteralType():
            return " | ".join(str(value) for value in info.values)
        case inspect.ListType():
            return f"a list{f' of at most {info.max_length}' if info.max_length else ''}"
        case inspect.BoolType():
            return "true or false"
        case inspect.AnyType():
            return "any value"
        case _:
            return "an object"


def _bounds(info: inspect.IntType | inspect.FloatType) -> str:
    if info.ge is not None and info.le is not None:
        return f" from {info.ge} to {info.le}"
    if info.gt is not None and info.le is not None:
        return f" above {info.gt:g} and up to {round(info.le)}"
    return ""
