"""``scripts/nightly`` runs its parts together or apart, prints the figures of each, and fails if one failed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sabotage.targets import TOP

pytestmark = pytest.mark.processes

STUBS = {
    "sabotage": "echo trying; echo '--- figures of sabotage'; echo \"3 mutants tried with $*\"; exit ${SABOTAGE:-0}",
    "chaos": "echo striking; echo '| row | with '\"$*\"; echo '5 rows'; exit ${CHAOS:-0}",
    "test": (
        "echo '....'; echo \"${DULY_DIFF_SEEDS:-9} passed with $* in 3 s\"\n"
        "case $* in *--every-store*) exit ${STORES:-0} ;; esac; exit ${DIFFERENTIAL:-0}"
    ),
}
SABOTAGE = ["--- figures of sabotage", "3 mutants tried with"]
CHAOS = ["| row | with --tier short", "5 rows"]
STORES = ["9 passed with -q --every-store tests/app tests/api tests/cli"]
DIFFERENTIAL = ["1000 passed with -q tests/differential/test_stores_agree.py"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The script beside others that only print what they were called with."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    shutil.copy(TOP / "scripts" / "nightly", scripts)
    for name, body in STUBS.items():
        (scripts / name).write_text(f"#!/bin/sh\n{body}\n")
        (scripts / name).chmod(0o755)
    return tmp_path


def nightly(folder: Path, *arguments: str, **environment: str) -> tuple[int, list[str]]:
    """Run the script, and return its exit code and the figures that it prints at the end, without the seconds."""
    done = subprocess.run(
        ["scripts/nightly", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    figures = done.stdout.rpartition("\n\n")[2].splitlines() or done.stderr.splitlines()
    assert list(folder.iterdir()) == [folder / "scripts"], "its logs are removed"
    return done.returncode, [line.rpartition(" in ")[0] or line.rstrip() for line in figures]


def test_all_parts_run_and_print_their_figures(folder: Path) -> None:
    code, figures = nightly(folder)
    assert code == 0
    assert figures == [
        *CHAOS, "=== chaos passed", *DIFFERENTIAL, "=== differential passed", *SABOTAGE, "=== sabotage passed",
        *STORES, "=== stores passed",
    ]  # fmt: skip


@pytest.mark.parametrize("part", ["sabotage", "chaos", "differential", "stores"])
def test_part_that_fails_makes_it_fail_after_the_others(folder: Path, part: str) -> None:
    code, figures = nightly(folder, **{part.upper(): "3"})
    assert code == 1
    verdicts = {one: "FAILED" if one == part else "passed" for one in ("chaos", "differential", "sabotage", "stores")}
    assert [line for line in figures if line.startswith("===")] == [f"=== {one} {verdicts[one]}" for one in verdicts]


def test_parts_run_apart_with_their_options(folder: Path) -> None:
    assert nightly(folder, "sabotage", "2/4", "--resume") == (
        0,
        ["--- figures of sabotage", "3 mutants tried with --shard 2/4 --resume", "=== sabotage passed"],
    )
    assert nightly(folder, "sabotage", "--resume")[1][1] == "3 mutants tried with --resume"
    assert nightly(folder, "chaos", "--seed", "7")[1][0] == "| row | with --tier short --seed 7"
    assert nightly(folder, "differential", DULY_NIGHTLY_SEEDS="5")[1][0].startswith("5 passed")
    assert nightly(folder, "chaos", CHAOS="1")[0] == 1


def test_part_that_does_not_exist_is_refused(folder: Path) -> None:
    assert nightly(folder, "fuzz") == (
        2,
        ["scripts/nightly: there is no part 'fuzz'; expected sabotage [K/N], chaos, differential or stores"],
    )
    code, message = nightly(folder, DULY_NIGHTLY_SEEDS="many")
    assert (code, message) == (2, ["scripts/nightly: DULY_NIGHTLY_SEEDS is 'many'; expected a number above 0"])
