"""Run a program on a cursor: ask what it yields, send it the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncCursor, Cursor
from psycopg.pq import ExecStatus

from duly.store.postgres.arrays import encode, encode_column, encode_spread
from duly.store.postgres.texts import Statement
from duly.store.statements import Batch, Program, Query, Row, T

Statements = Mapping[str, Statement]
Asked = tuple[bytes, dict[str, str | None], bool | None] | None


def run_program(cursor: Cursor[Row], statements: Statements, program: Program[T]) -> T:
    """Run a program to its end inside the transaction that is open."""
    try:
        step = next(program)
        while True:
            asked = _ask(statements, step)
            rows: list[Row] = []
            if asked is not None:
                text, parameters, prepare = asked
                cursor.execute(text, parameters, prepare=prepare)
                if _has_rows(cursor):
                    rows = cursor.fetchall()
            step = program.send(rows)
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]  # a generator's return value


async def run_program_async(cursor: AsyncCursor[Row], statements: Statements, program: Program[T]) -> T:
    """The same on an async cursor."""
    try:
        step = next(program)
        while True:
            asked = _ask(statements, step)
            rows: list[Row] = []
            if asked is not None:
                text, parameters, prepare = asked
                await cursor.execute(text, parameters, prepare=prepare)
                if _has_rows(cursor):
                    rows = await cursor.fetchall()
            step = program.send(rows)
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]  # a generator's return value


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
