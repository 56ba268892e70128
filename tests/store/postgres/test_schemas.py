"""Stores in schemas of their own: side by side in one database, whatever the search_path says."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from duly.store.postgres import postgres_store
from duly.store.postgres.arrays import encode_array
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.hinting import channel_of
from duly.store.postgres.limits import Limits
from duly.store.postgres.migrating import lock_of, prepare_schema
from duly.store.postgres.texts import as_statement, load_queries, load_transactions
from duly.store.sql import SqlStore
from tests.counting import at_least
from tests.store.postgres.decoys import create_decoys
from tests.store.postgres.making import (
    PATIENT,
    RULES,
    SetClock,
    ask,
    claim_all,
    completed,
    new_request,
    new_schedule,
    open_session,
    put,
)

HOUR = 3_600_000
LONG = "a" * 62
HOSTILE = "SET search_path = decoy, public"
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
COUNTED = "SELECT (SELECT count(*) FROM {0}.duly_schedules), (SELECT count(*) FROM {0}.duly_runs)"


def in_schema(url: str, schema: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}schema={schema}"


def counted(url: str, schema: str) -> tuple[int, int]:
    """How many schedules and open runs are in a schema."""
    with psycopg.connect(url) as connection:
        row = connection.execute(COUNTED.format(schema).encode()).fetchone()
        assert row is not None
        return row


@asynccontextmanager
async def opened(url: str, clock: SetClock, **options: Any) -> AsyncIterator[SqlStore]:
    store = postgres_store(url, clock=clock, limits=PATIENT, **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def two(fresh_postgres: str, clock: SetClock) -> AsyncIterator[tuple[SqlStore, SqlStore]]:
    """Stores in the schemas duly and jobs of one database."""
    async with (
        opened(fresh_postgres, clock) as first,
        opened(in_schema(fresh_postgres, "jobs"), clock) as second,
    ):
        yield first, second


@pytest.fixture
def decoys(fresh_postgres: str, two: tuple[SqlStore, SqlStore]) -> str:
    """The same database with a schema of decoys, for a connection whose search_path meets them."""
    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        create_decoys(connection, "decoy", (statement.numbered.decode() for statement in load_queries().values()))
    return fresh_postgres


async def test_two_stores_in_one_database_see_nothing_of_each_other(
    two: tuple[SqlStore, SqlStore], clock: SetClock, fresh_postgres: str
):
    first, second = two
    here, there = await open_session(first), await open_session(second)
    await put(first, "same", client_request_id="r1")
    await put(second, "same", client_request_id="r1")
    await put(second, "other")
    clock.at += HOUR
    fired = await asyncio.gather(*(store.fire_due(limit=10, rules=RULES) for store in two))
    assert [one.runs for one in fired] == [1, 2]
    claims = [await claim_all(first, here), await claim_all(second, there)]
    assert [len(found) for found in claims] == [1, 2]
    await first.settle([completed(claim, here) for claim in claims[0]])
    assert counted(fresh_postgres, "duly") == (1, 0)
    assert counted(fresh_postgres, "jobs") == (2, 2)
    ids = "SELECT store_id FROM duly.duly_meta UNION SELECT store_id FROM jobs.duly_meta"
    assert len(ask(fresh_postgres, ids)) == 2


@pytest.mark.parametrize("name", ["user", "select", "public", "_", LONG + "b"])
async def test_any_identifier_is_a_schema(fresh_postgres: str, clock: SetClock, name: str):
    async with opened(in_schema(fresh_postgres, name), clock) as store:
        await put(store, "a")
    assert counted(fresh_postgres, f'"{name}"') == (1, 0)


async def test_a_store_moves_with_its_schema(fresh_postgres: str, clock: SetClock):
    async with opened(fresh_postgres, clock) as store:
        await put(store, "a")
    with psycopg.connect(fresh_postgres) as connection:
        connection.execute("ALTER SCHEMA duly RENAME TO shop_jobs")
    async with opened(in_schema(fresh_postgres, "shop_jobs"), clock) as store:
        session = await open_session(store)
        clock.at += HOUR
        assert (await store.fire_due(limit=10, rules=RULES)).runs == 1
        (claim,) = await claim_all(store, session)
        assert (await store.settle([completed(claim, session)])).ended


@pytest.mark.parametrize("ending", ["commit", "rollback"])
@pytest.mark.parametrize(
    "path", [HOSTILE, "SET search_path = ''", "SET search_path = jobs, duly", "SET search_path = duly"]
)
async def test_one_transaction_of_a_caller_writes_to_both_whatever_its_search_path(
    two: tuple[SqlStore, SqlStore], decoys: str, path: str, ending: str
):
    with psycopg.connect(decoys) as connection:
        connection.execute(path.encode())
        for store, many in zip(two, (1, 2), strict=True):
            await write_on(store, connection, many)
        assert connection.execute("SHOW search_path").fetchall() == [(path.partition(" = ")[2].replace("''", '""'),)]
        getattr(connection, ending)()
    assert counted(decoys, "duly") == ((1, 1) if ending == "commit" else (0, 0))
    assert counted(decoys, "jobs") == ((2, 2) if ending == "commit" else (0, 0))
    assert counted(decoys, "decoy") == (0, 0)


async def write_on(store: SqlStore, connection: Any, many: int) -> None:
    """Store some schedules and runs on a caller's connection, and change the first schedule."""
    for number in range(many):
        await store.put_schedules([new_schedule(f"k{number}")], connection=connection)
        await store.enqueue([new_request()], connection=connection)
    changed = await store.put_schedules([new_schedule("k0")], connection=connection)
    assert len(changed) == 1


