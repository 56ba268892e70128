"""Not done, done, or unknown: what a caller learns when the wire breaks, and that repeating is safe."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import nullcontext
from types import SimpleNamespace

import psycopg
import pytest

from duly.core.errors import DulyError, KeyInUse, OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.run import RunStatus
from duly.core.schedule import Schedule
from duly.runtime.chance import Chance
from duly.store.postgres import postgres_store
from duly.store.postgres.committing import Opening, Writing
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.limits import Limits
from duly.store.postgres.texts import as_statement
from duly.store.sql import SqlStore
from duly.store.statements import Program, query
from tests.acceptance.rules import rule
from tests.app.conftest import until
from tests.store.postgres.making import (
    PATIENT,
    RULES,
    Ahead,
    SetClock,
    ask,
    claim_all,
    completed,
    held_rows,
    new_request,
    new_schedule,
    open_session,
    put,
)
from tests.store.postgres.proxy import Fault, Proxy, message
from tests.threads import deny_threads

HOUR = 3_600_000


@pytest.fixture
async def store(proxy: Proxy, clock: SetClock) -> AsyncIterator[SqlStore]:
    """A store behind the proxy."""
    store = postgres_store(proxy.url, clock=clock, limits=PATIENT)
    await store.open()
    yield store
    proxy.heal()  # a call that is wrongly without an end would keep the store from closing
    await store.close()


async def test_a_create_whose_answer_is_lost_can_be_repeated(store: SqlStore, proxy: Proxy, fresh_postgres: str):
    new = [new_schedule("a"), new_schedule("b")]
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown, match="repeating the call is safe"):
        await store.put_schedules(new)
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_schedules") == [2]

    again = await store.put_schedules(new)
    assert [put.facts.id for put in again if isinstance(put, Schedule)] == [item.facts.id for item in new]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_cursors") == [2]


@pytest.fixture
async def used(store: SqlStore) -> SqlStore:
    """A store that has created something, knows that nobody watches, and commits together with what it inserts."""
    await put(store, "first")
    return store


async def test_a_commit_sent_with_its_step_whose_answer_is_lost_can_be_repeated(
    used: SqlStore, proxy: Proxy, fresh_postgres: str
):
    new = [new_schedule("a"), new_schedule("b")]
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown, match="repeating the call is safe"):
        await used.put_schedules(new)
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_cursors") == [3]
    again = await used.put_schedules(new)
    assert [put.facts.id for put in again if isinstance(put, Schedule)] == [item.facts.id for item in new]
    assert ask(fresh_postgres, "SELECT slots FROM duly.duly_tenants") == [3]


async def test_a_commit_sent_with_its_step_that_never_arrives_is_unknown_and_left_nothing(
    used: SqlStore, proxy: Proxy, fresh_postgres: str
):
    proxy.set(Fault.LOSE)
    with pytest.raises(OutcomeUnknown):
        await put(used, "a")
    assert ask(fresh_postgres, "SELECT key FROM duly.duly_schedules") == ["first"]


async def test_a_pooler_that_lost_its_server_does_not_know_what_the_server_did(
    used: SqlStore, proxy: Proxy, fresh_postgres: str
):
    """It answers for the first statement that it has no answer for, also where the commit after it was done."""
    proxy.last_words = message(b"E", "FATAL", "08P01", "server conn crashed?")
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown, match=r"server conn crashed\?"):
        await put(used, "a")
    assert ask(fresh_postgres, "SELECT key FROM duly.duly_schedules ORDER BY key") == ["a", "first"]


async def test_a_server_that_ends_the_connection_before_the_commit_sent_with_its_step_is_asked_again(
    used: SqlStore, fresh_postgres: str
):
    """The server tells which statement it did not do, so the commit after it was not done either."""
    with held_rows(fresh_postgres, "SELECT FROM duly.duly_tenants FOR UPDATE") as blocker:
        creating = asyncio.create_task(put(used, "a"))
        waits = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        await until(lambda: ask(fresh_postgres, waits))
        ask(fresh_postgres, f"SELECT pg_terminate_backend(pid, 5000) FROM ({waits}) AS waiting")
        blocker.rollback()
        assert (await creating).key == "a"
    assert ask(fresh_postgres, "SELECT slots FROM duly.duly_tenants") == [2]


async def test_what_fails_before_a_commit_sent_with_its_step_was_not_done(used: SqlStore, fresh_postgres: str):
    new = [new_schedule("a"), new_schedule("first"), new_schedule("b")]
    a, taken, b = await used.put_schedules(new)
    assert (type(a), type(taken), type(b)) == (Schedule, KeyInUse, Schedule)
    assert ask(fresh_postgres, "SELECT slot FROM duly.duly_cursors ORDER BY slot") == [1, 2, 3]


async def test_an_enqueue_whose_answer_is_lost_can_be_repeated(store: SqlStore, proxy: Proxy, fresh_postgres: str):
    requests = [new_request(), new_request(run_at=5)]
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown):
        await store.enqueue(requests)
    runs = await store.enqueue(requests)
    assert [run.id for run in runs] == [request.id for request in requests]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [2]


async def test_a_fire_whose_answer_is_lost_fires_nothing_twice(
    store: SqlStore, proxy: Proxy, clock: SetClock, fresh_postgres: str
):
    await put(store, "a")
    clock.at += HOUR
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown):
        await store.fire_due(limit=10, rules=RULES)
    assert (await store.fire_due(limit=10, rules=RULES)).runs == 0
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [1]


async def test_a_fire_that_commits_with_its_last_step_fires_nothing_twice(
    used: SqlStore, proxy: Proxy, clock: SetClock, fresh_postgres: str
):
    clock.at += HOUR
    await put(used, "a")  # has something to tell, and so looks who watches
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown):
        await used.fire_due(limit=10, rules=RULES)
    assert (await used.fire_due(limit=10, rules=RULES)).runs == 0
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [1]
    proxy.set(Fault.LOSE)
    with pytest.raises(OutcomeUnknown):
        await used.fire_due(limit=10, rules=RULES)


@rule("A5")
async def test_a_fire_whose_connection_breaks_where_it_moves_the_cursor_has_made_no_run(
    store: SqlStore, proxy: Proxy, clock: SetClock, fresh_postgres: str
):
    """Runs and cursors are of one transaction; elsewhere in this suite the statements of a fire are cut off one by one,
    here they go over the wire as they do in a fleet."""
    await put(store, "a")
    clock.at += HOUR
    before = ask(fresh_postgres, "SELECT fire_at FROM duly.duly_cursors")
    proxy.set(Fault.LOSE, at=b"duly_move_cursors", times=99)
    with pytest.raises((StoreUnavailable, OutcomeUnknown)):
        await store.fire_due(limit=10, rules=RULES)
    assert proxy.met
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]
    assert ask(fresh_postgres, "SELECT fire_at FROM duly.duly_cursors") == before
    proxy.heal()
    assert (await store.fire_due(limit=10, rules=RULES)).runs == 1


async def test_a_settle_whose_answer_is_lost_is_kept_and_not_lost(store: SqlStore, proxy: Proxy, fresh_postgres: str):
    session = await open_session(store)
    await store.enqueue([new_request(), new_request()])
    settlements = [completed(claim, session) for claim in await claim_all(store, session)]
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown):
        await store.settle(settlements)
    settled = await store.settle(settlements)
    assert settled.lost == []
    assert ask(fresh_postgres, "SELECT status FROM duly.duly_history") == ["completed", "completed"]
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]


async def test_a_claim_whose_answer_is_lost_is_told_by_the_next_beat(store: SqlStore, proxy: Proxy):
    session = await open_session(store)
    (run,) = await store.enqueue([new_request()])
    proxy.set(Fault.LOSE_REPLY)
    with pytest.raises(OutcomeUnknown):
        await claim_all(store, session)
    beat = await store.beat(session, lease_ms=1000)
    assert [(held.id, held.fence) for held in beat.held] == [(run.id, 1)]


async def test_a_commit_that_never_arrives_is_unknown_and_left_nothing(
    store: SqlStore, proxy: Proxy, fresh_postgres: str
):
    request = new_request()
    proxy.set(Fault.LOSE)
    with pytest.raises(OutcomeUnknown):
        await store.enqueue([request])
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]
    (run,) = await store.enqueue([request])
    assert run.status is RunStatus.PENDING


@pytest.mark.parametrize(
    "word", [b"duly_begin_write", b'INSERT INTO "duly".duly_tenants', b'INSERT INTO "duly".duly_cursors']
)
async def test_a_connection_that_breaks_before_the_commit_is_tried_once_more(
    store: SqlStore, proxy: Proxy, fresh_postgres: str, word: bytes
):
    proxy.set(Fault.LOSE, at=word)
    await put(store, "a")
    assert proxy.times == 0
    assert ask(fresh_postgres, "SELECT slots FROM duly.duly_tenants") == [1]


async def test_a_connection_that_always_breaks_before_the_commit_leaves_nothing_done(
    store: SqlStore, proxy: Proxy, fresh_postgres: str
):
    proxy.set(Fault.LOSE, at=b'INSERT INTO "duly".duly_cursors', times=100)
    with pytest.raises(StoreUnavailable):
        await put(store, "a")
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_schedules") == [0]


async def test_connections_that_died_while_idle_are_replaced_unnoticed(store: SqlStore, fresh_postgres: str):
    both_begun = threading.Barrier(2, timeout=60)

    def beside_another(now: int) -> Program[None]:
        both_begun.wait()
        yield query("next_fire")

    await asyncio.gather(*(store.driver.write(beside_another) for _ in range(2)))
    ended = ask(
        fresh_postgres,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = 'duly' AND datname = current_database()",
    )
    assert len(ended) >= 2
    await asyncio.gather(*(put(store, f"l{n}") for n in range(4)))


async def test_a_create_in_one_step_on_connections_that_died_while_idle_is_done_once(
    store: SqlStore, proxy: Proxy, fresh_postgres: str, monkeypatch: pytest.MonkeyPatch
):
    """The connection is looked at before the commit goes out with all the rest."""
    monkeypatch.setattr(PostgresDriver, "hint", lambda self, topic: None)  # its thread would notice it, some time
    await put(store, "first")
    proxy.cut()
    await put(store, "a")
    assert ask(fresh_postgres, "SELECT slots FROM duly.duly_tenants") == [2]


async def test_connections_of_a_server_that_said_that_it_crashed_are_replaced_unnoticed(
    store: SqlStore, proxy: Proxy, fresh_postgres: str, monkeypatch: pytest.MonkeyPatch
):
    """A first look at such a connection finds the warning; that it has ended stands behind it."""
    monkeypatch.setattr(PostgresDriver, "hint", lambda self, topic: None)  # its thread would notice it, some time
    await put(store, "first")
    proxy.last_words = message(b"N", "WARNING", "57P02", "terminating connection because of crash of another process")
    proxy.hang_up()
    await put(store, "a")
    assert ask(fresh_postgres, "SELECT slots FROM duly.duly_tenants") == [2]


async def test_a_read_is_never_unknown(store: SqlStore, proxy: Proxy):
    made = await put(store, "a")
    proxy.set(Fault.LOSE_REPLY)
    found = await store.get_schedule("a")
    assert found is not None
    assert found.id == made.id
    assert proxy.times == 0


@pytest.fixture
async def hasty(proxy: Proxy, clock: SetClock) -> AsyncIterator[SqlStore]:
    """A store that waits no longer than 0.3 s for anything."""
    store = postgres_store(proxy.url, clock=clock, limits=Limits(operation=0.3))
    await store.open()
    yield store
    proxy.heal()  # as above
    await store.close()


async def test_a_server_that_falls_silent_ends_the_call_within_its_limit(hasty: SqlStore, proxy: Proxy):
    proxy.set(Fault.SWALLOW_ALL)
    async with asyncio.timeout(40):
        with pytest.raises(StoreUnavailable, match=r"within 0\.3 s; nothing was done"):
            await hasty.now()
        # Connections that are left may be just as dead: the next call opens its own, and that too has an end.
        with pytest.raises(StoreUnavailable, match="cannot connect"):
            await hasty.now()


async def test_silence_after_the_commit_was_sent_is_unknown(
    store: SqlStore, proxy: Proxy, fresh_postgres: str, monkeypatch: pytest.MonkeyPatch
):
    assert isinstance(store.driver, PostgresDriver)
    watchdog, clock = store.driver._transactions._watchdog, Ahead()
    monkeypatch.setattr(watchdog, "_clock", clock)
    request = new_request()
    proxy.set(Fault.SWALLOW)
    enqueuing = asyncio.create_task(store.enqueue([request]))
    await until(lambda: proxy.met)
    clock.by = PATIENT.operation
    with watchdog._changed:
        watchdog._changed.notify()
    async with asyncio.timeout(40):
        with pytest.raises(OutcomeUnknown):
            await enqueuing
    await store.enqueue([request])
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [1]


async def test_a_call_that_nobody_could_end_is_refused_and_the_next_has_an_end(
    hasty: SqlStore, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
):
    await hasty.close()
    deny_threads(monkeypatch, "duly-postgres-watchdog")
    with pytest.raises(StoreUnavailable, match=r"no thread to watch its calls: .*; nothing was done"):
        await hasty.open()
    await hasty.open()
    proxy.set(Fault.SWALLOW_ALL)
    async with asyncio.timeout(40):
        with pytest.raises(StoreUnavailable, match=r"within 0\.3 s; nothing was done"):
            await hasty.now()


async def test_nobody_listening_is_unavailable(fresh_postgres: str):
    with psycopg.connect(fresh_postgres) as connection:
        port = connection.info.port
    store = postgres_store(fresh_postgres.replace(f":{port}", ":1"))
    with pytest.raises(StoreUnavailable, match="cannot connect to PostgreSQL at 127"):
        await store.open()
    await store.close()


class Meddler(Chance):
    """Does something each time the driver is about to wait before another try."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.meddle = lambda: None

    def spread(self, least: float, most: float) -> float:
        self.calls += 1
        self.meddle()
        return 0


