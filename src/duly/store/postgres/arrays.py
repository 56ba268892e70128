"""Values to the text that PostgreSQL reads.

Every parameter goes over as text and is cast in the statement, so a statement has the same parameter types whatever
the values are and is prepared once. Lists become array literals here because a join over a column is several times
faster than an adapter per element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duly.core.errors import ValidationFailed

_NUL = "\x00"
_JOINT = "\x1f"


def encode(value: Any) -> str | None:
    """One parameter: None, a text, a number, a truth, or a list of these."""
    if value is None:
        return None
    if isinstance(value, str):
        if _NUL in value:
            raise _nul_refused(value)
        return value if type(value) is str else str(value)
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, list | tuple):
        return encode_array(value)
    raise TypeError(f"cannot store a {type(value).__name__}: {value!r}")


def encode_single(value: Any) -> str | None:
    """The value of a column that has one row."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        raise TypeError(f"cannot store a {type(value).__name__} in a row: {value!r}")
    return encode(value)


def encode_column(values: Sequence[Any]) -> str:
    """A column for ``unnest`` beside longer ones: it fills up with NULL, so a column of nothing else is empty."""
    if values[0] is None and values.count(None) == len(values):
        return "{}"
    return encode_array(values)


def encode_spread(values: Sequence[Any]) -> str:
    """A column without NULL whose first element, where a row has none, is taken instead."""
    if values.count(values[0]) == len(values):
        return encode_array(values[:1])
    if None in values:
        raise TypeError("a column that must have a value in every row has none in some")
    return encode_array(values)


def encode_joined(values: Sequence[str]) -> str:
    """A column of JSON as one text, with a character between that JSON writes as an escape."""
    joined = _JOINT.join(values)
    if _NUL in joined:
        raise _nul_refused(next(value for value in values if _NUL in value))
    if joined.count(_JOINT) != len(values) - 1:
        raise ValidationFailed("a text that is to be JSON holds the control character U+001F; expected an escape of it")
    return joined


def encode_array(values: Sequence[Any]) -> str:
    """A list as an array literal."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind is str:
            return _texts(values)
        if kind is int:
            return "{" + ",".join(map(str, values)) + "}"
    return "{" + ",".join(map(_element, values)) + "}"


def _texts(values: Sequence[str]) -> str:
    # NUL cannot be stored, so it can stand between the elements while all of them are escaped at once.
    joined = _NUL.join(values)
    if joined.count(_NUL) != len(values) - 1:
        raise _nul_refused(next(value for value in values if _NUL in value))
    return '{"' + _escaped(joined).replace(_NUL, '","') + '"}'


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        if _NUL in value:
            raise _nul_refused(value)
        return f'"{_escaped(value)}"'
    if isinstance(value, bool | int):
        return encode(value) or ""
    raise TypeError(f"cannot store a {type(value).__name__}: {value!r}")


def _escaped(text: str) -> str:
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    return text.replace('"', '\\"') if '"' in text else text


def _nul_refused(value: str) -> ValidationFailed:
    shown = value if len(value) <= 80 else value[:77] + "..."
    return ValidationFailed(
        f"text {shown!r} holds a NUL character, which PostgreSQL cannot store; remove it",
        got=shown,
        expected="text without NUL",
    )
