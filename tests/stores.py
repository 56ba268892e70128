"""Every store we have, opened for tests: on a manual clock, with a back door to its rows."""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from duly.runtime.clock import Clock
from duly.store.driver import Driver
from duly.store.postgres import postgres_store
from duly.store.protocol import Store
from duly.store.sql import SqlStore
from duly.store.sqlite import open_store
from duly.store.statements import Group, Step, Transaction
from duly.testing import ManualClock
from tests.contract.suite import TABLES, Crash, Dump, sorted_rows
from tests.databases import fresh_database, in_duly, ready_file, with_database
from tests.differential.model import Model
from tests.store.postgres.making import PATIENT

KINDS = (
    "model",
    "sqlite-memory",
    pytest.param("sqlite-file", marks=pytest.mark.slow),  # a fast run has it in memory
    *(pytest.param(kind, marks=pytest.mark.server) for kind in ("postgres", "postgres-wheel", "pgbouncer")),
)
"""The stores; behind PgBouncer is the newer PostgreSQL of the wheel, so that both versions and both ways are tried."""
UNREADABLE = '{"timing":{"kind":"lunar"}}'

Select = Callable[[str, Sequence[str]], list[Any]]
"""Reads the columns of a table, all rows."""

Opener = Callable[[Clock], Awaitable[SqlStore]]


class Subject:
    """A store under test and the back door to it; see ``tests.contract.suite.Access``."""

    def __init__(self, store: SqlStore, select: Select, execute: Callable[[str], object], opener: Opener) -> None:
        self.store: Store = store
        self._driver = store.driver
        self._select = select
        self._execute = execute
        self._opener = opener
        self._others: list[SqlStore] = []
        self._clock: ManualClock | None = None

    async def another(self, clock: ManualClock | None = None) -> Store:
        other = await self._opener(clock or self.clock)
        self._others.append(other)
        return other

    @property
    def clock(self) -> ManualClock:
        assert self._clock is not None
        return self._clock

    @clock.setter
    def clock(self, clock: ManualClock) -> None:
        self._clock = clock

    async def dump(self) -> Dump:
        return {table: sorted_rows(self._select(f"duly_{table}", columns)) for table, columns in TABLES.items()}

    async def damage(self, schedule_id: str) -> None:
        self._execute(f"UPDATE duly_revisions SET body = '{UNREADABLE}' WHERE schedule_id = '{schedule_id}'")

    async def rewind(self, schedule_id: str, window_at: int) -> None:
        self._execute(
            f"UPDATE duly_cursors SET window_at = NULL, next_window_at = {window_at}, fire_at = {window_at}"
            f" WHERE schedule_id = '{schedule_id}'"
        )

    async def stop_firing(self, at: int | None) -> None:
        self._execute(f"UPDATE duly_meta SET firing_paused_at = {'NULL' if at is None else at}")

    async def crash_after(self, statements: int, call: Callable[[Store], Awaitable[Any]]) -> bool:
        try:
            await call(SqlStore(CutOff(self._driver, statements)))
        except Crash:
            return True
        return False

    async def close(self) -> None:
        for store in self._others:
            await store.close()


class ModelSubject:
    """The model is its own back door."""

    def __init__(self, model: Model) -> None:
        self.store: Store = model
        self._model = model

    async def another(self, clock: ManualClock | None = None) -> Store:
        other = copy.copy(self._model)
        if clock is not None:
            other._clock = clock
        return other

    async def dump(self) -> Dump:
        return self._model.dump()

    async def damage(self, schedule_id: str) -> None:
        pytest.skip("the model has no text that could be damaged")

    async def rewind(self, schedule_id: str, window_at: int) -> None:
        cursor = self._model.cursors[schedule_id]
        self._model.cursors[schedule_id] = replace(cursor, window_at=None, next_window_at=window_at, fire_at=window_at)

    async def stop_firing(self, at: int | None) -> None:
        self._model.meta["paused_at"] = at

    async def crash_after(self, statements: int, call: Callable[[Store], Awaitable[Any]]) -> bool:
        pytest.skip("the model has no transactions that could be cut off")

    async def close(self) -> None: ...


