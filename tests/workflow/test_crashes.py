"""Workflows whose process is killed, with SIGKILL: between steps, inside one, in the middle of the undo."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from duly.app.stores import own_transaction
from tests.acceptance.rules import rule
from tests.databases import in_store
from tests.processes.conftest import own_place
from tests.store_choice import postgres_too

pytestmark = [postgres_too("processes that are killed in a transaction"), pytest.mark.processes]

__all__ = ["own_place"]
PROGRAM = Path(__file__).with_name("crashing.py")


def run_until(place: str, workflow: str, url: str, diary: Path) -> "subprocess.CompletedProcess[str]":
    """Run the program to its end; whoever comes next finds its lease run out.

    The lease itself is so long that a busy machine does not lose it: then steps would be done again.
    """
    done = subprocess.run(
        [sys.executable, str(PROGRAM), url, str(diary), place, workflow],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    with own_transaction(url) as connection:
        connection.execute(in_store(url, "UPDATE duly_instances SET expires_at = 0"))
    return done


@rule("S0.36", "S0d.15", "S0d.16", "S0d.57", "S0d.65", "H1", "H2", "I2")
@pytest.mark.timeout(180, func_only=True)
def test_h1_h2_i2_killed_anywhere_what_was_recorded_is_not_done_again(
    url: str, tmp_path: Path, own_place: None
) -> None:
    diary = tmp_path / "diary"
    for place in ("before C", "inside C", "inside undo-B-b"):
        assert run_until(place, "saga", url, diary).returncode == -signal.SIGKILL, place
    done = run_until("nowhere", "saga", url, diary)
    id, status, error = done.stdout.strip().split(" ", 2)
    assert (status, error.startswith("ValueError: it went wrong at 0.")) == ("failed", True), done
    written = [tuple(line.split()) for line in diary.read_text().splitlines()]
    assert written == [
        ("A", f"{id}:1"),
        ("B", f"{id}:2"),
        ("C", f"{id}:3"),
        ("C", f"{id}:3"),
        ("undo-C-c", f"{id}:-1"),
        ("undo-B-b", f"{id}:-2"),
        ("undo-B-b", f"{id}:-2"),
        ("undo-A-a", f"{id}:-3"),
    ]


@rule("I5")
@pytest.mark.timeout(180, func_only=True)
def test_i5_killed_in_the_middle_of_a_cancel_it_is_undone_by_another_and_nothing_twice(
    url: str, tmp_path: Path, own_place: None
) -> None:
    diary = tmp_path / "diary"
    for place in ("inside undo-C-c", "before undo-A-a"):
        assert run_until(place, "trip", url, diary).returncode == -signal.SIGKILL, place
    done = run_until("nowhere", "trip", url, diary)
    assert done.stdout.split()[1] == "cancelled", done
    assert [line.split()[0] for line in diary.read_text().splitlines()] == [
        "A", "B", "C", "undo-C-c", "undo-C-c", "undo-B-b", "undo-A-a",
    ]  # fmt: skip


@rule("S0d.29", "H14")
@pytest.mark.timeout(180, func_only=True)
def test_h14_a_step_s_writes_and_its_record_are_one_commit(url: str, tmp_path: Path, own_place: None) -> None:
    for place in ("inside pay", "after pay"):
        died = run_until(place, "payment", url, tmp_path / "diary")
        assert died.returncode == -signal.SIGKILL, died
    done = run_until("nowhere", "payment", url, tmp_path / "diary")
    assert done.stdout.strip().split(" ", 1)[1] == "completed 6", done
    with own_transaction(url) as connection:
        assert [tuple(row) for row in connection.execute("SELECT amount FROM paid").fetchall()] == [(5,)]
