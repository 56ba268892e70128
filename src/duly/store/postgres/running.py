"""Run a program: ask what it yields, send it the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import AsyncCursor, Cursor
from psycopg.pq import ExecStatus

from duly.store.postgres.arrays import encode, encode_column, encode_spread
from duly.store.postgres.texts import Statement
from duly.store.postgres.wire import Ask, Wire
from duly.store.statements import Batch, Group, Program, Query, Row, T

Statements = Mapping[str, Statement]
Parameters = dict[str, str | None]


def run_program(wire: Wire, statements: Statements, program: Program[T]) -> T:
    """Run a program to its end inside the transaction that is open."""
    answer: Any = None
    while True:
        try:
            step = program.send(answer)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]  # a generator's return value
        if isinstance(step, Group):
            asks = [_ask(statements, one) for one in step.steps]
            rows = iter(wire.ask_all([ask for ask in asks if ask is not None]))
            answer = [[] if ask is None else next(rows) for ask in asks]
        else:
            ask = _ask(statements, step)
            answer = [] if ask is None else wire.ask(ask)


def run_borrowed(cursor: Cursor[Row], statements: Statements, program: Program[T]) -> T:
    """The same on a cursor of a connection that is not ours; statements of a group go one by one."""
    answer: Any = None
    while True:
        try:
            step = program.send(answer)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]  # a generator's return value
        if isinstance(step, Group):
            answer = [_run(cursor, statements, one) for one in step.steps]
        else:
            answer = _run(cursor, statements, step)


async def run_borrowed_async(cursor: AsyncCursor[Row], statements: Statements, program: Program[T]) -> T:
    """The same on an async cursor."""
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


def _run(cursor: Cursor[Row], statements: Statements, step: Query | Batch) -> list[Row]:
    statement = statements[step.name]
    parameters = _encoded(statement, step)
    if parameters is None:
        return []
    cursor.execute(statement.text, parameters, prepare=_prepare(statement))
    return cursor.fetchall() if _has_rows(cursor) else []


async def _run_async(cursor: AsyncCursor[Row], statements: Statements, step: Query | Batch) -> list[Row]:
    statement = statements[step.name]
    parameters = _encoded(statement, step)
    if parameters is None:
        return []
    await cursor.execute(statement.text, parameters, prepare=_prepare(statement))
    return await cursor.fetchall() if _has_rows(cursor) else []


def _ask(statements: Statements, step: Query | Batch) -> Ask | None:
    statement = statements[step.name]
    parameters = _encoded(statement, step)
    if parameters is None:
        return None
    texts = [parameters[name] for name in statement.names]
    return statement, [None if text is None else text.encode() for text in texts]


def _encoded(statement: Statement, step: Query | Batch) -> Parameters | None:
    """The parameters of a step, or None when a batch has no rows and nothing is to be asked."""
    parameters: Parameters = {name: encode(value) for name, value in step.params.items()}
    if isinstance(step, Batch):
        for name, column in step.columns.items():
            if not column:
                return None
            parameters[name] = encode_spread(column) if name in statement.spread else encode_column(column)
    return parameters


def _prepare(statement: Statement) -> bool | None:
    """As psycopg wants it: None lets it count, False is never."""
    return None if statement.prepare else False


def _has_rows(cursor: Cursor[Any] | AsyncCursor[Any]) -> bool:
    result = cursor.pgresult
    return result is not None and result.status == ExecStatus.TUPLES_OK
