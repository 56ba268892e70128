"""``app.sync``: the same without ``await``, whether the app runs here, elsewhere or not at all."""

import asyncio
import inspect
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import duly
from duly import Duly, Every, Once, RunStatus
from duly.core.errors import ConfigurationError, KeyInUse, NotFound, ValidationFailed, WaitTimeout
from tests.app.conftest import PATIENCE, MakeApp
from tests.counting import at_least
from tests.store_choice import postgres_too

FUTURE = datetime(2099, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def app(make_app: MakeApp) -> Iterator[Duly]:
    app = make_app()

    @app.job("double")
    async def double(number: int) -> int:
        return number * 2

    yield app
    app.sync.close()


@contextmanager
def running(app: Duly) -> Iterator[asyncio.AbstractEventLoop]:
    """The app in a thread of its own, as beside a web server."""
    ready, loops = threading.Event(), []
    stop = asyncio.Event()

    async def main() -> None:
        async with app:
            loops.append(asyncio.get_running_loop())
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield loops[0]
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_every_method_has_a_twin() -> None:
    app = Duly("sqlite:///never-opened.db")
    sync = app.sync
    seen = []
    for noun, twin in (
        (app.schedules, sync.schedules),
        (app.runs, sync.runs),
        (app.operations, sync.operations),
        (app.firing, sync.firing),
        (app.events, sync.events),
        (app.audits, sync.audits),
    ):
        for name, method in inspect.getmembers(noun):
            if not name.startswith("_") and (inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)):
                assert callable(getattr(twin, name)), name
                assert getattr(twin, name).__doc__ == method.__doc__
                seen.append(name)
    at_least(seen, 58, "methods")
    assert callable(app.sync.enqueue)
    assert callable(app.sync.audit)


def test_an_app_that_does_not_run_creates_looks_and_changes(app: Duly) -> None:
    sync = app.sync
    made = sync.schedules.create("k", Every("1h", anchor="start"), job="double", payload={"number": 1}, tags=["x"])
    found = sync.schedules.get("k")
    assert found is not None
    assert (found.id, found.definition) == (made.id, made.definition)
    many = sync.schedules.create_many(
        [{"key": f"m{n}", "timing": Once(FUTURE), "job": "double", "payload": {"number": n}} for n in range(1500)]
    )
    assert [s.key for s in many] == [f"m{n}" for n in range(1500)]
    assert sum(1 for _ in sync.schedules.iterate(limit=100)) == 1501
    assert len(sync.schedules.list(limit=10).items) == 10
    assert sync.schedules.update("k", if_revision=1, payload={"number": 2}).revision == 2
    assert sync.schedules.put("k", Every("2h", anchor="start"), "double", payload={"number": 3}).changed
    assert len(sync.schedules.preview(Every("1h"), count=3)) == len(sync.schedules.upcoming("k", 3)) == 3
    assert sync.schedules.forecast(hours=3, step=3600).schedules == 1
    assert len(sync.schedules.coming().items) == 50
    assert sync.schedules.late().items == []
    assert not sync.schedules.pause("k", reason="r").enabled
    assert sync.schedules.resume("k").enabled
    run = sync.schedules.trigger("k")
    assert sync.runs.get(run.id) is not None
    assert [r.id for r in sync.runs.iterate(schedule="k")] == [run.id]
    assert sync.runs.cancel(run.id).status is RunStatus.CANCELLED
    queued = sync.enqueue("double", {"number": 21})
    assert [r.id for r in sync.runs.enqueue_many("double", [{"number": 1}, {"number": 2}])]
    with pytest.raises(WaitTimeout):
        sync.runs.wait(queued.id, timeout=0.05)
    assert sync.schedules.cancel("k").status == "cancelled"
    sync.schedules.delete("k")
    assert sync.schedules.get("k") is None


def test_refusals_are_the_same(app: Duly) -> None:
    app.sync.schedules.create("k", Every("1h"), job="double", payload={"number": 1})
    with pytest.raises(KeyInUse):
        app.sync.schedules.create("k", Every("1h"), job="double", payload={"number": 1})
    with pytest.raises(ValidationFailed):
        app.sync.enqueue("double", {"number": "x"})
    with pytest.raises(NotFound):
        app.sync.schedules.pause("nope")
    with pytest.raises(NotFound):
        list(app.sync.runs.iterate(schedule="nope")) or app.sync.schedules.resume("nope")


