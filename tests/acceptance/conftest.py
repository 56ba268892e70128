"""What the acceptance tests share: both stores, the command line in this process, and a view of all rows."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from click.testing import CliRunner, Result

from duly.cli import main
from tests.cli.conftest import OURS
from tests.contract.suite import TABLES, Dump, sorted_rows
from tests.databases import in_duly, ready_file
from tests.engine.conftest import clock, lab
from tests.store_choice import EACH_STORE
from tests.stores import select_sql

__all__ = ["clock", "lab"]

Duly = Callable[..., Result]


@pytest.fixture(params=EACH_STORE)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:////{str(ready_file(tmp_path)).lstrip('/')}"
    return str(request.getfixturevalue("ready_postgres"))


@pytest.fixture
def duly(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Duly:
    """Run ``duly`` on the store of the test, in this process; what the tester has set does not matter."""
    runner = CliRunner()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    for name in [name for name in os.environ if name.startswith(OURS) and not name.startswith("DULY_TEST")]:
        monkeypatch.delenv(name)

    def run(*arguments: str) -> Result:
        return runner.invoke(main, list(arguments), env={"DULY_DATABASE_URL": url}, prog_name="duly")

    return run


def execute(url: str, statement: str) -> list[Any]:
    """Do something to a database behind duly's back."""
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        try:
            return list(connection.execute(statement))
        finally:
            connection.close()
    with psycopg.connect(url, autocommit=True) as postgres:
        done = postgres.execute(in_duly(statement).encode())
        return done.fetchall() if done.description else []


def snapshot(url: str) -> Dump:
    """All rows of all tables; what did not change anything leaves it equal."""
    return {table: sorted_rows(execute(url, select_sql(f"duly_{table}", cols))) for table, cols in TABLES.items()}
