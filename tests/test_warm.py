"""Processes that are forked from a warm one are started, signalled and waited for like any other."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.warm import Warm, WarmProcess, warm_program

pytestmark = pytest.mark.processes

PATIENCE = 60

SLEEPER = "import os, signal, sys\nprint(os.environ['SAY'], os.getpid(), os.getcwd(), flush=True)\nsignal.pause()\n"


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    warm = Warm()
    yield warm
    warm.close()


def start(warm: Warm, folder: Path, text: str) -> WarmProcess:
    (folder / "told.py").write_text(text)
    with (folder / "log").open("wb") as log:
        return warm.start("told", folder, {"SAY": "hello", "PYTHONPATH": str(folder)}, log)


def test_it_has_an_id_a_folder_and_an_environment_of_its_own(warm: Warm, tmp_path: Path):
    process = start(warm, tmp_path, SLEEPER)
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    while not (said := (tmp_path / "log").read_text()):
        assert process.poll() is None
    assert said.split() == ["hello", str(process.pid), str(tmp_path)]
    process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert process.poll() == process.returncode == -signal.SIGKILL
    process.send_signal(signal.SIGTERM)  # nobody is there any more


@pytest.mark.parametrize(
    "text, status", [("", 0), ("import sys; sys.exit(3)", 3), ("raise ValueError('on purpose')", 1), ("exit('no')", 1)]
)
def test_its_end_is_told(warm: Warm, tmp_path: Path, text: str, status: int):
    assert start(warm, tmp_path, text).wait(PATIENCE) == status
    assert ("on purpose" in (tmp_path / "log").read_text()) == ("on purpose" in text)


def test_a_script_finds_a_program_with_its_words_its_pipes_and_its_status(tmp_path: Path):
    with warm_program(tmp_path) as programs:
        script = "duly cron explain '0 9 * * *' | cat; duly cron explain 'no cron'; echo $?; duly --version >there"
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=tmp_path,
            env={"PATH": f"{programs}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "2"), done
    assert "09:00" in done.stdout
    assert "duly: " in done.stderr
    assert (tmp_path / "there").read_text().startswith("duly")