class Bent:
    """A driver that bends the transactions of another."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.name = driver.name

    def bend(self, transaction: Transaction[Any]) -> Transaction[Any]:
        raise NotImplementedError

    async def write(self, transaction: Transaction[Any], **options: Any) -> Any:
        return await self._driver.write(self.bend(transaction), **options)

    async def read(self, transaction: Transaction[Any], **options: Any) -> Any:
        return await self._driver.read(self.bend(transaction), **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)


class CutOff(Bent):
    """Cuts every transaction off after so many statements."""

    def __init__(self, driver: Driver, statements: int) -> None:
        super().__init__(driver)
        self._statements = statements

    def bend(self, transaction: Transaction[Any]) -> Transaction[Any]:
        return lambda now: self._cut_off(transaction, now)

    def _cut_off(self, transaction: Transaction[Any], now: int) -> Generator[Step, Any, Any]:
        rows: Any = None
        program, done = transaction(now), 0
        while True:
            try:
                statement = program.send(rows)
            except StopIteration as end:
                if done == self._statements:
                    raise Crash from None
                return end.value
            if done == self._statements:
                program.close()
                raise Crash
            if isinstance(statement, Group):
                rows = []
                for one in statement.steps:
                    if done == self._statements:
                        program.close()
                        raise Crash
                    rows.append((yield one))
                    done += 1
            else:
                rows = yield statement
                done += 1


class OnClock(Bent):
    """Another instance on the same connection, with a clock of its own."""

    def __init__(self, driver: Driver, clock: Clock) -> None:
        super().__init__(driver)
        self._clock = clock

    def bend(self, transaction: Transaction[Any]) -> Transaction[Any]:
        return lambda now: transaction(self._clock.now())

    async def close(self) -> None: ...


def select_sql(table: str, columns: Sequence[str]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"


@asynccontextmanager
async def model_subject(clock: ManualClock) -> AsyncIterator[ModelSubject]:
    yield ModelSubject(Model(clock))


@asynccontextmanager
async def memory_subject(clock: ManualClock) -> AsyncIterator[Subject]:
    """SQLite in memory, inline: one connection, which its back door shares."""
    store = open_store(":memory:", clock=clock, inline=True)
    await store.open()
    connection = store.driver._inline._connection  # type: ignore[attr-defined]  # there is no other way into it

    async def opener(clock: Clock) -> SqlStore:
        return SqlStore(OnClock(store.driver, clock))

    async with _subject(store, clock, _apsw_select(connection), connection.execute, opener) as subject:
        yield subject


@asynccontextmanager
async def file_subject(clock: ManualClock, path: Path) -> AsyncIterator[Subject]:
    """SQLite in a file, with its threads; other stores are other connections to the file."""

    async def opener(clock: Clock) -> SqlStore:
        store = open_store(path, clock=clock, busy_timeout=60, time_limit=90)
        await store.open()
        return store

    store = await opener(clock)
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(60_000)
    try:
        async with _subject(store, clock, _apsw_select(connection), connection.execute, opener) as subject:
            yield subject
    finally:
        connection.close()


@asynccontextmanager
async def postgres_subject(clock: ManualClock, database: "PostgresDatabase") -> AsyncIterator[Subject]:
    """PostgreSQL on the test's clock instead of the server's; other stores are other pools of connections."""

    async def opener(clock: Clock) -> SqlStore:
        store = postgres_store(database.url, clock=clock, limits=PATIENT)
        await store.open()
        return store

    store = await opener(clock)
    try:
        async with _subject(store, clock, database.select, database.execute, opener) as subject:
            yield subject
    finally:
        database.wipe()


@asynccontextmanager
async def _subject(
    store: SqlStore, clock: ManualClock, select: Select, execute: Callable[[str], object], opener: Opener
) -> AsyncIterator[Subject]:
    subject = Subject(store, select, execute, opener)
    subject.clock = clock
    try:
        yield subject
    finally:
        await subject.close()
        await store.close()


def _apsw_select(connection: apsw.Connection) -> Select:
    return lambda table, columns: list(connection.execute(select_sql(table, columns)))


class PostgresDatabase:
    """A database that many tests use one after another, and a direct connection to it."""

    def __init__(self, url: str, connection: psycopg.Connection[Any]) -> None:
        self.url = url
        self._connection = connection

    def select(self, table: str, columns: Sequence[str]) -> list[Any]:
        return self._connection.execute(in_duly(select_sql(table, columns)).encode()).fetchall()

    def execute(self, statement: str) -> None:
        self._connection.execute(in_duly(statement).encode())

    def wipe(self) -> None:
        """Make it empty again, in one round trip."""
        emptied = "; ".join(f"DELETE FROM duly_{table}" for table in (*TABLES, "events"))
        self.execute(
            f"{emptied}; UPDATE duly_watch SET since = 0, until = 0, settled = true, last = 0, gone = 0, wanted = '[]';"
            " UPDATE duly_meta SET firing_paused_at = NULL, firing_paused_by = NULL, firing_pause_reason = NULL,"
            " restored_at = NULL, epoch = 1, ticks = 0, purged_before = NULL"
        )


@contextmanager
def postgres_database(server_url: str, pooler_url: str | None = None) -> Iterator[PostgresDatabase]:
    """A new database of a server, reached directly or through a pooler in front of it."""
    with fresh_database(server_url) as url, psycopg.connect(url, autocommit=True) as connection:
        through = url if pooler_url is None else with_database(pooler_url, url.rpartition("/")[2])
        yield PostgresDatabase(through, connection)


def open_subject(
    kind: str, clock: ManualClock, request: pytest.FixtureRequest
) -> AbstractAsyncContextManager[Subject | ModelSubject]:
    """A fresh store of a kind; tests of an absent server are skipped and counted."""
    match kind:
        case "model":
            return model_subject(clock)
        case "sqlite-memory":
            return memory_subject(clock)
        case "sqlite-file":
            return file_subject(clock, ready_file(request.getfixturevalue("tmp_path")))
        case _:
            name = {"postgres": "system_database", "postgres-wheel": "wheel_database", "pgbouncer": "pooled_database"}
            return postgres_subject(clock, request.getfixturevalue(name[kind]))


@pytest.fixture(scope="session")
def system_database(postgres_url: str) -> Iterator[PostgresDatabase]:
    with postgres_database(postgres_url) as database:
        yield database


@pytest.fixture(scope="session")
def wheel_database(postgres_wheel_url: str) -> Iterator[PostgresDatabase]:
    with postgres_database(postgres_wheel_url) as database:
        yield database


@pytest.fixture(scope="session")
def pooled_database(postgres_wheel_url: str, pgbouncer_wheel_url: str) -> Iterator[PostgresDatabase]:
    with postgres_database(postgres_wheel_url, pgbouncer_wheel_url) as database:
        yield database
