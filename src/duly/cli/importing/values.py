"""What comes of an import: the schedules that are carried over, and what is left, with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from duly.core.errors import DulyError
from duly.core.timing import Cron

Body = dict[str, Any]
_NOT_OF_KEYS = re.compile(r"[^A-Za-z0-9._:@-]+")
LONGEST_NAME = 200
LONGEST_JOB = 100
SHORTEST_MS = 1000


class Left(Exception):
    """Something cannot be carried over; says why."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A schedule as it will be, where it came from, and in what it differs from what it was."""

    place: str
    body: Body
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What stays where it is, and why."""

    place: str
    what: str
    reason: str


@dataclass(slots=True)
class Imported:
    """Everything that was found."""

    carried: list[Carried] = field(default_factory=list)
    left: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _keys: dict[str, int] = field(default_factory=dict)

    def carry(self, place: str, key: str, body: Body, *notes: str) -> None:
        """Keep a schedule under a key; one that is taken gets a number behind it."""
        count = self._keys[key] = self._keys.get(key, 0) + 1
        if count > 1:
            key = f"{key[:190]}-{count}"
            self._keys.setdefault(key, 1)
        self.carried.append(Carried(place, {"key": key, **body}, notes))

    def leave(self, place: str, what: str, reason: str) -> None:
        self.left.append(LeftOut(place, name_of(what), reason))


def notes_together(carried: Sequence[Carried]) -> list[str]:
    """Each note once, with the places that it is about."""
    places: dict[str, list[str]] = {}
    for one in carried:
        for note in one.notes:
            places.setdefault(note, []).append(one.place)
    return [
        f"{', '.join(found[:3])}{f' and {len(found) - 3} more' * (len(found) > 3)}: {note}"
        for note, found in places.items()
    ]


def key_of(text: str) -> str:
    """A name as a key: what a key cannot hold becomes a dash."""
    key = _NOT_OF_KEYS.sub("-", text).strip("-._:@")[:180].rstrip("-._:@")
    return key or "unnamed"


def name_of(text: str) -> str:
    """A text as a name: one line, not too long."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def job_of(text: Any) -> str:
    if not isinstance(text, str) or not text or not text.isprintable() or len(text) > LONGEST_JOB:
        raise Left(f"its job is {str(text)[:60]!r}; expected a name of at most {LONGEST_JOB} characters")
    return text


def cron(expression: str, timezone: str) -> Body:
    """The timing of an expression that is ours too."""
    try:
        Cron(expression, timezone=timezone)
    except DulyError as error:
        raise Left(error.message) from error
    return {"cronExpression": expression, "timezone": timezone}


def interval(milliseconds: float) -> int:
    """The length of an interval, which must be ours too."""
    if milliseconds != int(milliseconds) or milliseconds < SHORTEST_MS:
        raise Left(f"its interval is {milliseconds / 1000:g} s; expected whole milliseconds, and at least 1 s")
    return int(milliseconds)


def payload(value: Any) -> Any:
    """A value that JSON has, or a reason to leave it."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Left(f"its arguments are not JSON: {error}") from error
    return json.loads(text)


def named_arguments(args: Any, kwargs: Any, function: Any = None) -> Any:
    """The arguments of a call as the payload, by name; those by position get their names from the function."""
    args, kwargs = list(args or ()), dict(kwargs or {})
    if not args:
        return payload(kwargs)
    if function is None:
        raise Left(
            f"it has arguments by position, {payload(args)}, and a payload has names; give them as keywords there,"
            " or import from the program itself, where the function tells their names"
        )
    import inspect

    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise Left(f"its arguments do not fit its function: {error}") from error
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = inspect.signature(function).parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL or kind is inspect.Parameter.POSITIONAL_ONLY:
            raise Left(f"its function takes {name!r} by position only, and a payload has names")
        named |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
    return payload(named)


def without_none(body: Mapping[str, Any]) -> Body:
    return {name: value for name, value in body.items() if value is not None}
