"""Programs whose jobs have processes of their own, run as their users run them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from duly import Duly
from duly.core.errors import ConfigurationError
from tests.app.conftest import PATIENCE

HOLDS = """
import asyncio, os, sys, duly

app = duly.Duly("sqlite:///jobs.db")

@app.job("hold", process=True)
def hold():
    held = open("alive", "w")
    held.write("begun\\n")
    held.flush()
    while True:
        sum(range(1000))

async def main():
    async with app:
        await app.runs.wait((await app.enqueue("hold")).id, timeout=3600)

if __name__ == "__main__":
    asyncio.run(main())
"""

UNGUARDED = """
import asyncio, duly

app = duly.Duly("sqlite:///jobs.db")

@app.job("mail")
async def mail():
    print("mail sent", flush=True)

@app.job("render", process=True, retry=duly.Retry(max_attempts=1))
def render():
    return "rendered"

async def main():
    async with app:
        await app.runs.wait((await app.enqueue("mail")).id, timeout=60)
        done = await app.runs.wait((await app.enqueue("render")).id, timeout=60)
        print(done.status, done.error_message, flush=True)

asyncio.run(main())
"""


@contextmanager
def started(text: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    (folder / "program.py").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "program.py"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.processes
async def test_a_handler_s_process_ends_with_its_worker_however_that_went(tmp_path: Path) -> None:
    """Else it would go on beside the attempt of who takes over, and past its timeout."""
    os.mkfifo(tmp_path / "alive")
    with started(HOLDS, tmp_path) as worker, await asyncio.to_thread((tmp_path / "alive").open) as alive:
        assert alive.readline() == "begun\n"
        worker.send_signal(signal.SIGKILL)
        end = asyncio.to_thread(alive.read)  # until nobody holds the other side
        assert await asyncio.wait_for(end, PATIENCE) == ""


FORKS = """
import asyncio, os, time, duly

app = duly.Duly("sqlite:///jobs.db")

@app.job("fork", process=True, retry=duly.Retry(max_attempts=1))
def fork():
    if os.fork() == 0:
        open("alive").read()
        os._exit(0)
    os.kill(os.getpid(), 9)

async def main():
    async with app:
        done = await app.runs.wait((await app.enqueue("fork")).id, timeout=60)
        print(done.status, done.error_message, flush=True)

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.processes
def test_the_end_of_a_handler_s_process_is_noticed_while_one_that_it_forked_lives_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    # The forked one lives until this side is closed.
    with started(FORKS, tmp_path) as program, (tmp_path / "alive").open("rb+", buffering=0):
        assert program.stdout is not None
        ended = program.stdout.readline()
    assert ended.startswith("failed ProcessDied: the handler's process ended with exit code -9")


@pytest.mark.processes
def test_a_program_that_starts_when_it_is_imported_is_told_so_and_does_not_run_twice(tmp_path: Path) -> None:
    with started(UNGUARDED, tmp_path) as program:
        out, err = program.communicate(timeout=PATIENCE)
    sent, ended = out.splitlines()
    assert sent == "mail sent"
    assert ended.startswith("failed ProcessDied: the handler's process ended with exit code 1 and no answer, before")
    assert 'if __name__ == "__main__":' in ended
    assert "ConfigurationError: this program starts when it is imported" in err


def test_neither_does_what_is_called_without_a_loop(app: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiprocessing.process._current_process._inheriting", True, raising=False)
    with pytest.raises(ConfigurationError, match="starts when it is imported"):
        app.sync.enqueue("x")
