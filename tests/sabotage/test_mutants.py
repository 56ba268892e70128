"""Every mutant can still be tried: what it breaks is there, and so are the tests that are to notice."""

from collections import Counter

import pytest

from tests.sabotage.__main__ import TOP
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
