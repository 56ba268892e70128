"""A small run of what ``scripts/fuzz`` does at length."""

from pathlib import Path

import pytest

from tests.bad_inputs.fuzzing import fuzz
from tests.store_choice import EACH_STORE


@pytest.mark.processes
@pytest.mark.timeout(600, func_only=True)
@pytest.mark.parametrize("store", EACH_STORE)
def test_the_api_does_what_its_document_says(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = f"sqlite:///{tmp_path}/x.db" if store == "sqlite" else request.getfixturevalue("fresh_postgres")
    outcome = fuzz(tmp_path, url, seed=20, max_examples=4, phases="fuzzing")
    assert outcome.sound, outcome.said + outcome.log
    assert outcome.cases > 100
