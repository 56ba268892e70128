"""Run a program on a cursor: ask what it yields, send it the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncCursor, Connection, Cursor
from psycopg.pq import ExecStatus
from psycopg.rows import tuple_row

from duly.store.postgres.arrays import encode, encode_column, encode_spread
from duly.store.postgres.texts import Statement
from duly.store.statements import Batch, Group, Program, Query, Row, T

Statements = Mapping[str, Statement]
Asked = tuple[bytes, dict[str, str | None], bool | None] | None


def run_program(cursor: Cursor[Row], statements: Statements, program: Program[T]) -> T:
    """Run a program to its end inside the transaction that is open."""
    answer: Any = None
    while True:
        try:
            step = program.send(answer)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]  # a generator's return value
        if isinstance(step, Group):
            answer = _run_group(cursor.connection, statements, step)
        else:
            asked = _ask(statements, step)
            answer = [] if asked is None else _rows(cursor.execute(asked[0], asked[1], prepare=asked[2]))


def _run_group(connection: Connection[Any], statements: Statements, group: Group) -> list[list[Row]]:
    """Send all statements before the first answer is read: one wait instead of one for each."""
    cursors: list[Cursor[Row] | None] = []
    with connection.pipeline():
        for step in group.steps:
            asked = _ask(statements, step)
            cursor = None if asked is None else Cursor(connection, row_factory=tuple_row)
            if cursor is not None and asked is not None:
                cursor.execute(asked[0], asked[1], prepare=asked[2])
            cursors.append(cursor)
    return [[] if cursor is None else _rows(cursor) for cursor in cursors]


async def run_program_async(cursor: AsyncCursor[Row], statements: Statements, program: Program[T]) -> T:
    """The same on an async cursor; statements of a group go one by one."""
    answer: Any = None
    while True:
        try:
            step = program.send(answer)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]  # a generator's return value
        if isinstance(step, Group):
            answer = [await _run_async(cursor, statements, one) for one in step.steps]
        else:
            answer = await _run_async(cursor, statements, step)


async def _run_async(cursor: AsyncCursor[Row], statements: Statements, step: Query | Batch) -> list[Row]:
    asked = _ask(statements, step)
    if asked is None:
        return []
    await cursor.execute(asked[0], asked[1], prepare=asked[2])
    return await cursor.fetchall() if _has_rows(cursor) else []


def _rows(cursor: Cursor[Row]) -> list[Row]:
    return cursor.fetchall() if _has_rows(cursor) else []


def _ask(statements: Statements, step: Query | Batch) -> Asked:
    """What to send for a step, or None when a batch has no rows and nothing is to be asked."""
    statement = statements[step.name]
    parameters = {name: encode(value) for name, value in step.params.items()}
    if isinstance(step, Batch):
        for name, column in step.columns.items():
            if not column:
                return None
            parameters[name] = encode_spread(column) if name in statement.spread else encode_column(column)
    return statement.text, parameters, None if statement.prepare else False


def _has_rows(cursor: Cursor[Any] | AsyncCursor[Any]) -> bool:
    result = cursor.pgresult
    return result is not None and result.status == ExecStatus.TUPLES_OK
