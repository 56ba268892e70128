"""The reference pages say what the program says."""

import pytest

from tests.docs.reference import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_the_program_says(name: str) -> None:
    kept = (DOCS / name).read_text("utf-8")
    assert kept == PAGES[name](), "write it anew: python -m tests.docs.reference"
