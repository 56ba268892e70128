"""Every mutant can be tried: each edit fits its target, and the tests that are to fail exist."""

import ast
from collections import Counter

import pytest

from tests.sabotage.__main__ import read_recorded
from tests.sabotage.mutants import MUTANTS, RETIRED, Mutant
from tests.sabotage.targets import TOP, broken_files

NAMES = 159
"""Mutants, retired ones included. A new mutant raises it."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_applies_exactly_once(mutant: Mutant) -> None:
    files = broken_files(mutant.edits)
    assert files
    for path, content in files.items():
        assert content != path.read_text("utf-8")
        if path.suffix == ".py":
            ast.parse(content)
    for tests in mutant.tests:
        assert tests[0] == "chaos" or (TOP / tests[0].partition("::")[0]).exists(), f"there is no {tests[0]}"


def test_mutants_have_unique_names_and_no_name_is_lost() -> None:
    names = Counter([*(mutant.name for mutant in MUTANTS), *RETIRED])
    assert names.most_common(1)[0][1] == 1
    assert len(names) == NAMES, "a mutant that can no longer be tried moves to RETIRED with the reason"
    assert all(len(reason) > 20 for reason in RETIRED.values())


def test_every_mutant_has_recorded_tests() -> None:
    """Run ``scripts/sabotage --record NAME`` for a new mutant."""
    recorded = read_recorded()
    assert recorded.keys() == {mutant.name for mutant in MUTANTS}
    assert all(recorded.values())
