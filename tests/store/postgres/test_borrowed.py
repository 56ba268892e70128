"""Programs on the caller's connection live and die with the caller's transaction."""

import sqlite3  # a connection that must be refused
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import IsolationLevel
from psycopg.rows import dict_row

from duly.core.errors import StoreError, ValidationFailed
from duly.core.lane import Singleton, Unique
from duly.core.policy import Overlap
from duly.core.rules.editing import cancel
from duly.store.sql import SqlStore
from tests.store.postgres.making import (
    RULES,
    ask,
    claim_all,
    completed,
    new_id,
    new_request,
    new_schedule,
    open_session,
    put,
)


async def test_what_is_rolled_back_was_never_there(store: SqlStore, fresh_postgres: str):
    with psycopg.connect(fresh_postgres) as connection:
        await store.enqueue([new_request()], connection=connection)
        await store.put_schedules([new_schedule("a")], connection=connection)
        assert connection.execute("SELECT count(*) FROM duly.duly_runs").fetchone() == (1,)
        assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]
        connection.rollback()
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_schedules") == [0]


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
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [1]


@pytest.mark.parametrize("factory", [psycopg.Cursor, psycopg.ClientCursor, psycopg.RawCursor])
async def test_the_callers_rows_and_cursors_do_not_matter(store: SqlStore, fresh_postgres: str, factory: type):
    with psycopg.connect(fresh_postgres, row_factory=dict_row, cursor_factory=factory) as connection:
        await store.enqueue([new_request()], connection=connection)
        assert connection.execute("SELECT count(*) AS n FROM duly.duly_runs").fetchone() == {"n": 1}


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


FIXED = [IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE]
"""Levels at which a transaction looks at one moment all along."""


@contextmanager
def looking_back(url: str, level: IsolationLevel) -> Iterator[psycopg.Connection]:
    """A transaction of the caller's that goes on seeing the store as it is now."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = level
        connection.execute("SELECT count(*) FROM duly.duly_runs")
        yield connection
        connection.rollback()


@pytest.mark.parametrize("before", [True, False], ids=["open-then", "not-there-then"])
@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
async def test_a_run_that_has_ended_since_the_transaction_looked_is_not_made_again(
    store: SqlStore, fresh_postgres: str, level: IsolationLevel, before: bool
):
    request, session = new_request(), await open_session(store)
    if before:
        await store.enqueue([request])
    with looking_back(fresh_postgres, level) as connection:
        await store.enqueue([request])
        (claim,) = await claim_all(store, session)
        await store.settle([completed(claim, session)])
        with pytest.raises(
            StoreError, match=r"did not do it: .* \[40001\]; roll your transaction back and try"
        ) as told:
            await store.enqueue([new_request(), request], connection=connection)
        assert told.value.details["sqlstate"] == "40001"
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]
    assert ask(fresh_postgres, "SELECT status FROM duly.duly_history") == ["completed"]


@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
async def test_what_is_new_is_stored_at_every_level(store: SqlStore, fresh_postgres: str, level: IsolationLevel):
    with looking_back(fresh_postgres, level) as connection:
        made = await store.enqueue([new_request(), new_request()], connection=connection)
        connection.commit()
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [len(made)]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_history") == [0], "nothing is left of the look"


@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
async def test_nothing_is_decided_without_a_run_that_was_made_since_the_transaction_looked(
    store: SqlStore, fresh_postgres: str, level: IsolationLevel
):
    await put(store, "a")
    by_hand: dict[str, Any] = {"payload": None, "force": False, "rules": RULES}
    with looking_back(fresh_postgres, level) as first, looking_back(fresh_postgres, level) as second:
        await store.trigger("a", run_id=new_id(), **by_hand)
        with pytest.raises(StoreError, match=r"\[40001\]"):
            await store.trigger("a", run_id=new_id(), **by_hand, connection=first)
        with pytest.raises(StoreError, match=r"\[40001\]"):
            await store.change_schedule("a", lambda found, now: cancel(found, now, None), connection=second)


@pytest.mark.parametrize("claimed_before", [True, False], ids=["running-then", "waiting-then"])
@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
@pytest.mark.parametrize(
    "words", [{"singleton": Singleton(key="k")}, {"unique": Unique(key="k", for_ms=0)}], ids=["singleton", "unique"]
)
async def test_nobody_waits_for_the_end_of_a_run_that_has_ended_since_the_transaction_looked(
    store: SqlStore, fresh_postgres: str, level: IsolationLevel, claimed_before: bool, words: dict[str, Any]
):
    session = await open_session(store)
    await store.enqueue([new_request(**words)])
    claims = await claim_all(store, session) if claimed_before else ()
    with looking_back(fresh_postgres, level) as connection:
        (claim,) = claims or await claim_all(store, session)
        await store.settle([completed(claim, session)])
        with pytest.raises(StoreError, match=r"\[40001\]"):
            await store.enqueue([new_request(**words)], connection=connection)
    with looking_back(fresh_postgres, level) as connection:
        (run,) = await store.enqueue([new_request(**words)], connection=connection)
        connection.commit()
    assert [claim.id for claim in await claim_all(store, session)] == [run.id]


@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
async def test_who_waits_for_a_run_in_such_a_transaction_goes_when_that_ends(
    store: SqlStore, fresh_postgres: str, level: IsolationLevel
):
    session = await open_session(store)
    await store.enqueue([new_request(singleton=Singleton(key="k"))])
    (claim,) = await claim_all(store, session)
    with looking_back(fresh_postgres, level) as connection:
        (run,) = await store.enqueue([new_request(singleton=Singleton(key="k"))], connection=connection)
        connection.commit()
    assert await claim_all(store, session) == []
    await store.settle([completed(claim, session)])
    assert [claim.id for claim in await claim_all(store, session)] == [run.id]


@pytest.mark.parametrize("overlap", [Overlap.QUEUE, Overlap.SKIP], ids=lambda overlap: overlap.value)
@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
async def test_a_trigger_is_not_put_off_by_a_run_that_has_ended_since_the_transaction_looked(
    store: SqlStore, fresh_postgres: str, level: IsolationLevel, overlap: Overlap
):
    session, new = await open_session(store), new_schedule("a")
    new.definition.overlap = overlap
    await store.put_schedules([new])
    by_hand: dict[str, Any] = {"payload": None, "force": False, "rules": RULES}
    await store.trigger("a", run_id=new_id(), **by_hand)
    (claim,) = await claim_all(store, session)
    with looking_back(fresh_postgres, level) as connection:
        await store.settle([completed(claim, session)])
        with pytest.raises(StoreError, match=r"\[40001\]"):
            await store.trigger("a", run_id=new_id(), **by_hand, connection=connection)


@pytest.mark.parametrize("level", FIXED, ids=lambda level: level.name)
async def test_a_signal_beside_one_that_was_sent_since_the_transaction_looked_is_to_be_tried_again(
    store: SqlStore, fresh_postgres: str, level: IsolationLevel
):
    request = replace(new_request(), job="workflow:flow")
    await store.enqueue([request])
    with looking_back(fresh_postgres, level) as connection:
        await store.signal_run(request.id, "first", "1")
        with pytest.raises(StoreError, match=r"\[40001\]; roll your transaction back and try"):
            await store.signal_run(request.id, "second", "2", connection=connection)
    assert await store.signal_run(request.id, "second", "2")
    assert [message.name for message in (await store.read_journal(request.id)).messages] == ["first", "second"]
