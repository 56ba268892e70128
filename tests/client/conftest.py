"""A server on a fresh database for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.serving import served
from tests.databases import ready_file


@pytest.fixture
def server_url(tmp_path: Path) -> Iterator[str]:
    with served(f"sqlite:///{ready_file(tmp_path, 'served.db')}") as url:
        yield url
