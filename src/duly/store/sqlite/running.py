"""Run a program on a connection, inside whatever transaction is open there."""

from __future__ import annotations

import apsw

from duly.store.sqlite.errors import REFUSED_VALUES, translate
from duly.store.sqlite.statements import execute
from duly.store.statements import Group, Program, Row, Steps, T


def run(cursor: apsw.Cursor, program: Program[T], path: str) -> T:
    """Feed a program with the rows it asks for, and answer its value; errors of SQLite are translated."""
    for step in (steps := Steps(program)):
        answers: list[list[Row]] = []
        for one in step.steps if isinstance(step, Group) else (step,):
            try:
                answers.append(execute(cursor, one))
            except (apsw.Error, *REFUSED_VALUES) as error:
                program.close()
                raise translate(error, path, one.name) from error
        steps.answer = answers if isinstance(step, Group) else answers[0]
    return steps.value
