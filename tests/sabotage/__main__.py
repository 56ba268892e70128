"""Breaks copies of the source, one guard at a time, and asks whether the tests notice. Run by ``scripts/sabotage``."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.sabotage.mutants import MUTANTS, Mutant
from tests.sabotage.targets import TOP, OutOfDate, broken_files

SHOWN = 4
PATIENCE = 3600.0
"""Seconds that no sound run takes, also on a busy machine: a build that hangs is noticed, and ended."""


def break_copy(mutant: Mutant, folder: Path) -> None:
    """Copy what the tests need and apply the mutant; a text that is not there is an error, not a pass."""
    for name in ("src", "tests", "pyproject.toml"):
        source = TOP / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    for path, content in broken_files(mutant.edits).items():
        (folder / path.relative_to(TOP)).write_text(content, "utf-8")


@cache
def failing_anyway(tests: tuple[str, ...]) -> frozenset[str]:
    """What fails, if anything, where nothing is broken: it proves nothing."""
    return frozenset() if tests[0] == "chaos" else frozenset(failing(TOP, tests))


def failing(folder: Path, tests: tuple[str, ...]) -> list[str]:
    """Run tests against the copy until a few have failed, and name these; ``chaos`` is rows of the fault matrix."""
    if tests[0] == "chaos":
        return struck(folder, tests[1:])
    options = ["-q", "-p", "no:cacheprovider", "-n", "2", "--timeout", "60", "--maxfail", str(SHOWN)]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    done = run(command, folder)
    if done is None:
        return [f"{' '.join(tests)} does not end"]
    if done.returncode not in (0, 1) and "stopping after" not in done.stdout:
        raise OutOfDate(f"{' '.join(tests)} could not be run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return sorted(set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)))


def struck(folder: Path, arguments: tuple[str, ...]) -> list[str]:
    """Strike real fleets of the copy, and answer the rows that failed."""
    done = run([sys.executable, "-m", "tests.chaos", *arguments], folder)
    if done is None:
        return [f"chaos {' '.join(arguments)} does not end"]
    return sorted(set(re.findall(r"^--- (\w+ on \w+), seed .*: FAILED", done.stdout, re.MULTILINE)))


def run(command: Sequence[str], folder: Path, *, patience: float = PATIENCE) -> subprocess.CompletedProcess[str] | None:
    """Run a command on the copy; one that does not end by itself is ended with all that it started, and is None."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(names: list[str]) -> int:
    known = [mutant.name for mutant in MUTANTS]
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"there is no mutant {', '.join(unknown)}; expected some of {', '.join(known)}")
    survived = []
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="duly-sabotage-") as folder:
                break_copy(mutant, Path(folder))
                caught = [
                    test
                    for tests in mutant.tests
                    for test in failing(Path(folder), tests)
                    if test not in failing_anyway(tests)
                ]
        except OutOfDate as reason:
            say(f"{mutant.name}: OUT OF DATE: {reason}")
            survived.append(mutant.name)
            continue
        verdict = f"caught by {len(caught)} tests, if not more" if caught else "SURVIVED"
        say("\n    ".join([f"{mutant.name}: {mutant.breaks}: {verdict}", *caught[:SHOWN]]))
        if not caught:
            survived.append(mutant.name)
    say(f"survived: {', '.join(survived) or 'none'}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
