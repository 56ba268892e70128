"""A fleet on each store. Two such tests at a time, also when others run beside: the machine is small."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import a_place
from tests.processes.fleet import Fleet
from tests.store_choice import EACH_STORE
from tests.warm import Warm


@pytest.fixture
def own_place() -> Iterator[None]:
    """Hold a place on this machine."""
    with a_place():
        yield


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'duly.db'}"


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    warm = Warm()
    yield warm
    warm.close()


@pytest.fixture(params=EACH_STORE)
def fleet(request: pytest.FixtureRequest, tmp_path: Path, own_place: None, warm: Warm) -> Iterator[Fleet]:
    url = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "fresh_postgres")
    fleet = Fleet(url, tmp_path, warm)
    try:
        yield fleet
    finally:
        fleet.close()
