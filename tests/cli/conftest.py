"""What the tests of the command line share: a runner inside this process, and real processes."""

import asyncio
import getpass
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import psycopg
import pytest
from click.testing import CliRunner, Result

from duly import Duly as Scheduler
from duly.cli import main
from tests.client.serving import served
from tests.databases import in_duly, ready_file
from tests.store_choice import EACH_STORE, EACH_STORE_AND_REST

Duly = Callable[..., Result]
Spawn = Callable[..., "subprocess.CompletedProcess[str]"]
OURS = ("DULY_", "NO_COLOR", "FORCE_COLOR", "DATABASE_URL", "COLUMNS")


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would change duly's answers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(extra or {})}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(OURS) and not name.startswith("DULY_TEST"):
            monkeypatch.delenv(name)


@pytest.fixture
def duly() -> Duly:
    """Run ``duly`` in this process, with stdout and stderr apart."""
    runner = CliRunner()

    def run(*arguments: str, input: str | None = None, env: Mapping[str, str | None] | None = None) -> Result:
        return runner.invoke(main, list(arguments), input=input, env=env, prog_name="duly")

    return run


@pytest.fixture
def spawn(tmp_path: Path) -> Spawn:
    """Run ``duly`` as a process of its own."""

    def run(
        *arguments: str, input: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "duly", *arguments],
            input=input,
            env=clean_environment(env),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def execute(url: str, statement: str) -> None:
    """Change a database behind duly's back."""
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.execute(statement)
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as postgres:
            postgres.execute(in_duly(statement).encode())


@pytest.fixture(params=EACH_STORE)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, without duly's tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    url: str = request.getfixturevalue("fresh_postgres")
    return url


@pytest.fixture
def on_store(store_url: str) -> Duly:
    """Run ``duly`` on the store of the test."""
    runner = CliRunner()

    def run(*arguments: str, input: str | None = None) -> Result:
        env = {"DULY_DATABASE_URL": store_url}
        return runner.invoke(main, list(arguments), input=input, env=env, prog_name="duly")

    return run


@pytest.fixture(params=EACH_STORE_AND_REST)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Duly]:
    """Run ``duly`` on each store, and on a server: whichever it is, the answers are the same."""
    runner = CliRunner()
    with ExitStack() as stack:
        file = f"sqlite:///{ready_file(tmp_path, 'anywhere.db')}"
        if request.param == "server":
            env = {"DULY_API_URL": stack.enter_context(served(file))}
        else:
            env = {
                "DULY_DATABASE_URL": file if request.param == "sqlite" else request.getfixturevalue("ready_postgres")
            }

        def run(*arguments: str, input: str | None = None) -> Result:
            return runner.invoke(main, list(arguments), input=input, env=env, prog_name="duly")

        yield run


@contextmanager
def working(url: str, *jobs: str) -> Iterator[None]:
    """A live worker that knows these jobs, on a thread of this process."""
    ready, over = threading.Event(), threading.Event()

    async def work() -> None:
        app = Scheduler(url, roles=("worker",))
        for job in jobs:
            app.job(job)(lambda: None)
        async with app:
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(work()), daemon=True)
    thread.start()
    assert ready.wait(30), "the worker did not start"
    try:
        yield
    finally:
        over.set()
        thread.join(30)


@pytest.fixture
def store_user(request: pytest.FixtureRequest) -> str | None:
    """Whom the trail names: the person at the terminal on a store, nobody yet on a server without keys."""
    return None if "server" in request.node.name else getpass.getuser()
