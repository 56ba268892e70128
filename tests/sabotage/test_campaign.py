"""Mutants of a small project: what counts as caught, and which tests are tried first."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.sabotage import __main__ as command
from tests.sabotage import campaign, targets, working_copy
from tests.sabotage.campaign import CAUGHT, OUT_OF_DATE, SURVIVED, Campaign, Verdict, digest_source, read_log, write_log
from tests.sabotage.mutants import MUTANTS, Mutant
from tests.sabotage.targets import Edit
from tests.sabotage.working_copy import Hangs, WorkingCopy

PROJECT = """\
[tool.pytest.ini_options]
pythonpath = ["."]
addopts = ["-p", "pytest_timeout", "-p", "xdist.plugin"]
"""
TESTS = """\
import logging
import time
import pytest
from duly.sums import double, triple

def test_double():
    assert double(2) == 4

def test_triple():
    logging.error("a line of the log that starts with ERROR")
    assert triple(2) == 6

@pytest.mark.parametrize("n", [triple(2)])
def test_six(n):
    assert n == 6

@pytest.mark.skip
def test_never():
    pass

def test_hangs():
    time.sleep(600)

def test_fails_anyway():
    assert double(2) == 5
"""
FILE = "tests/test_sums.py"
TRIPLE = Edit("duly.sums.triple", "3 * n", "4 * n")

pytestmark = pytest.mark.processes


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkingCopy:
    """A copy of a project that is also called duly, so that an installed duly could be imported by mistake."""
    top, folder = tmp_path / "project", tmp_path / "copy"
    (top / "src" / "duly").mkdir(parents=True)
    (top / "src" / "duly" / "__init__.py").touch()
    (top / "src" / "duly" / "sums.py").write_text(
        "def double(n):\n    return n + n\n\n\ndef triple(n):\n    return 3 * n\n"
    )
    shutil.copytree(Path(__file__).parent, top / "tests" / "sabotage", ignore=shutil.ignore_patterns("test_*"))
    (top / FILE).write_text(TESTS)
    (top / "pyproject.toml").write_text(PROJECT)
    for module in (targets, working_copy, campaign):
        monkeypatch.setattr(module, "TOP", top)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins take longer to start than these tests
    monkeypatch.setattr(targets, "SRC", top / "src")
    folder.mkdir()
    return WorkingCopy(folder)


def try_one(
    copy: WorkingCopy, edit: Edit, tests: Sequence[str], recorded: Sequence[str] = ()
) -> tuple[Verdict, list[Verdict]]:
    """Try one mutant, and return its verdict and all that were given on the way."""
    said: list[Verdict] = []
    mutant = Mutant("wrong-sums", "sums are wrong", (edit,), tuple((test,) for test in tests))
    return Campaign([copy], {"wrong-sums": recorded}, said.append).run([mutant])["wrong-sums"], said


def test_broken_content_is_seen_and_restored_although_size_and_second_are_the_same(copy: WorkingCopy) -> None:
    assert copy.failing((f"{FILE}::test_double",)) == []
    for replacement in ("n - n", "n / n"):
        with copy.broken(targets.broken_files([Edit("duly.sums.double", "n + n", replacement)])):
            assert copy.failing((f"{FILE}::test_double",)) == [f"{FILE}::test_double"]
    assert copy.failing((f"{FILE}::test_double",)) == []


def test_run_that_imports_another_duly_is_an_error(copy: WorkingCopy) -> None:
    (copy.folder / "src").rename(copy.folder / "gone")
    with pytest.raises(AssertionError, match="the tests do not import the copy"):
        copy.failing((f"{FILE}::test_double",))


def test_tests_that_hang_are_ended(copy: WorkingCopy) -> None:
    with pytest.raises(Hangs):
        copy.failing((f"{FILE}::test_hangs",), patience=3)


def test_mutant_is_caught_by_its_tests(copy: WorkingCopy) -> None:
    verdict, _ = try_one(copy, TRIPLE, [f"{FILE}::test_double", f"{FILE}::test_triple"])
    assert (verdict.result, verdict.by, verdict.first) == (CAUGHT, (f"{FILE}::test_triple",), False)


def test_recorded_test_is_tried_first(copy: WorkingCopy) -> None:
    verdict, _ = try_one(copy, TRIPLE, [f"{FILE}::test_double"], recorded=[f"{FILE}::test_triple"])
    assert (verdict.result, verdict.by, verdict.first) == (CAUGHT, (f"{FILE}::test_triple",), True)


@pytest.mark.parametrize(
    "recorded", [f"{FILE}::test_renamed", "tests/test_moved.py::test_triple", f"{FILE}::test_double"]
)
def test_recorded_test_that_is_gone_or_passes_leaves_it_to_the_others(copy: WorkingCopy, recorded: str) -> None:
    verdict, _ = try_one(copy, TRIPLE, [f"{FILE}::test_triple"], recorded=[recorded])
    assert (verdict.result, verdict.by, verdict.first) == (CAUGHT, (f"{FILE}::test_triple",), False)


def test_test_that_fails_anyway_catches_nothing(copy: WorkingCopy) -> None:
    verdict, said = try_one(copy, TRIPLE, [f"{FILE}::test_fails_anyway", f"{FILE}::test_double"])
    assert [one.result for one in said] == [CAUGHT, SURVIVED]
    assert verdict.result == SURVIVED
    verdict, _ = try_one(copy, TRIPLE, [f"{FILE}::test_fails_anyway", f"{FILE}::test_triple"])
    assert (verdict.result, verdict.by) == (CAUGHT, (f"{FILE}::test_triple",))


def test_test_that_only_a_broken_copy_has_catches_nothing(copy: WorkingCopy) -> None:
    verdict, said = try_one(copy, TRIPLE, [f"{FILE}::test_six"])
    assert said[0].by == (f"{FILE}::test_six[8]",)
    assert verdict.result == SURVIVED


@pytest.mark.parametrize(
    ("edit", "test", "reason"),
    [
        (Edit("duly.sums.triple", "5 * n", "n"), f"{FILE}::test_triple", "duly.sums.triple has '5 * n' 0 times"),
        (TRIPLE, f"{FILE}::test_renamed", "no such tests"),
        (TRIPLE, f"{FILE}::test_never", "every test was skipped"),
        (Edit("duly.sums.triple", "return 3", "return"), FILE, "could not be imported"),
    ],
)
def test_mutant_that_proves_nothing_is_out_of_date(copy: WorkingCopy, edit: Edit, test: str, reason: str) -> None:
    verdict, _ = try_one(copy, edit, [test])
    assert verdict.result == OUT_OF_DATE
    assert reason in verdict.reason


def test_interrupted_run_keeps_what_was_caught_in_the_same_source(copy: WorkingCopy, tmp_path: Path) -> None:
    log, source = tmp_path / "log", digest_source()
    caught = Verdict("a", CAUGHT, by=(f"{FILE}::test_triple",), tests=(f"{FILE}::test_triple",))
    for verdict in (caught, Verdict("b", SURVIVED)):
        write_log(log, source, verdict)
    assert read_log(log, source) == [caught]
    path = targets.TOP / "src" / "duly" / "sums.py"
    path.write_text(path.read_text() + "\n")
    assert read_log(log, digest_source()) == []


def test_shards_hold_every_mutant_once() -> None:
    shards = [command.select([], (number, 4)) for number in range(1, 5)]
    assert sorted(mutant.name for shard in shards for mutant in shard) == sorted(mutant.name for mutant in MUTANTS)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/4/2", "x1/4"])
def test_shard_that_does_not_exist_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--shard", text])
    assert ended.value.code == 2
    assert "expected K/N, such as 1/4" in capsys.readouterr().err


def test_unknown_mutant_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["no-such-guard"])
    assert ended.value.code == 2
    assert "there is no mutant no-such-guard; expected some of " in capsys.readouterr().err
