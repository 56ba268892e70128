"""A process that dies lets go of its locks: its sessions are gone at once, and the database is looked through."""

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from duly.core.errors import StoreError
from duly.core.rules.firing import FireRules
from duly.runtime.clock import SystemClock
from duly.store.sql import SqlStore
from duly.store.sqlite import open_store
from duly.store.sqlite.checking import check_integrity
from duly.store.sqlite.presence import LockedFiles
from duly.store.values import Instance, NewRequest
from duly.testing import ManualClock

HOLDER = """
import sys, time
from duly.store.sqlite.presence import LockedFiles
files = LockedFiles(sys.argv[1])
files.enter(7)
files.enter(8)
print("in", flush=True)
sys.stdin.readline()
"""


def instance(session: int) -> Instance:
    return Instance(
        session=session,
        name="w",
        host=platform.node(),
        pid=1,
        roles=("worker",),
        version="",
        tz_version="",
        jobs=("a",),
    )


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in\n"
        yield process
        process.kill()


def folder(path: Path) -> Path:
    return Path(f"{path}-sessions")


@pytest.mark.processes
def test_the_sessions_of_a_killed_process_are_dead_at_once(path: Path, holder: subprocess.Popen[str]) -> None:
    files = LockedFiles(str(path))
    assert files.dead() == []
    holder.send_signal(signal.SIGSTOP)
    assert files.dead() == [], "frozen is not dead: the lease decides"
    holder.kill()
    holder.wait()
    assert sorted(files.dead()) == [7, 8]
    files.forget([7])
    assert files.dead() == [8]
    files.forget([8])
    assert not folder(path).exists()


def test_a_session_that_leaves_in_order_leaves_nothing(path: Path) -> None:
    mine, other = LockedFiles(str(path)), LockedFiles(str(path))
    mine.enter(1)
    mine.enter(2)
    assert other.dead() == mine.dead() == []
    mine.leave(1)
    assert other.dead() == []
    mine.leave_all()
    assert not folder(path).exists()


def test_a_session_of_another_host_is_not_judged(path: Path) -> None:
    folder(path).mkdir()
    (folder(path) / "9").write_text("elsewhere")
    (folder(path) / "10.new").write_text(platform.node())
    assert LockedFiles(str(path)).dead() == []


def test_where_no_file_can_be_made_the_lease_decides_alone(path: Path) -> None:
    folder(path).write_text("in the way")
    files = LockedFiles(str(path))
    files.enter(1)
    assert files.dead() == []
    files.leave(1)


async def open_with_run(path: Path, clock: ManualClock) -> SqlStore:
    """A store whose session 1 has a run in its hands."""
    store = open_store(path, clock=clock)
    await store.open()
    await store.open_session(instance(1), lease_ms=60_000)
    run_id = "00000000-0000-7000-8000-000000000000"
    await store.enqueue([NewRequest(id=run_id, job="a", payload="1", queue="q", max_attempts=3)])
    assert len((await store.claim_runs(1, jobs=["a"], limit=9)).claims) == 1
    return store


def die(store: SqlStore) -> None:
    """What the end of a process does to its locks."""
    files = store.driver.presence
    assert isinstance(files, LockedFiles)
    for lock in files._held.values():
        os.close(lock)
    files._held.clear()


async def test_a_remote_session_outlives_the_process_that_opened_it(path: Path) -> None:
    clock = ManualClock()
    server = open_store(path, clock=clock)
    await server.open()
    await server.open_session(instance(1), lease_ms=60_000, remote=True)
    die(server)
    other = open_store(path, clock=clock)
    await other.open()
    assert (await other.take_lost(limit=9, rules=FireRules())).sessions == []
    assert (await other.beat(1, lease_ms=60_000)).alive
    clock.move(seconds=61)
    assert list((await other.take_lost(limit=9, rules=FireRules())).sessions) == [1]
    await server.close()
    await other.close()


async def test_runs_of_a_dead_process_are_taken_long_before_its_lease_runs_out(path: Path) -> None:
    clock = ManualClock()
    doomed = await open_with_run(path, clock)
    other = open_store(path, clock=clock)
    await other.open()
    await other.open_session(instance(2), lease_ms=60_000)
    assert (await other.take_lost(limit=9, rules=FireRules())).runs == []
    die(doomed)
    leapt = await other.take_lost(limit=9, rules=FireRules(), expected=(0, 1))
    assert (list(leapt.sessions), list(leapt.runs)) == ([], []), "nothing is taken after a leap, and nobody forgotten"
    taken = await other.take_lost(limit=9, rules=FireRules())
    assert (list(taken.sessions), len(taken.runs)) == ([1], 1)
    assert (await other.take_lost(limit=9, rules=FireRules())).sessions == []
    assert [found.session for found in await other.list_instances()] == [2]
    await other.close_session(2)
    assert not folder(path).exists()
    await doomed.close()
    await other.close()


async def test_a_session_that_closes_in_order_is_not_declared_dead(path: Path) -> None:
    clock = ManualClock()
    store = await open_with_run(path, clock)
    other = open_store(path, clock=clock)
    await other.open()
    assert await store.close_session(1) == 1
    assert (await other.take_lost(limit=9, rules=FireRules())).sessions == []
    await store.close()
    await other.close()


def damage(path: Path) -> None:
    """Write over a page in the middle of the file."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 4096 // 2 * 4096)
        file.write(b"\xff" * 4096)


@pytest.fixture
async def left_behind(path: Path) -> Path:
    """A database, closed, beside the sign that a process of it has died."""
    store = open_store(path, clock=ManualClock())
    await store.open()
    await store.close()
    folder(path).mkdir()
    (folder(path) / "7").write_text(platform.node())
    return path


async def test_a_damaged_database_is_refused_after_an_unclean_stop(left_behind: Path) -> None:
    damage(left_behind)
    store = open_store(left_behind, clock=ManualClock())
    with pytest.raises(StoreError, match=r"damaged.*restore a backup"):
        await store.open()


async def test_a_sound_database_is_opened_after_an_unclean_stop(left_behind: Path) -> None:
    store = open_store(left_behind, clock=ManualClock())
    await store.open()
    await store.take_lost(limit=9, rules=FireRules())
    assert not folder(left_behind).exists()
    await store.close()


def test_a_look_through_a_large_file_has_an_end(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE t (x); CREATE INDEX i ON t (x)")
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) INSERT INTO t SELECT i FROM n"
    )
    check_integrity(connection, str(path), SystemClock(), longest=-1)
    assert "too large" in caplog.text
    assert connection.execute("SELECT count(*) FROM t").get == 50_000, "and the connection works on"
    connection.close()
