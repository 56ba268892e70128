"""``connection=``: what is asked for in the caller's transaction appears if it commits, and only then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import apsw
import psycopg
import pytest

from duly import Duly, DulyError, Every, RunStatus
from duly.core.errors import KeyInUse, NotFound
from duly.testing import ManualClock
from tests.app.conftest import PATIENCE, MakeApp, until
from tests.databases import ready_file

Open = Callable[[], Any]


class Caller:
    """A caller's own connection, of whichever driver, with a transaction open."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def execute(self, text: str) -> None:
        done = self.connection.execute(text)
        if asyncio.iscoroutine(done):
            await done

    async def close(self) -> None:
        done = self.connection.close()
        if asyncio.iscoroutine(done):
            await done


@pytest.fixture(
    params=["apsw", *(pytest.param(kind, marks=pytest.mark.server) for kind in ("psycopg", "psycopg async"))]
)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Any) -> str:
    if kind == "apsw":
        return f"sqlite:////{str(ready_file(tmp_path)).lstrip('/')}"
    return str(request.getfixturevalue("ready_postgres"))


@asynccontextmanager
async def caller_of(kind: str, url: str) -> AsyncIterator[Caller]:
    if kind == "apsw":
        caller = Caller(apsw.Connection(url.removeprefix("sqlite:///")))
        caller.connection.set_busy_timeout(round(PATIENCE * 1000))  # the app's own loops write as well
    elif kind == "psycopg":
        caller = Caller(psycopg.connect(url, autocommit=True))
    else:
        caller = Caller(await psycopg.AsyncConnection.connect(url, autocommit=True))
    await caller.execute("BEGIN IMMEDIATE" if kind == "apsw" else "BEGIN")
    try:
        yield caller
    finally:
        await caller.close()


async def work(user: int) -> int:
    return user


@pytest.fixture
async def app(make_app: MakeApp) -> AsyncIterator[Duly]:
    app = make_app(roles=())
    app.job("work")(work)
    async with app:
        yield app


async def test_nothing_appears_before_the_commit_and_everything_after_it(app: Duly, kind: str, url: str) -> None:
    async with caller_of(kind, url) as caller:
        c = caller.connection
        made = await app.schedules.create("k", Every("1h"), job="work", payload={"user": 1}, connection=c)
        many = await app.schedules.create_many(
            [{"key": f"m{n}", "timing": Every("1h"), "job": "work", "payload": {"user": n}} for n in range(3)],
            connection=c,
        )
        stored = await app.schedules.put("p", Every("1h"), "work", payload={"user": 9}, connection=c)
        run = await app.enqueue("work", {"user": 2}, connection=c)
        runs = await app.runs.enqueue_many("work", [{"user": 3}, {"user": 4}], connection=c)
        triggered = await app.schedules.trigger("k", {"user": 5}, connection=c)
        assert await app.schedules.get("k") is None
        assert (await app.schedules.list()).items == []
        assert await app.runs.get(run.id) is None
        await caller.execute("COMMIT")
    assert (await app.schedules.get("k")).id == made.id  # type: ignore[union-attr]
    assert {s.key async for s in app.schedules.iterate()} == {"k", "p", *(s.key for s in many)}
    assert stored.created
    assert {r.id for r in (await app.runs.list()).items} == {run.id, triggered.id, *(r.id for r in runs)}


async def test_a_rollback_leaves_nothing(app: Duly, kind: str, url: str) -> None:
    kept = await app.schedules.create("kept", Every("1h"), job="work", payload={"user": 1})
    async with caller_of(kind, url) as caller:
        c = caller.connection
        await app.schedules.create("k", Every("1h"), job="work", payload={"user": 1}, connection=c)
        await app.enqueue("work", {"user": 2}, connection=c)
        await app.schedules.update("kept", payload={"user": 7}, name="N", connection=c)
        await app.schedules.trigger("kept", connection=c)
        await app.schedules.pause("kept", reason="r", connection=c)
        await app.schedules.resume("kept", connection=c)
        await app.schedules.cancel("kept", connection=c)
        await app.schedules.delete("kept", connection=c)
        await caller.execute("ROLLBACK")
    found = await app.schedules.get("kept")
    assert found is not None
    assert (found.facts, found.definition, found.cursor) == (kept.facts, kept.definition, kept.cursor)
    assert [s.key async for s in app.schedules.iterate()] == ["kept"]
    assert (await app.runs.list()).items == []


