"""What runs of workflows are found by: tags, and attributes that have a value.

A mark is a name with a value, written as JSON. A tag is a mark without a value, whose name begins with ``#``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .errors import ValidationFailed

MOST = 50
"""Marks that one run may have."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)
_PART = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+')
_NO_VALUE = "null"
_TAG = "#"
Value = str | int | float | bool


class Compare(StrEnum):
    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"


@dataclass(frozen=True, slots=True)
class Marks:
    """What a run is marked with, as people see it."""

    tags: tuple[str, ...] = ()
    attributes: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One condition on the marks of a run; several must all hold."""

    name: str
    compare: Compare
    value: str

    def fits(self, marks: Mapping[str, str]) -> bool:
        """Whether a run with these marks is meant; one without a mark of that name never is."""
        found = marks.get(self.name)
        if found is None:
            return False
        if self.compare in (Compare.EQ, Compare.NE):
            return (found == self.value) is (self.compare is Compare.EQ)
        return _ordered(self.compare, json.loads(found), json.loads(self.value))


def _ordered(compare: Compare, left: Any, right: Any) -> bool:
    """Numbers are compared with numbers, texts with texts; what cannot be compared does not fit."""
    kinds = {str if isinstance(value, str) else bool if isinstance(value, bool) else float for value in (left, right)}
    if kinds not in ({str}, {float}):
        return False
    match compare:
        case Compare.GT:
            return bool(left > right)
        case Compare.GTE:
            return bool(left >= right)
        case Compare.LT:
            return bool(left < right)
        case _:
            return bool(left <= right)


def make_marks(tags: Sequence[str] = (), attributes: Mapping[str, Value] | None = None) -> dict[str, str]:
    """Check tags and attributes; the answer is ready to be stored."""
    if isinstance(tags, str) or len(tags) + len(attributes or {}) > MOST:
        raise ValidationFailed(
            f"tags is {tags!r} and attributes is {attributes!r}; expected a list of tags and a mapping, at most {MOST}"
            " in all",
            field="tags",
        )
    made = {f"{_TAG}{check_tag(tag)}": _NO_VALUE for tag in tags}
    return made | {check_name(name): write_value(name, value) for name, value in (attributes or {}).items()}


def read_marks(rows: Iterable[tuple[str, str]]) -> Marks:
    """The marks of a run, read back."""
    found = sorted(rows)
    tags = tuple(name.removeprefix(_TAG) for name, _ in found if name.startswith(_TAG))
    return Marks(tags, {name: json.loads(value) for name, value in found if not name.startswith(_TAG)})


def wanted_tag(tag: str) -> Wanted:
    return Wanted(f"{_TAG}{check_tag(tag)}", Compare.EQ, _NO_VALUE)


def wanted_tags(tags: Sequence[str]) -> tuple[Wanted, ...]:
    """Conditions on tags: all of them must be there."""
    if isinstance(tags, str | bytes) or not isinstance(tags, Iterable):
        raise ValidationFailed(f"tags is {tags!r}; expected a list of tags", field="tags", got=tags)
    return tuple(map(wanted_tag, tags))


def wanted_attributes(attributes: Mapping[str, Any] | Sequence[Wanted]) -> tuple[Wanted, ...]:
    """Conditions on attributes: a value that it must have, or a pair such as ``("gte", 5)``."""
    if not isinstance(attributes, Mapping):
        if isinstance(attributes, Iterable) and all(isinstance(wanted, Wanted) for wanted in attributes):
            return tuple(attributes)
        raise ValidationFailed(
            f"attributes is {attributes!r}; expected a mapping such as {{'amount': ('gte', 5)}}",
            field="attributes",
            got=attributes,
        )
    return tuple(
        _wanted(name, *(given if isinstance(given, tuple) else (Compare.EQ, given)))
        for name, given in attributes.items()
    )


def parse_attributes(text: str) -> tuple[Wanted, ...]:
    """Conditions as a text has them: ``customer:ann,amount:gte:5``; what reads as a number, true or false is one."""
    found = []
    for part in _PART.findall(text) or [""]:
        name, _, rest = part.partition(":")
        compare, colon, value = rest.partition(":")
        if not colon or compare not in tuple(Compare):
            compare, value = Compare.EQ, rest
        if not value:
            raise ValidationFailed(
                f"attribute is {part!r}; expected name:value or name:gte:value", field="attr", got=part
            )
        found.append(_wanted(name, compare, _read_value(value)))
    return tuple(found)


def write_tags(tags: Sequence[str]) -> str:
    """Conditions on tags as a query has them."""
    return ",".join(one.name.removeprefix(_TAG) for one in wanted_tags(tags))


def write_attributes(attributes: Mapping[str, Any] | Sequence[Wanted]) -> str:
    """Conditions as ``parse_attributes`` reads them back."""
    return ",".join(f"{one.name}:{one.compare}:{one.value}" for one in wanted_attributes(attributes))


def _wanted(name: str, compare: Any, value: Any) -> Wanted:
    if compare not in tuple(Compare):
        raise ValidationFailed(
            f"attribute {name!r} is compared by {compare!r}; expected {' | '.join(Compare)}",
            field="attributes",
            got=compare,
        )
    return Wanted(check_name(name), Compare(compare), write_value(name, value))


def _read_value(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | str) else text


def check_tag(tag: Any) -> str:
    if not isinstance(tag, str) or not 1 <= len(tag) <= 100 or not tag.isprintable():
        raise ValidationFailed(f"tag is {tag!r}; expected 1 to 100 printable characters", field="tags", got=tag)
    return tag


def check_name(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValidationFailed(
            f"attribute is {name!r}; expected a letter, then up to 63 of A-Z a-z 0-9 _ . -",
            field="attributes",
            got=name,
        )
    return name


def write_value(name: str, value: Any) -> str:
    """The value of an attribute as it is stored: the same value is the same text, 5.0 as well as 5."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    fits = isinstance(value, bool | int | float | str) and not (isinstance(value, float) and not math.isfinite(value))
    if not fits or len(str(value)) > 200 or "\x00" in str(value):
        raise ValidationFailed(
            f"attribute {name!r} is {value!r}; expected a text of up to 200 characters, a number, True or False",
            field="attributes",
            got=value,
        )
    return json.dumps(value, ensure_ascii=False)
