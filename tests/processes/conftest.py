"""A fleet on each store. One such test at a time, also when others run beside: the machine is small."""

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.fleet import Fleet


@pytest.fixture
def alone() -> Iterator[None]:
    """Hold a lock that all test processes of this machine share."""
    with (Path(tempfile.gettempdir()) / "duly-processes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'duly.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def fleet(request: pytest.FixtureRequest, tmp_path: Path, alone: None) -> Iterator[Fleet]:
    url = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "fresh_postgres")
    fleet = Fleet(url, tmp_path)
    try:
        yield fleet
    finally:
        fleet.close()