async def test_an_asynchronous_connection_of_a_caller_may_have_a_hostile_search_path_too(
    two: tuple[SqlStore, SqlStore], decoys: str
):
    async with await psycopg.AsyncConnection.connect(decoys) as connection:
        await connection.execute(HOSTILE)
        for store, many in zip(two, (1, 2), strict=True):
            await write_on(store, connection, many)
    assert (counted(decoys, "duly"), counted(decoys, "jobs")) == ((1, 1), (2, 2))
    assert counted(decoys, "decoy") == (0, 0)


async def test_a_store_whose_own_connections_have_a_hostile_search_path_is_set_up_and_works(
    two: tuple[SqlStore, SqlStore], decoys: str, clock: SetClock
):
    url = f"{in_schema(decoys, 'third')}&options={quote('-c search_path=decoy,public')}"
    async with opened(url, clock) as store:
        session = await open_session(store)
        await put(store, "a")
        clock.at += HOUR
        assert (await store.fire_due(limit=10, rules=RULES)).runs == 1
        (claim,) = await claim_all(store, session)
        assert (await store.settle([completed(claim, session)])).ended
    with psycopg.connect(decoys) as connection:
        connection.execute("SET search_path = pg_catalog")
        definitions = connection.execute(
            "SELECT pg_get_viewdef(c.oid) FROM pg_class AS c"
            " WHERE relkind = 'v' AND relnamespace = 'third'::regnamespace"
            " UNION ALL SELECT pg_get_indexdef(c.oid) FROM pg_class AS c"
            " WHERE relkind = 'i' AND relnamespace = 'third'::regnamespace"
        ).fetchall()
    for (definition,) in at_least(definitions, 60, "views and indexes"):
        assert "decoy" not in definition


def test_no_statement_depends_on_the_search_path(two: tuple[SqlStore, SqlStore], decoys: str):
    """The server shows a statement in the body of a function with every name resolved."""
    statements = {
        found.name.decode(): found.numbered.decode()
        for one in load_queries().values()
        for found in (one, one.one)
        if found is not None
    }
    for name in ("applied", "found", "notify", "now", "settings", "sizes"):
        statements[name] = as_statement(load_transactions()[name]).numbered.decode()
    statements["set_out"] = re.sub("':[a-z]+'", "'1'", as_statement(load_transactions()["set_out"]).numbered.decode())
    met = {}
    with psycopg.connect(decoys, autocommit=True) as connection:
        connection.prepare_threshold = None
        connection.execute("CREATE SCHEMA probe")
        for name, text in at_least(list(statements.items()), 340, "statements"):
            met[name] = re.findall(r"OPERATOR\(decoy\.[^)]*\)|decoy\.\w+", resolved(connection, text))
    assert {name: found for name, found in met.items() if found} == {}


def resolved(connection: psycopg.Connection, text: str) -> str:
    """The statement as the server understands it under a hostile search_path; its error if it does not."""
    try:
        connection.execute(HOSTILE)
        connection.execute(f"PREPARE probe AS {text}".encode())
        connection.execute("SET search_path = pg_catalog")
        types = connection.execute("SELECT parameter_types::text[] FROM pg_prepared_statements").fetchall()[0][0]
        connection.execute("DEALLOCATE probe")
        connection.execute(HOSTILE)
        made = f"CREATE FUNCTION probe.f({', '.join(types)}) RETURNS void LANGUAGE sql BEGIN ATOMIC {text}\n; END"
        connection.execute(made.encode())
        connection.execute("SET search_path = pg_catalog")
        ((definition,),) = connection.execute("SELECT pg_get_functiondef('probe.f'::regproc)").fetchall()
        connection.execute("DROP FUNCTION probe.f")
    except psycopg.Error as error:
        return f"decoy.{error}"
    return str(definition)