@pytest.fixture
async def meddled(fresh_postgres: str, clock: SetClock) -> AsyncIterator[tuple[SqlStore, Meddler]]:
    meddler = Meddler()
    store = postgres_store(fresh_postgres, clock=clock, chance=meddler, limits=Limits(lock=0.05))
    await store.open()
    yield store, meddler
    await store.close()


async def test_a_row_locked_for_a_moment_is_waited_for(meddled: tuple[SqlStore, Meddler], fresh_postgres: str):
    store, meddler = meddled
    made = await put(store, "a")
    with held_rows(fresh_postgres, "SELECT FROM duly.duly_cursors FOR UPDATE") as blocker:
        meddler.meddle = blocker.rollback
        assert await store.trigger(made.id, run_id=made.id, payload=None, force=False, rules=RULES) is not None
    assert meddler.calls == 1


async def test_a_row_locked_for_long_leaves_nothing_done(meddled: tuple[SqlStore, Meddler], fresh_postgres: str):
    store, meddler = meddled
    made = await put(store, "a")
    with (
        held_rows(fresh_postgres, "SELECT FROM duly.duly_cursors FOR UPDATE"),
        pytest.raises(StoreUnavailable, match="lock timeout"),
    ):
        await store.trigger(made.id, run_id=made.id, payload=None, force=False, rules=RULES)
    assert meddler.calls == 3
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_runs") == [0]


