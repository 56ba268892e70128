"""Run a program on a connection, inside whatever transaction is open there."""

from __future__ import annotations

import apsw

from duly.store.sqlite.errors import REFUSED_VALUES, translate
from duly.store.sqlite.statements import execute
from duly.store.statements import Program, Row, T


def run(cursor: apsw.Cursor, program: Program[T], path: str) -> T:
    """Feed a program with the rows it asks for, and answer its value; errors of SQLite are translated."""
    rows: list[Row] | None = None
    while True:
        try:
            step = program.send(rows)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as end:
            value: T = end.value
            return value
        try:
            rows = execute(cursor, step)
        except (apsw.Error, *REFUSED_VALUES) as error:
            program.close()
            raise translate(error, path, step.name) from error
