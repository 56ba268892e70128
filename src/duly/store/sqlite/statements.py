"""The statements of this dialect, read from ``queries/`` once and bound by position.

A file holds one statement, or several separated by semicolons: then each runs for all rows of a batch before the next
one starts, and the rows of the last are the answer. Parameters are written ``:name``; a list becomes a JSON array,
which the statement opens with ``json_each``.

A batch is bound row by row, unless the statement has a ``VALUES (...)``: then that row is repeated, and many rows are
bound at once. It pays for every statement that returns rows or inserts from a SELECT, because SQLite sets up a
temporary table or a journal for each run of such a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, repeat
from typing import Any

import apsw
import msgspec

from duly.store.sources import read_sources
from duly.store.statements import Batch, Query, Row

_encode = msgspec.json.Encoder().encode
_COMMENT = re.compile(r"--[^\n]*")
_PARAMETER = re.compile(r":([a-z_]+)")
_VALUES = re.compile(r"VALUES\s*(\([^()]*\))")
_SIZES = (100, 10, 1)


class Statement:
    """One statement: its text with numbered parameters, and the names that give their order."""

    def __init__(self, text: str) -> None:
        self.names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
        self.text = _number(text, self.names, 0)
        self.row: tuple[str, ...] = ()
        self.same: tuple[str, ...] = ()
        self.many: dict[int, str] = {}
        found = _VALUES.search(text)
        if found:
            start, end = found.span(1)
            self.row = tuple(_PARAMETER.findall(found[1]))
            self.same = tuple(dict.fromkeys(_PARAMETER.findall(text[end:])))
            row = _PARAMETER.sub("?", found[1])
            for size in _SIZES:
                after = _number(text[end:], self.same, size * len(self.row))
                self.many[size] = text[:start] + ", ".join([row] * size) + after


def _number(text: str, names: Sequence[str], before: int) -> str:
    return _PARAMETER.sub(lambda found: f"?{before + names.index(found[1]) + 1}", text)


def compile_statements(text: str) -> tuple[Statement, ...]:
    """Turn the text of a file into statements."""
    parts = (part.strip() for part in _COMMENT.sub("", text).split(";"))
    return tuple(Statement(part) for part in parts if part)


@cache
def load_statements() -> dict[str, tuple[Statement, ...]]:
    """Read every file of ``queries/``, by name."""
    sources = read_sources("duly.store.sqlite", "queries")
    return {name: compile_statements(source.text) for name, source in sources.items()}


def execute(cursor: apsw.Cursor, step: Query | Batch) -> list[Row]:
    """Run what a program yielded, and answer its rows."""
    rows: list[Row] = []
    for statement in load_statements()[step.name]:
        if isinstance(step, Query):
            values = [_bound(step.params[name]) for name in statement.names]
            rows = cursor.execute(statement.text, values).fetchall()
        elif statement.row:
            rows = _execute_many(cursor, statement, step)
        else:
            rows = cursor.executemany(statement.text, _rows(statement.names, step)).fetchall()
    return rows


def _execute_many(cursor: apsw.Cursor, statement: Statement, step: Batch) -> list[Row]:
    """Bind as many rows at once as there are, in a few sizes, so that few statements are prepared."""
    same = tuple(step.params[name] for name in statement.same)
    left = len(next(iter(step.columns.values())))
    rows = _rows(statement.row, step)
    if left == 1:
        return cursor.execute(statement.many[1], next(rows) + same).fetchall()
    answers: list[Row] = []
    for size, text in statement.many.items():
        count, left = divmod(left, size)
        if count:
            bindings = ([*chain.from_iterable(islice(rows, size)), *same] for _ in range(count))
            answers += cursor.executemany(text, bindings).fetchall()
    return answers


def _rows(names: Sequence[str], step: Batch) -> Iterator[tuple[Any, ...]]:
    values: list[Iterable[Any]] = [
        step.columns[name] if name in step.columns else repeat(step.params[name]) for name in names
    ]
    return zip(*values, strict=False)  # what is repeated has no end


def _bound(value: Any) -> Any:
    return _encode(value).decode() if type(value) is list else value
