"""``app.firing``: all firing stops and goes on; and what was restored from a backup fires nothing until told."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from duly import Duly, Every
from duly.core.errors import Conflict, ValidationFailed
from duly.core.schedule import Cursor
from tests.app.conftest import BRIEF, QUICK, MakeApp, a_moment_later, until
from tests.databases import fresh_database


async def test_nothing_fires_until_it_is_resumed(make_app: MakeApp) -> None:
    app = make_app()
    ran: list[int] = []

    @app.job("tick", every="1s")
    async def tick() -> None:
        ran.append(1)

    async with app, make_app(roles=()) as operator:

        async def cursor() -> Cursor:
            found = await operator.schedules.get("tick")
            assert found is not None
            return found.cursor

        async def overdue() -> bool:
            return operator.clock.now() - ((await cursor()).fire_at or 0) > 1500

        await until(lambda: ran)
        state = await operator.firing.pause(reason="incident", by="ann")
        paused_at = operator.clock.now()
        assert (state.paused, state.reason, state.by) == (True, "incident", "ann")
        await until(overdue)
        stopped = await cursor()
        assert stopped.window_at is not None
        assert stopped.window_at <= paused_at, "a fire that had begun may still come, of a window before the pause"
        done = await operator.firing.resume("skip", by="bob")
        assert (done.status, done.by, done.matched) == ("completed", "bob", 1)

        async def fires_again() -> bool:
            return (await cursor()).fired > stopped.fired

        await until(fires_again)


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works."""
    async with make_app(roles=()) as app:
        yield app


async def test_who_says_that_it_was_restored_must_choose(app: Duly) -> None:
    state = await app.firing.restored(by="ann")
    await a_moment_later(app)
    assert (state.epoch, state.reason, state.paused) == (2, "restored from a backup", True)
    with pytest.raises(Conflict, match=r"'fire' .*'skip' or 'latest'"):
        await app.firing.resume()
    with pytest.raises(ValidationFailed, match=r"fire \| skip \| latest"):
        await app.firing.resume("some")
    assert (await app.firing.resume("fire")).finished
    assert not (await app.firing.state()).paused
    assert [operation.kind for operation in (await app.operations.list()).items] == ["resume_all", "pause_all"]


async def run_for_some_ticks(app: Duly, ticks: int) -> None:
    async with app:

        async def ticked() -> bool:
            return (await app.firing.state()).ticks >= ticks

        await until(ticked)


async def test_an_older_copy_of_a_sqlite_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "duly.db"
    make = lambda: Duly(f"sqlite:////{str(path).lstrip('/')}", settings=BRIEF)
    await run_for_some_ticks(make(), 2)
    shutil.copyfile(path, tmp_path / "backup.db")
    async with make() as app:
        assert not (await app.firing.state()).paused, "the same file is not a restored one"
        before = (await app.firing.state()).ticks
        await until(lambda: _ticks_beside(path) > before)
    _put_back(tmp_path / "backup.db", path)
    async with make() as app:
        state = await app.firing.state()
        assert (state.paused, state.epoch, state.by) == (True, 2, "duly")
        assert state.restored_at is not None
        await app.firing.resume("latest")
    async with make() as app:
        assert not (await app.firing.state()).paused, "it is noticed once"


def _put_back(backup: Path, path: Path) -> None:
    for file in path.parent.glob("duly.db-wal"):
        file.unlink()
    shutil.copyfile(backup, path)


def _move_dump(url: str, other: str) -> None:
    dump = subprocess.run(["pg_dump", url], check=True, capture_output=True, text=True).stdout
    restore = ["psql", "-q", "-v", "ON_ERROR_STOP=1", other]
    subprocess.run(restore, input=dump, check=True, capture_output=True, text=True)


def _ticks_beside(path: Path) -> int:
    beside = path.with_name(path.name + "-seen")
    return int(beside.read_text().rpartition(":")[2].rstrip("}")) if beside.exists() else 0


async def test_a_dump_that_is_restored_elsewhere_is_noticed(fresh_postgres: str, postgres_url: str) -> None:
    async with Duly(fresh_postgres, roles=(), settings=QUICK) as app:
        await app.schedules.create("k", Every("1h"), job="work")
    async with Duly(fresh_postgres, roles=(), settings=QUICK) as app:
        assert not (await app.firing.state()).paused
    with fresh_database(postgres_url) as other:
        _move_dump(fresh_postgres, other)
        async with Duly(other, roles=(), settings=QUICK) as app:
            state = await app.firing.state()
            assert (state.paused, state.epoch) == (True, 2)
            assert "from a dump" in (state.reason or "")
            await app.firing.resume("skip")
        async with Duly(other, roles=(), settings=QUICK) as app:
            assert not (await app.firing.state()).paused


async def test_a_running_instance_notices_that_its_store_went_back(fresh_postgres: str) -> None:
    async with Duly(fresh_postgres, settings=replace(QUICK, heartbeat=0.2)) as app:

        async def ticked() -> bool:
            return (await app.firing.state()).ticks >= 3

        async def paused() -> bool:
            return (await app.firing.state()).paused

        await until(ticked)
        with psycopg.connect(fresh_postgres, autocommit=True) as connection:
            connection.execute("UPDATE duly.duly_meta SET ticks = ticks - 1000")  # more than it ticks before a look
        await until(paused)
        state = await app.firing.state()
        assert (state.epoch, state.by) == (2, "duly")
