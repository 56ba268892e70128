"""The SQL files, as psycopg and libpq want them.

A parameter is written ``:name`` in the file. ``queries/`` are run with parameters;
``transactions/`` may hold several statements for one round trip, which cannot have parameters: numbers are filled in.
Files name tables as ``duly.duly_runs``. A store with another schema replaces that one name; nothing depends on a
``search_path``. Each folder is read once per schema: the three hundred queries take 20 ms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from duly.core.database_schema import DEFAULT_SCHEMA, check_schema_name
from duly.store.sources import read_sources

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_SPREAD = re.compile(r"\((:([a-z_]+)::[a-z]+)\[\]\)\[1\]")
_JOINED = re.compile(r"string_to_array\((:([a-z_]+)::text), E'\\x1f'\)")
_ROWS = re.compile(r"\b(?:pg_catalog\.)?unnest\(((?:\s*:[a-z_]+::[a-z]+\[\],?)+\s*)\)(?=\s+AS \w+ \()")
_ANY = re.compile(r"= ANY \((:([a-z_]+)::[a-z]+)\[\]\)")
_WORD = re.compile(r"[0-9a-f]+")
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
def load_queries(schema: str = DEFAULT_SCHEMA) -> dict[str, Statement]:
    """Return every statement of ``queries/`` by name, for tables in that schema.

    A prepared statement has another name in every schema: behind a pooler that mixes up the prepared statements of its
    clients, one of another schema is missing instead of wrong.
    """
    sources = read_sources(__package__, "queries")
    mark = "" if schema == DEFAULT_SCHEMA else f"{blake2b(schema.encode(), digest_size=8).hexdigest()}_"
    return {name: as_statement(in_schema(source.text, schema), mark + name) for name, source in sources.items()}


@cache
def load_migrations() -> dict[int, str]:
    """Return the numbered migrations of ``schema/`` as they are written, oldest first."""
    scripts = {int(name[:4]): source.text for name, source in read_sources(__package__, "schema").items()}
    return dict(sorted(scripts.items()))


@cache
def load_transactions(schema: str = DEFAULT_SCHEMA) -> dict[str, str]:
    """Return the texts of ``transactions/`` by name, for tables in that schema."""
    sources = read_sources(__package__, "transactions")
    return {name: in_schema(_without_comments(source.text), schema) for name, source in sources.items()}


def in_schema(text: str, schema: str) -> str:
    """Return the text with its tables in that schema, whose name is quoted."""
    return text.replace("duly.duly_", f'"{check_schema_name(schema)}".duly_')


def fill_in(text: str, values: Mapping[str, int | str]) -> str:
    """Put numbers and hexadecimal words into a text in place of parameters that it cannot have, or need not."""
    return _PARAMETER.sub(lambda found: _literal(values[found[1]]) if found[1] in values else found[0], text)


def _literal(value: int | str) -> str:
    if isinstance(value, int):
        return str(value)
    if not _WORD.fullmatch(value):
        raise ValueError(f"{value!r} is not a hexadecimal word")
    return f"'{value}'"


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
