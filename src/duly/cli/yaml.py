"""JSON values as YAML: a small emitter whose output every YAML reader takes for the same values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./@+-]|[ ](?=[A-Za-z0-9_./@+-]))*")
# YAML 1.1 reads these words as other values; versions and cases differ, so none of them goes unquoted.
_WORDS = frozenset("true false yes no on off y n null none nan inf".split())


def to_yaml(value: Any) -> str:
    """The value as YAML text that ends with a newline."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> Iterator[str]:
    match value:
        case dict() if value:
            for key, item in value.items():
                yield from _entry(f"{_scalar(str(key))}:", item)
        case list() | tuple() if value:
            for item in value:
                first, *rest = _lines(item)
                yield f"- {first}"
                yield from (f"  {line}" for line in rest)
        case _:
            yield _scalar(value)


def _entry(head: str, item: Any) -> Iterator[str]:
    if item and isinstance(item, dict | list | tuple):
        yield head
        yield from (f"  {line}" for line in _lines(item))
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    match value:
        case str():
            return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
        case float():
            # YAML 1.1 wants a point in every float: 1e+20 would be a word.
            digits, exponent, power = repr(value).partition("e")
            point = digits if "." in digits else f"{digits}.0"
            return f"{point}{exponent}{power}"
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return json.dumps(value)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else _escape(ord(char)) for char in quoted)


def _escape(point: int) -> str:
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
