"""``--fast``: what it leaves out, that it counts it, and that nothing slips through."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

HOME = Path(__file__).parents[1]

TESTS = """
import subprocess, sys
import pytest

@pytest.fixture
def postgres_url():
    raise AssertionError("a fast run asks for no server")

@pytest.fixture
def database(postgres_url): ...

@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.server)])
def url(request):
    return request.param if request.param == "sqlite" else request.getfixturevalue("database")

def test_of_a_server(database): ...

@pytest.mark.server
def test_that_says_so(): ...

def test_of_each_store(url): ...

@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_of_words(dialect): ...

@pytest.mark.processes
def test_of_processes(): ...

@pytest.mark.slow
def test_that_takes_long(): ...
"""
UNMARKED = """
import subprocess, sys

def test_unmarked():
    subprocess.run([sys.executable, "-c", ""], check=True)
"""


def run(folder: Path, text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.fast"]\n')
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    server: ''\n    processes: ''\n    slow: ''\n")
    (folder / "test_sample.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "xdist.plugin",
        "--rootdir",
        str(folder),
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [*command, *arguments, "."],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(HOME), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_tests_that_need_more_than_this_process_are_left_out_and_counted_by_reason(
    tmp_path: Path, workers: str
) -> None:
    done = run(tmp_path, TESTS, "--fast", "-n", workers)
    assert done.returncode == 0, done.stdout
    told = "fast: 3 tests ran, 5 were left out (3 need a server, 1 start processes, 1 are marked slow)\n"
    assert told in done.stdout


def test_a_process_that_the_rule_did_not_see_fails_its_test(tmp_path: Path) -> None:
    done = run(tmp_path, UNMARKED, "--fast")
    assert done.returncode == 1
    assert "mark it @pytest.mark.processes" in done.stdout


def test_a_run_that_leaves_everything_out_is_no_success(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "--fast", "-k", "processes")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "fast: 0 tests ran, 1 were left out (1 start processes)" in done.stdout


def test_without_the_option_everything_runs(tmp_path: Path) -> None:
    done = run(tmp_path, UNMARKED)
    assert done.returncode == 0
    assert "left out" not in done.stdout
