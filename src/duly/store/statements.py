"""What a program yields: named statements, run once or for many rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]


@dataclass(slots=True)
class Query:
    """Run a statement once and answer its rows.

    A parameter whose value is a list is a set of values: PostgreSQL gets an array, SQLite a JSON array.
    """

    name: str
    params: Mapping[str, Any]


@dataclass(slots=True)
class Batch:
    """Run a statement for every row of the columns and answer all rows it returns, in no promised order.

    ``params`` are the same for every row. PostgreSQL gets one statement with an array per column, SQLite one prepared
    statement bound row by row.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    params: Mapping[str, Any]


@dataclass(slots=True)
class Group:
    """Run several statements that do not need each other's rows, in this order; PostgreSQL gets all in one round trip.

    Each sees what was committed when it began: one that follows a lock sees all that was done under it before. With
    ``last`` the program asks for nothing afterwards, and the driver may commit in the same round trip.
    """

    steps: Sequence[Query | Batch]
    last: bool = False


Step = Query | Batch | Group
Program = Generator[Step, Any, T]
"""A transaction as a generator. It is sent the rows of what it yields; for a group, a list of rows per statement."""
Transaction = Callable[[int], Program[T]]


class Steps(Generic[T]):
    """A program taken step by step, by whoever answers it or passes it on; in the end its ``value`` is there.

    ::

        for step in (steps := Steps(program)):
            steps.answer = rows_of(step)
        return steps.value
    """

    __slots__ = ("_program", "answer", "value")
    value: T

    def __init__(self, program: Program[T]) -> None:
        self._program = program
        self.answer: Any = None

    def __iter__(self) -> Steps[T]:
        return self

    def __next__(self) -> Step:
        try:
            return self._program.send(self.answer)
        except StopIteration as end:
            self.value = end.value
            raise


def query(name: str, /, **params: Any) -> Query:
    return Query(name, params)


def batch(name: str, columns: Mapping[str, Sequence[Any]], /, **params: Any) -> Batch:
    return Batch(name, columns, params)


def group(*steps: Query | Batch, last: bool = False) -> Group:
    return Group(steps, last)


def columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Turn rows into named columns; no rows give empty columns."""
    turned = list(zip(*rows, strict=True))
    return dict(zip(names, turned or [()] * len(names), strict=True))