def test_a_closed_one_opens_again_and_a_with_closes_it(app: Duly) -> None:
    with app.sync as sync:
        sync.schedules.create("k", Every("1h"), job="double", payload={"number": 1})
    with app.sync:
        assert app.sync.schedules.get("k") is not None
    app.sync.close()
    app.sync.close()
    assert app.sync.schedules.get("k") is not None


@postgres_too("connections of several threads")
def test_it_works_beside_an_app_that_runs_in_another_thread(app: Duly) -> None:
    before = app.sync.enqueue("double", {"number": 1})
    with running(app):
        run = app.sync.enqueue("double", {"number": 21})
        assert app.sync.runs.wait(run.id, timeout=20).result == 42
        assert app.sync.runs.wait(before.id, timeout=20).result == 2
        assert app.sync.schedules.create("k", Every("1h"), job="double", payload={"number": 1}).key == "k"
    assert app.sync.schedules.get("k") is not None, "the app has gone, its twin opens the store for itself"


@postgres_too("connections of several threads")
def test_a_handler_in_a_thread_uses_it(app: Duly) -> None:
    @app.job("parent")
    def parent() -> int:
        child = app.sync.enqueue("double", {"number": 4})
        return int(app.sync.runs.wait(child.id, timeout=20).result)

    with running(app):
        run = app.sync.enqueue("parent")
        assert app.sync.runs.wait(run.id, timeout=30).result == 8


@postgres_too("connections of several threads")
def test_many_threads_use_it_at_once(app: Duly) -> None:
    def one(number: int) -> str:
        app.sync.schedules.create(f"k{number}", Once(FUTURE), job="double", payload={"number": number})
        run = app.sync.enqueue("double", {"number": number})
        found = app.sync.runs.get(run.id)
        assert found is not None
        return found.id

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(one, range(64)))) == 64
    assert sum(1 for _ in app.sync.schedules.iterate()) == 64


@postgres_too("a notification on another connection")
def test_events_are_followed_without_a_loop(app: Duly) -> None:
    events = app.sync.events.subscribe(after=99)
    assert next(events).reason == "unknown"
    app.sync.schedules.create("k", Every("1h"), job="double", payload={"number": 1})
    told = next(events)
    assert (told.name, told.schedule_key) == ("schedule.created", "k")


async def test_inside_a_running_loop_it_says_what_to_write_instead(app: Duly) -> None:
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("await app.schedules.create", lambda: app.sync.schedules.create("k", Every("1h"), job="double")),
        ("await app.enqueue", lambda: app.sync.enqueue("double")),
        ("await app.runs.wait", lambda: app.sync.runs.wait("x")),
        ("await app.runs.iterate", lambda: list(app.sync.runs.iterate())),
    ]
    for words, call in calls:
        with pytest.raises(ConfigurationError, match=words):
            call()


@postgres_too("the caller's transaction")
def test_it_takes_part_in_the_caller_s_transaction(app: Duly, url: str) -> None:
    app.sync.schedules.list()
    for end, appears in (("ROLLBACK", False), ("COMMIT", True)):
        connection: Any = (
            apsw.Connection(url.removeprefix("sqlite:///"))
            if url.startswith("sqlite")
            else psycopg.connect(url, autocommit=True)
        )
        connection.execute("BEGIN")
        app.sync.schedules.create("k", Every("1h"), job="double", payload={"number": 1}, connection=connection)
        run = app.sync.enqueue("double", {"number": 1}, connection=connection)
        app.sync.schedules.pause("k", connection=connection)
        assert app.sync.schedules.get("k") is None
        connection.execute(end)
        connection.close()
        assert (app.sync.schedules.get("k") is not None, app.sync.runs.get(run.id) is not None) == (appears, appears)


@postgres_too("the caller's connection")
def test_an_async_connection_is_refused(app: Duly, url: str) -> None:
    if url.startswith("sqlite"):
        pytest.skip("apsw has one kind of connections")
    connection = asyncio.run(psycopg.AsyncConnection.connect(url))
    with pytest.raises(ValidationFailed, match="AsyncConnection"):
        app.sync.enqueue("double", {"number": 1}, connection=connection)
    asyncio.run(connection.close())


