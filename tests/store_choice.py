"""Which tests run on which store.

The contract (``tests/contract``) and the tests of the stores run on every store. Tests of what stands above a store run
on SQLite: that both stores behave alike is what the contract shows. On PostgreSQL too run the tests marked
``postgres_too``, which are about connections, transactions and concurrency, and the first test of each module, as a
smoke test; ``tests/api/test_nouns_on_postgres.py`` calls every operation of the REST API there. ``--every-store`` runs
all of them on both.
"""

from collections.abc import Iterable

import pytest

POSTGRES = pytest.param("postgres", marks=pytest.mark.server)
EACH_STORE = ("sqlite", POSTGRES)
"""Parameters of a fixture that opens a store, or gives its URL."""
EACH_STORE_AND_REST = (*EACH_STORE, pytest.param("server", marks=pytest.mark.server))
"""And of one that runs commands: on a store, or on the REST API of a server."""

ABOVE_A_STORE = frozenset("acceptance api app cli engine targets workflow".split())
"""Folders below ``tests``."""


def postgres_too(reason: str) -> pytest.MarkDecorator:
    """Run a test on PostgreSQL as well as on SQLite; the reason says what differs there."""
    assert reason
    return pytest.mark.postgres_too(reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-store", action="store_true", help="run the tests of the app, the API and the CLI on PostgreSQL too"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--every-store"):
        return
    dropped = dropped_on_postgres(items)
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=list(dropped))


def dropped_on_postgres(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The tests that run on SQLite only."""
    dropped, seen = set(), set()
    for item in items:
        if not _is_on_postgres(item) or item.path.parent.name not in ABOVE_A_STORE:
            continue
        is_first = item.path not in seen
        seen.add(item.path)
        if not is_first and item.get_closest_marker("postgres_too") is None:
            dropped.add(item)
    return dropped


def _is_on_postgres(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and "sqlite" not in callspec.params.values() and "postgres" in callspec.params.values()
