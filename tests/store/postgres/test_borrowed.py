"""Programs on the caller's connection live and die with the caller's transaction."""

import sqlite3  # a connection that must be refused
from contextlib import closing

import psycopg
import pytest
from psycopg.rows import dict_row

from duly.core.errors import StoreError, ValidationFailed
from duly.store.sql import SqlStore
from tests.store.postgres.making import ask, new_request, new_schedule


async def test_what_is_rolled_back_was_never_there(store: SqlStore, fresh_postgres: str):
    with psycopg.connect(fresh_postgres) as connection:
        await store.enqueue([new_request()], connection=connection)
        await store.put_schedules([new_schedule("a")], connection=connection)
        assert connection.execute("SELECT count(*) FROM duly_runs").fetchone() == (1,)
        assert ask(fresh_postgres, "SELECT count(*) FROM duly_runs") == [0]
        connection.rollback()
    assert ask(fresh_postgres, "SELECT count(*) FROM duly_runs") == [0]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly_schedules") == [0]


async def test_what_the_caller_commits_is_there(store: SqlStore, fresh_postgres: str):
    request = new_request()
    async with await psycopg.AsyncConnection.connect(fresh_postgres) as connection:
        (run,) = await store.enqueue([request], connection=connection)
        assert run.id == request.id
        await connection.commit()
    assert await store.get_run(request.id) is not None


async def test_a_transaction_block_on_an_autocommit_connection_will_do(store: SqlStore, fresh_postgres: str):
    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        with connection.transaction():
            await store.enqueue([new_request()], connection=connection)
        with pytest.raises(ValidationFailed, match="autocommit mode and outside of a transaction"):
            await store.enqueue([new_request()], connection=connection)
    assert ask(fresh_postgres, "SELECT count(*) FROM duly_runs") == [1]


@pytest.mark.parametrize("factory", [psycopg.Cursor, psycopg.ClientCursor, psycopg.RawCursor])
async def test_the_callers_rows_and_cursors_do_not_matter(store: SqlStore, fresh_postgres: str, factory: type):
    with psycopg.connect(fresh_postgres, row_factory=dict_row, cursor_factory=factory) as connection:
        await store.enqueue([new_request()], connection=connection)
        assert connection.execute("SELECT count(*) AS n FROM duly_runs").fetchone() == {"n": 1}


async def test_another_kind_of_connection_is_refused_by_name(store: SqlStore):
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(ValidationFailed, match=r"sqlite3\.Connection; expected a psycopg 3 Connection"),
    ):
        await store.enqueue([new_request()], connection=connection)


async def test_a_failure_is_ours_and_the_transaction_stays_the_callers(store: SqlStore, fresh_postgres: str):
    with psycopg.connect(fresh_postgres) as connection:
        connection.execute("CREATE TEMP TABLE mine (id int)")
        with pytest.raises(StoreError, match="on the caller's connection"):
            await store.enqueue([new_request(priority=2**40)], connection=connection)
        connection.rollback()
        connection.execute("SELECT 1")
