"""Every mutant can still be tried: what it breaks is there, and so are the tests that are to notice."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.sabotage.__main__ import TOP, run
from tests.sabotage.mutants import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_up_to_date(mutant: Mutant) -> None:
    for file, text, instead in mutant.edits:
        assert text in (TOP / file).read_text(), f"{file} has no {text!r} any more"
        assert text != instead
    for tests in mutant.tests:
        assert tests[0] == "chaos" or (TOP / tests[0].partition("::")[0]).exists(), f"there is no {tests[0]}"


def test_each_has_a_name_of_its_own() -> None:
    assert Counter(mutant.name for mutant in MUTANTS).most_common(1)[0][1] == 1


def test_a_run_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    assert run([sys.executable, "-c", started], tmp_path, patience=0.5) is None
    done = run([sys.executable, "-c", "print('over')"], tmp_path)
    assert done is not None
    assert (done.returncode, done.stdout) == (0, "over\n")
