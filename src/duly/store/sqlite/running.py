"""Run a program on a connection, inside whatever transaction is open there."""

from __future__ import annotations

from typing import Any

import apsw

from duly.store.sqlite.errors import REFUSED_VALUES, translate
from duly.store.sqlite.statements import execute
from duly.store.statements import Group, Program, Row, T


def run(cursor: apsw.Cursor, program: Program[T], path: str) -> T:
    """Feed a program with the rows it asks for, and answer its value; errors of SQLite are translated."""
    answer: Any = None
    while True:
        try:
            step = program.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value
        steps = step.steps if isinstance(step, Group) else (step,)
        answers: list[list[Row]] = []
        for one in steps:
            try:
                answers.append(execute(cursor, one))
            except (apsw.Error, *REFUSED_VALUES) as error:
                program.close()
                raise translate(error, path, one.name) from error
        answer = answers if isinstance(step, Group) else answers[0]
