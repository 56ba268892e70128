"""Apps on each store, with a lease that no busy machine loses: nothing here waits for one to run out."""

from dataclasses import replace
from typing import Any

import pytest

from duly import Duly
from tests.app import conftest
from tests.app.conftest import MakeApp, app, url

__all__ = ["app", "make_app", "url"]
QUICK = replace(conftest.QUICK, lease=60)


@pytest.fixture
def make_app(url: str) -> MakeApp:
    """Apps on the same store; each is started by the test itself."""

    def make(**options: Any) -> Duly:
        return Duly(url, **{"settings": QUICK, **options})

    return make
