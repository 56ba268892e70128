"""Apps on each store, opened but not started: nothing fires or works unless a test says so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from duly import Duly


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}"
    return str(request.getfixturevalue("fresh_postgres"))


@pytest.fixture
async def app(url: str) -> AsyncIterator[Duly]:
    app = Duly(url)
    await app.open()
    yield app
    await app.close()
