"""Readers with terminals: two at a time on a machine, as with all tests that start processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.reader import Reader
from tests.places import a_place
from tests.warm import warm_program


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a ``duly`` that starts quickly."""
    with warm_program(tmp_path_factory.mktemp("quick")) as folder:
        yield folder


@pytest.fixture
def reader(tmp_path: Path, quick: Path) -> Iterator[Reader]:
    """Somebody who follows a page in a folder of their own; what they started has ended afterwards."""
    with a_place():
        reader = Reader(tmp_path, quick)
        yield reader
        reader.close()
