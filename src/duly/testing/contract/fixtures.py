"""What the tests of the contract ask pytest for."""

from __future__ import annotations

import pytest

from duly.store.protocol import Store
from duly.testing.clock import ManualClock
from duly.testing.contract.access import Access
from duly.testing.contract.trial import Trial


@pytest.fixture
def clock() -> ManualClock:
    """The clock of the store under test; the store has to be given this very one."""
    return ManualClock()


@pytest.fixture
def trial(store: Store, clock: ManualClock) -> Trial:
    return Trial(store, clock)


@pytest.fixture
def access() -> Access:
    """Define this fixture beside ``store`` to run the tests that look behind it."""
    pytest.skip("no access behind this store")
