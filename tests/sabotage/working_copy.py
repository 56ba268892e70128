"""A copy of the source that is broken and restored for one mutant after the other, and the tests that run on it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.sabotage.imports import COPY, WRONG_IMPORT
from tests.sabotage.targets import TOP, OutOfDate

Tests = tuple[str, ...]
"""Arguments for pytest, or ``chaos`` and the arguments of ``scripts/chaos``."""

MAX_FAILED = 4
"""Failed tests after which a run stops: more would prove nothing more."""
PATIENCE = 3600.0
"""Seconds that no sound run takes, also on a busy machine: a build that hangs is noticed, and ended."""
COPIED = ("src", "tests", "pyproject.toml")

_FAILED = re.compile(r"^(?:FAILED|ERROR) ((?:.(?! - ))*.)", re.MULTILINE)
_SUMMARY = " short test summary info "
_FAILED_ROW = re.compile(r"^--- (\w+) on \w+, seed .*: FAILED", re.MULTILINE)
_PASSED = re.compile(r"\b\d+ passed\b")
_USAGE_ERROR = 4
_NO_TESTS = 5


class StaleTests(Exception):
    """Tests that no longer exist."""


class Hangs(Exception):
    """Tests that do not end."""


class WorkingCopy:
    """A copy of what the tests need, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._processes: set[subprocess.Popen[str]] = set()
        self._versions = 0
        for name in COPIED:
            source = TOP / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, self.folder / name)
        self._check_imports()

    @contextmanager
    def broken(self, files: Mapping[Path, str]) -> Iterator[None]:
        """Replace the content of files temporarily.

        Python reuses compiled code for a source of the same size and the same time in whole seconds, so each content
        of a file gets a time that no other content of it had.
        """
        sound = {}
        for path, content in files.items():
            copied = self.folder / path.relative_to(TOP)
            sound[copied] = (copied.read_text("utf-8"), copied.stat().st_mtime_ns)
            self._versions += 1
            _write(copied, content, sound[copied][1] + self._versions * 1_000_000_000)
        try:
            yield
        finally:
            for copied, (content, modified_at) in sound.items():
                _write(copied, content, modified_at)

    def failing(
        self, tests: Tests, *, max_failed: int = MAX_FAILED, workers: int = 0, patience: float = PATIENCE
    ) -> list[str]:
        """Run tests until a few have failed, and return the ids of these.

        Raise StaleTests if there are no such tests, Hangs if they do not end, and OutOfDate if none of them could run.
        """
        if tests[0] == "chaos":
            done = self._run(["-m", "tests.chaos", *tests[1:]], patience)
            failed = [f"chaos {row}" for row in _FAILED_ROW.findall(done.stdout)]
        else:
            options = ["-q", "-p", "no:cacheprovider", "-p", "tests.sabotage.imports", "--timeout", "60"]
            options += ["-n", str(workers), "--maxfail", str(max_failed)]
            done = self._run(["-m", "pytest", *options, *tests], patience)
            failed = _FAILED.findall(done.stdout.rpartition(_SUMMARY)[2])
        output = f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        if done.returncode == WRONG_IMPORT:
            raise AssertionError(f"the tests do not import the copy:\n{output}")
        if done.returncode in (_USAGE_ERROR, _NO_TESTS):
            raise StaleTests(f"no such tests: {' '.join(tests)}\n{output}")
        if done.returncode != 0 and not failed:
            raise OutOfDate(f"{' '.join(tests)} could not run:\n{output}")
        if done.returncode == 0 and tests[0] != "chaos" and not _PASSED.search(done.stdout):
            raise OutOfDate(f"{' '.join(tests)}: every test was skipped:\n{output}")
        if unread := [test for test in failed if test.endswith(".py")]:
            raise OutOfDate(f"{' '.join(unread)} could not be imported, which any test notices:\n{output}")
        return sorted(set(failed))

    def end(self) -> None:
        """End the tests that run."""
        for process in list(self._processes):
            _kill_group(process)

    def _run(self, arguments: Sequence[str], patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), COPY: str(self.folder)}
        environment |= {"PYTHONHASHSEED": "0"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        ) as process:
            self._processes.add(process)
            try:
                stdout, stderr = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                raise Hangs(f"{' '.join(arguments)} does not end") from None
            finally:
                self._processes.discard(process)
                _kill_group(process)
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)

    def _check_imports(self) -> None:
        """Assert that a process started on the copy imports the copy, and not an installed duly."""
        done = self._run(["-c", "import duly, tests; print(duly.__file__); print(tests.__path__[0])"])
        imported = [Path(line) for line in done.stdout.split()]
        if len(imported) != 2 or not all(path.is_relative_to(self.folder) for path in imported):
            raise AssertionError(f"expected imports from {self.folder}, got {done.stdout}{done.stderr}")


def _kill_group(process: subprocess.Popen[str]) -> None:
    """End a process that still runs, with all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _write(path: Path, content: str, modified_at_ns: int) -> None:
    path.write_text(content, "utf-8")
    os.utime(path, ns=(modified_at_ns, modified_at_ns))
