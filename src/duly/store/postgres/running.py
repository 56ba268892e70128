"""Run a program: ask what it yields, send it the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from psycopg import AsyncCursor, Cursor
from psycopg.pq import ExecStatus

from duly.store.postgres.arrays import encode, encode_column, encode_joined, encode_single, encode_spread
from duly.store.postgres.texts import Statement
from duly.store.postgres.wire import Ask
from duly.store.statements import Batch, Group, Program, Query, Row, Steps, T

Statements = Mapping[str, Statement]


class Asked(Protocol):
    """A connection that answers statements: ours by libpq, the caller's by its cursor."""

    def ask(self, ask: Ask) -> list[Row]: ...

    def ask_all(self, asks: Sequence[Ask], *, last: bool) -> list[list[Row]]:
        """Ask all; ``last`` tells that nothing is asked afterwards."""
        ...


def run_program(asked: Asked, statements: Statements, program: Program[T]) -> T:
    """Run a program to its end inside the transaction that is open."""
    for step in (steps := Steps(program)):
        if isinstance(step, Group):
            asks = [_ask(statements, one) for one in step.steps]
            rows = iter(asked.ask_all([ask for ask in asks if ask is not None], last=step.last))
            steps.answer = [[] if ask is None else next(rows) for ask in asks]
        else:
            ask = _ask(statements, step)
            steps.answer = [] if ask is None else asked.ask(ask)
    return steps.value


async def run_program_async(cursor: AsyncCursor[Row], statements: Statements, program: Program[T]) -> T:
    """The same on an async cursor; statements of a group go one by one."""
    for step in (steps := Steps(program)):
        if isinstance(step, Group):
            steps.answer = [await _run_async(cursor, statements, one) for one in step.steps]
        else:
            steps.answer = await _run_async(cursor, statements, step)
    return steps.value


class AskedByCursor:
    """Statements on a cursor, one by one."""

    def __init__(self, cursor: Cursor[Row]) -> None:
        self._cursor = cursor

    def ask(self, ask: Ask) -> list[Row]:
        text, parameters, prepare = _for_cursor(ask)
        self._cursor.execute(text, parameters, prepare=prepare)
        return self._cursor.fetchall() if _has_rows(self._cursor) else []

    def ask_all(self, asks: Sequence[Ask], *, last: bool) -> list[list[Row]]:
        return [self.ask(ask) for ask in asks]


async def _run_async(cursor: AsyncCursor[Row], statements: Statements, step: Query | Batch) -> list[Row]:
    ask = _ask(statements, step)
    if ask is None:
        return []
    text, parameters, prepare = _for_cursor(ask)
    await cursor.execute(text, parameters, prepare=prepare)
    return await cursor.fetchall() if _has_rows(cursor) else []


def _ask(statements: Statements, step: Query | Batch) -> Ask | None:
    """What to send for a step, or None when a batch has no rows and nothing is to be asked."""
    statement, params = statements[step.name], step.params
    if not isinstance(step, Batch):
        return statement, [encode(params[name]) for name in statement.names]
    columns = step.columns
    rows = len(next(iter(columns.values())))
    if rows == 0:
        return None
    if rows == 1 and statement.one is not None:
        one = statement.one
        return one, [encode_single(columns[name][0]) if name in columns else encode(params[name]) for name in one.names]
    return statement, [
        _encoder(statement, name)(columns[name]) if name in columns else encode(params[name])
        for name in statement.names
    ]


def _encoder(statement: Statement, column: str) -> Callable[[Sequence[Any]], str]:
    if column in statement.spread:
        return encode_spread
    return encode_joined if column in statement.joined else encode_column


def _for_cursor(ask: Ask) -> tuple[bytes, dict[str, str | None], bool | None]:
    """The same as psycopg wants it; to prepare or not is left to it, except where the parameters decide the plan."""
    statement, texts = ask
    return statement.text, dict(zip(statement.names, texts, strict=True)), None if statement.prepare else False


def _has_rows(cursor: Cursor[Any] | AsyncCursor[Any]) -> bool:
    result = cursor.pgresult
    return result is not None and result.status == ExecStatus.TUPLES_OK