def test_a_database_in_memory_is_its_apps_alone() -> None:
    app = Duly("sqlite:///:memory:", roles=())
    with pytest.raises(ConfigurationError, match="memory"):
        app.sync.schedules.list()
    with running(app):
        app.sync.schedules.create("k", Every("1h"), job="x")
        assert app.sync.schedules.get("k") is not None


FORKING = """
import os, sys
from duly import Duly, Every
app = Duly(sys.argv[1])
sync = app.sync
sync.schedules.create("parent", Every("1h"), job="x")
children = []
for number in range(3):
    pid = os.fork()
    if pid == 0:
        for turn in range(20):
            sync.schedules.create(f"child{number}.{turn}", Every("1h"), job="x")
        assert sync.schedules.get("parent") is not None
        sync.close()
        os._exit(0)
    children.append(pid)
for turn in range(20):
    sync.schedules.create(f"parent.{turn}", Every("1h"), job="x")
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
print(codes, sum(1 for _ in sync.schedules.iterate()))
"""

INHERITED = """
import asyncio, os, sys
from duly import Duly, DulyError, Every
app = Duly(sys.argv[1], roles=())
async def main():
    async with app:
        pid = os.fork()
        if pid:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        import threading
        told = []
        def child():
            try:
                app.sync.schedules.create("child", Every("1h"), job="x")
                told.append("created")
            except DulyError as error:
                told.append(str(error))
        thread = threading.Thread(target=child)
        thread.start()
        thread.join()
        print(told[0], flush=True)
        os._exit(0)
sys.exit(asyncio.run(main()))
"""


BUSY = """
import os, sys, threading
from duly import Duly, Every
from duly.app import opener
opener.FORK_WITHIN = 60  # a fork that does not get that far in time is another case
app = Duly(sys.argv[1])
sync = app.sync
sync.schedules.create("parent", Every("1h"), job="x")
over = threading.Event()
def hammer():
    while not over.is_set():
        sync.schedules.list()
threads = [threading.Thread(target=hammer, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
told, heard = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    sync.schedules.create("child.0", Every("1h"), job="x")
    os.write(told[1], b"x")
    os.read(heard[0], 1)
    for turn in range(1, 6):
        sync.schedules.create(f"child.{turn}", Every("1h"), job="x")
    os._exit(0)
os.read(told[0], 1)
over.set()
for thread in threads:
    thread.join()
sync.close()
os.write(heard[1], b"x")
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(code, sum(1 for _ in sync.schedules.iterate()))
"""


def script(text: str, url: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(duly.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), url],
        capture_output=True, text=True, timeout=100, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.processes
@postgres_too("connections after a fork")
def test_parent_and_children_of_a_fork_each_open_their_own(url: str) -> None:
    assert script(FORKING, url) == "[0, 0, 0] 81"


@pytest.mark.processes
@postgres_too("connections after a fork")
def test_a_fork_amid_calls_of_other_threads_loses_nothing_that_was_acknowledged(url: str) -> None:
    assert script(BUSY, url) == "0 7"


@pytest.mark.processes
@postgres_too("connections after a fork")
def test_a_child_of_a_running_app_uses_a_server_of_its_own_and_is_refused_a_file(url: str) -> None:
    told = script(INHERITED, url)
    assert told == "created" if url.startswith("postgres") else "both sides of a fork" in told


def test_the_twins_refuse_unknown_filters_by_name_and_begin_where_they_are_told(app: Duly) -> None:
    for n in range(3):
        app.sync.enqueue("double", {"number": n})
    page = app.sync.runs.list(limit=1)
    assert len([*app.sync.runs.iterate(cursor=page.next_cursor)]) == 2
    wrong: Any = {"job_type": "double"}
    twins: list[Any] = [app.sync.runs.list, app.sync.runs.iterate, app.sync.runs.dead, app.sync.schedules.list]
    for ask in (*twins, app.sync.schedules.iterate):
        with pytest.raises(ValidationFailed, match="has no option 'job_type'; did you mean 'job'"):
            list(ask(**wrong))
