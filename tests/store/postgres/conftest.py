from collections.abc import AsyncIterator, Iterator

import pytest

from duly.store.postgres import postgres_store
from duly.store.sql import SqlStore
from tests.store.postgres.making import PATIENT, SetClock
from tests.store.postgres.proxy import Proxy, proxy_before

START = 1_800_000_000_000


@pytest.fixture
def clock() -> SetClock:
    return SetClock(START)


@pytest.fixture
async def store(fresh_postgres: str, clock: SetClock) -> AsyncIterator[SqlStore]:
    """A store on an empty database, with a clock that stands."""
    store = postgres_store(fresh_postgres, clock=clock, limits=PATIENT)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def hints_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that takes on a busy machine: one that cannot be sent within two seconds is dropped."""
    monkeypatch.setattr("duly.store.postgres.driver._HINT_WITHIN_S", 60.0)


@pytest.fixture
def proxy(fresh_postgres: str) -> Iterator[Proxy]:
    """A proxy before the database of `fresh_postgres`."""
    with proxy_before(fresh_postgres) as proxy:
        yield proxy