async def test_a_statement_that_takes_too_long_is_ended_by_the_server(fresh_postgres: str):
    driver = PostgresDriver(fresh_postgres, limits=Limits(statement=0.05))
    driver._transactions.statements["slow"] = as_statement("SELECT pg_sleep(60)")

    def slow(now: int) -> Program[None]:
        yield query("slow")

    with pytest.raises(StoreUnavailable, match="statement timeout"):
        await driver.write(slow)
    await driver.close()


async def test_data_that_the_database_refuses_is_named(store: SqlStore):
    with pytest.raises(StoreError, match="refused the data") as refused:
        await store.enqueue([new_request(priority=2**40)])
    assert not isinstance(refused.value, StoreUnavailable | OutcomeUnknown)
    assert refused.value.details["sqlstate"] == "22003"


async def test_a_program_that_raises_leaves_nothing_and_the_connection_is_used_again(
    store: SqlStore, fresh_postgres: str
):
    def refuse(now: int) -> Program[None]:
        yield query("take_slots", tenant="t", count=1)
        raise DulyError("no")

    with pytest.raises(DulyError, match=r"^no$"):
        await store.driver.write(refuse)
    assert ask(fresh_postgres, "SELECT count(*) FROM duly.duly_tenants") == [0]
    await put(store, "a")