@pytest.mark.parametrize("prepare", [None, False, True], ids=["noticed", "unprepared", "prepared"])
async def test_two_stores_behind_a_pooler_share_its_server_processes_and_mix_up_nothing(
    fresh_pgbouncer: str, fresh_postgres: str, clock: SetClock, prepare: bool | None
):
    async with (
        opened(fresh_pgbouncer, clock, prepare=prepare) as first,
        opened(in_schema(fresh_pgbouncer, "jobs"), clock, prepare=prepare) as second,
    ):
        stores, many = (first, second), 40
        sessions = [await open_session(store) for store in stores]
        await asyncio.gather(*(put(store, f"k{n}") for n in range(many) for store in stores))
        clock.at += HOUR
        fired = await asyncio.gather(*(store.fire_due(limit=10, rules=RULES) for _ in range(6) for store in stores))
        while any(one.more for one in fired):
            fired = await asyncio.gather(*(store.fire_due(limit=100, rules=RULES) for store in stores))
        claims = await asyncio.gather(
            *(claim_all(store, session) for store, session in zip(stores, sessions, strict=True))
        )
        for store, session, found in zip(stores, sessions, claims, strict=True):
            keys = {(await store.get_schedule(f"k{n}")).id for n in range(many)}  # type: ignore[union-attr]
            assert {claim.schedule_id for claim in found} == keys
            await store.settle([completed(claim, session) for claim in found])
    assert counted(fresh_postgres, "duly") == counted(fresh_postgres, "jobs") == (many, 0)


@pytest.mark.parametrize("threshold", [None, 0], ids=["unprepared", "prepared"])
async def test_a_callers_connection_through_a_pooler_writes_to_both(
    two: tuple[SqlStore, SqlStore], fresh_pgbouncer: str, fresh_postgres: str, threshold: int | None
):
    for _ in range(3):
        with psycopg.connect(fresh_pgbouncer) as connection:
            connection.prepare_threshold = threshold
            for store in two:
                await store.enqueue([new_request()], connection=connection)
            connection.commit()
            if threshold is not None:
                connection.execute("DEALLOCATE ALL")  # as a caller of such a pooler has to
    assert (counted(fresh_postgres, "duly"), counted(fresh_postgres, "jobs")) == ((0, 3), (0, 3))


def test_a_prepared_statement_has_another_name_in_every_schema():
    schemas = ("duly", "jobs", LONG + "a", LONG + "b")
    names = [{found.name for found in load_queries(schema).values()} for schema in schemas]
    assert len(set().union(*names)) == sum(map(len, names))
    assert max(len(name) for some in names for name in some) <= 59, "_one is added for a single row"
    assert load_queries("jobs") is load_queries("jobs")


async def test_hints_do_not_cross_schemas(fresh_postgres: str, hints_are_sent: None):
    heard: asyncio.Queue[str] = asyncio.Queue()
    schemas = (LONG + "a", LONG + "b")
    urls = [in_schema(fresh_postgres, schema) for schema in schemas]
    listener, neighbour, other = (PostgresDriver(url, limits=PATIENT) for url in (urls[0], urls[0], urls[1]))
    for driver in (listener, neighbour, other):
        await driver.open()
    listener.on_hint(heard.put_nowait)
    assert listener._listener is not None
    assert await asyncio.to_thread(listener._listener.ready.wait, 60)
    for driver, topic in ((other, "theirs"), (neighbour, "ours")):
        await asyncio.to_thread(driver._send_hints, encode_array([f"sender {topic}"]))
    async with asyncio.timeout(60):
        assert await heard.get() == "ours"
    for driver in (listener, neighbour, other):
        await driver.close()


def test_every_schema_has_a_channel_and_a_lock_of_its_own():
    schemas = ["duly", "jobs", "x", LONG, LONG + "a", LONG + "b", "a" * 58, "a" * 59]
    channels = [channel_of(schema) for schema in schemas]
    assert len(set(channels)) == len({lock_of(schema) for schema in schemas}) == len(schemas)
    assert max(map(len, channels)) <= 63
    assert channels[0] == "duly.duly"


async def test_the_lock_of_one_schema_holds_up_no_other(fresh_postgres: str, clock: SetClock):
    with psycopg.connect(fresh_postgres) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", [lock_of("jobs")])
        async with opened(fresh_postgres, clock) as store:
            await put(store, "a")
        opening = asyncio.create_task(open_and_close(in_schema(fresh_postgres, "jobs"), clock))
        while ask(fresh_postgres, WAITING) != [1]:  # noqa: ASYNC110 - only the server knows who waits
            await asyncio.sleep(0.01)
        assert not opening.done()
        holder.rollback()
    await opening
    assert counted(fresh_postgres, "jobs") == (0, 0)


async def open_and_close(url: str, clock: SetClock) -> None:
    async with opened(url, clock):
        pass


@pytest.fixture
def connection(fresh_postgres: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(fresh_postgres, autocommit=True) as connection:
        yield connection


def test_nothing_is_created_outside_of_the_schema(connection: psycopg.Connection):
    named = (
        "SELECT nspname, count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
        " WHERE pg_class.oid >= 16384 AND nspname NOT LIKE 'pg\\_%' GROUP BY nspname"
    )
    prepare_schema(connection, Limits(), "jobs", migrate=True)
    assert [name for name, _ in connection.execute(named).fetchall()] == ["jobs"]