async def test_a_revision_that_was_rolled_back_is_not_remembered(make_app: MakeApp, kind: str, url: str) -> None:
    """The store keeps definitions by revision: one that never came to be must not stand for the one that did."""
    clock = ManualClock()
    app = make_app(clock=clock)
    await app.open()
    await app.schedules.create("k", Every("1m"), job="work", payload={"user": 1}, overlap="allow")
    async with caller_of(kind, url) as caller:
        await app.schedules.update("k", queue="never", connection=caller.connection)
        clock.move(minutes=1)
        await app.schedules.update("k", priority=1, connection=caller.connection)  # fires what is due before it
        await caller.execute("ROLLBACK")
    await app.schedules.update("k", queue="mine")
    clock.move(minutes=1)
    await app.schedules.update("k", priority=2)
    assert {run.queue for run in (await app.runs.list()).items} == {"default", "mine"}
    await app.close()


async def test_edits_on_a_connection_are_kept_by_its_commit(app: Duly, kind: str, url: str) -> None:
    await app.schedules.create("k", Every("1h"), job="work", payload={"user": 1})
    await app.schedules.create("gone", Every("1h"), job="work", payload={"user": 1})
    async with caller_of(kind, url) as caller:
        c = caller.connection
        await app.schedules.update("k", payload={"user": 7}, if_revision=1, connection=c)
        await app.schedules.put("k", Every("2h"), "work", payload={"user": 8}, connection=c)
        await app.schedules.pause("k", reason="on leave", connection=c)
        await app.schedules.delete("gone", connection=c)
        await caller.execute("COMMIT")
    found = await app.schedules.get("k")
    assert found is not None
    assert (found.payload, found.revision, found.paused_reason) == ({"user": 8}, 3, "on leave")
    assert await app.schedules.get("gone") is None


async def test_a_running_app_notices_the_commit(make_app: MakeApp, kind: str, url: str) -> None:
    app = make_app()
    app.job("work")(work)
    async with app:
        async with caller_of(kind, url) as caller:
            run = await app.enqueue("work", {"user": 42}, connection=caller.connection)
            every = await app.schedules.create(
                "tick", Every("1s"), job="work", payload={"user": 1}, connection=caller.connection
            )
            await caller.execute("COMMIT")
        assert (await app.runs.wait(run.id, timeout=PATIENCE)).result == 42

        async def fired() -> bool:
            done = (await app.runs.list(schedule=every.id, status="completed")).items
            return bool(done) and done[0].status is RunStatus.COMPLETED

        await until(fired)


async def test_a_refusal_leaves_the_caller_s_transaction_as_it_was(app: Duly, kind: str, url: str) -> None:
    await app.schedules.create("k", Every("1h"), job="work", payload={"user": 1})
    async with caller_of(kind, url) as caller:
        c = caller.connection
        await app.schedules.create("before", Every("1h"), job="work", payload={"user": 1}, connection=c)
        with pytest.raises(KeyInUse):
            await app.schedules.create("k", Every("1h"), job="work", payload={"user": 1}, connection=c)
        with pytest.raises(NotFound):
            await app.schedules.pause("nope", connection=c)
        with pytest.raises(DulyError):
            await app.schedules.trigger("k", {"user": "x"}, connection=c)
        await caller.execute("COMMIT")
    assert {s.key async for s in app.schedules.iterate()} == {"k", "before"}
    assert (await app.runs.list()).items == []


async def test_a_connection_of_the_wrong_kind_is_refused_by_name(app: Duly, kind: str, url: str, tmp_path: Any) -> None:
    import sqlite3

    wrong: list[Any] = [object(), sqlite3.connect(":memory:")]
    if kind == "apsw":
        elsewhere = apsw.Connection(str(tmp_path / "other.db"))
        elsewhere.execute("BEGIN")
        idle = apsw.Connection(url.removeprefix("sqlite:///"))
        closed = apsw.Connection(":memory:")
        closed.close()
        wrong += [elsewhere, idle, closed]
    else:
        idle_one = psycopg.connect(url, autocommit=True)
        shut = psycopg.connect(url)
        shut.close()
        wrong += [idle_one, shut, apsw.Connection(":memory:")]
    for connection in wrong:
        with pytest.raises(DulyError) as raised:
            await app.schedules.create("k", Every("1h"), job="work", payload={"user": 1}, connection=connection)
        assert "connection" in str(raised.value)
    for connection in wrong[1:]:
        connection.close()
    assert await app.schedules.get("k") is None