async def test_a_text_with_half_a_character_is_refused(store: SqlStore):
    with pytest.raises(DulyError, match="UTF-8"):
        await put(store, "a", description="\ud800")
    await put(store, "a")


def test_the_same_works_without_an_event_loop(fresh_postgres: str):
    driver = PostgresDriver(fresh_postgres)
    driver.open_sync()

    def take(now: int) -> Program[int]:
        rows = yield query("take_slots", tenant="t", count=2)
        return int(rows[0][0])

    def look(now: int) -> Program[int]:
        rows = yield query("next_fire")
        return len(rows)

    assert [driver.write_sync(take), driver.write_sync(take), driver.read_sync(look)] == [2, 4, 1]
    driver.close_sync()


async def test_a_read_cannot_write(store: SqlStore):
    def take(now: int) -> Program[None]:
        yield query("take_slots", tenant="t", count=2)

    with pytest.raises(StoreUnavailable):
        await store.driver.read(take)


@pytest.mark.parametrize(
    "answered, warning, error",
    [
        (b"ROLLBACK", None, StoreUnavailable),
        (b"COMMIT", "canceling wait for synchronous replication due to user request", OutcomeUnknown),
        (b"COMMIT", None, None),
    ],
)
def test_a_commit_is_believed_only_if_it_is_answered_by_that_word_alone(
    answered: bytes, warning: str | None, error: type[Exception] | None
):
    lent = SimpleNamespace(warnings=["of before"], committing=False)

    def run(command: bytes) -> SimpleNamespace:
        lent.warnings += [] if warning is None else [warning]
        return SimpleNamespace(command_status=answered)

    lent.wire = SimpleNamespace(run=run)
    writing = Writing(lent, Opening([], lambda shows: None), "here")  # type: ignore[arg-type]  # it quacks
    with nullcontext() if error is None else pytest.raises(error):
        writing.commit()
    assert lent.committing
