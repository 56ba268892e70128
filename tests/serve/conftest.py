"""Real processes, two tests at a time on a machine: others measure time beside us."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.places import a_place
from tests.serve.serving import Served
from tests.store_choice import EACH_STORE


@pytest.fixture
def own_place() -> Iterator[None]:
    """Hold a place on this machine."""
    with a_place():
        yield


@pytest.fixture
def serve(tmp_path: Path, own_place: None) -> Iterator[Callable[..., Served]]:
    """Start a ``duly serve`` in a folder of its own; killed after the test if it still runs."""
    started: list[Served] = []

    def start(*arguments: str, **options: object) -> Served:
        served = Served(tmp_path, *arguments, **options)  # type: ignore[arg-type]
        started.append(served)
        return served

    yield start
    for served in started:
        served.close()


@pytest.fixture(params=EACH_STORE)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'shared.db'}"
    url: str = request.getfixturevalue("fresh_postgres")
    return url
