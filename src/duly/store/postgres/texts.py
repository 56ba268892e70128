"""The SQL files, as psycopg and libpq want them.

A parameter is written ``:name`` in the file. ``queries/`` are run with parameters;
``transactions/`` may hold several statements for one round trip, which cannot have parameters: numbers are filled in.
Each folder is read once: the two hundred queries take 20 ms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from duly.store.sources import read_sources

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_SPREAD = re.compile(r"\((:([a-z_]+)::[a-z]+)\[\]\)\[1\]")
_JOINED = re.compile(r"string_to_array\((:([a-z_]+)::text), E'\\x1f'\)")
_ROWS = re.compile(r"\bunnest\(((?:\s*:[a-z_]+::[a-z]+\[\],?)+\s*)\)(?=\s+AS \w+ \()")
_ANY = re.compile(r"= ANY \((:([a-z_]+)::[a-z]+)\[\]\)")
_UNPREPARED = "-- Unprepared:"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, for a cursor of psycopg (``text``) and for libpq (``numbered``, its parameters by ``names``).

    ``prepare`` is False where the parameters decide the plan. ``spread`` are columns of which the text takes the first
    element for rows that have none: one that is the same in every row may be sent as one element, which saves both
    sides the work. ``joined`` are columns of JSON that come as one text. ``one`` is the same statement for a single
    row, of plain values instead of arrays: a create takes a fifth less time with it.
    """

    name: bytes
    text: bytes
    numbered: bytes
    names: tuple[str, ...]
    prepare: bool
    spread: frozenset[str]
    joined: frozenset[str]
    one: Statement | None = None


@cache
def load_queries() -> dict[str, Statement]:
    """Read every statement of ``queries/`` by name."""
    return {name: as_statement(source.text, name) for name, source in read_sources(__package__, "queries").items()}


@cache
def load_migrations() -> dict[int, bytes]:
    """Read the numbered steps of ``schema/``, oldest first."""
    steps = {int(name[:4]): source.text.encode() for name, source in read_sources(__package__, "schema").items()}
    return dict(sorted(steps.items()))


@cache
def load_transactions() -> dict[str, str]:
    """Read the texts of ``transactions/`` by name."""
    return {name: _without_comments(source.text) for name, source in read_sources(__package__, "transactions").items()}


def fill_in(text: str, numbers: dict[str, int]) -> str:
    """Put numbers into a text in the place of parameters that it cannot have, or need not: they never change."""
    return _PARAMETER.sub(lambda found: str(int(numbers[found[1]])) if found[1] in numbers else found[0], text)


def as_statement(text: str, name: str = "") -> Statement:
    """A text with parameters; with a name it can be prepared."""
    plain = _without_comments(text)
    names = tuple(dict.fromkeys(_PARAMETER.findall(plain)))
    single = _for_one_row(text)
    return Statement(
        name=b"duly_" + name.encode(),
        text=_PARAMETER.sub(r"%(\1)s", plain.replace("%", "%%")).encode(),
        numbered=_PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", plain).encode(),
        names=names,
        prepare=not text.startswith(_UNPREPARED),
        spread=frozenset(name for _, name in _SPREAD.findall(text)),
        joined=frozenset(name for _, name in _JOINED.findall(text)),
        one=None if single is None else as_statement(single, f"{name}_one"),
    )


def _for_one_row(text: str) -> str | None:
    """The text for rows that come in arrays, for one row; None where it is not made for rows, or not for them alone."""
    rows = _JOINED.sub(r"\1[]", text)
    columns = {name for found in _ROWS.findall(rows) for name in _PARAMETER.findall(found)}
    single = _ROWS.sub(lambda found: f"(VALUES ({found[1].replace('[]', '')}))", rows)
    single = _SPREAD.sub(r"\1", single)
    single = _ANY.sub(lambda found: f"= {found[1]}" if found[2] in columns else found[0], single)
    return single if columns and "[]" not in single else None


def _without_comments(text: str) -> str:
    return _COMMENT.sub("", text).strip()
