"""The laboratory of the engine, with places outside."""

from collections.abc import Iterator
from typing import Any

import pytest

from duly import Every
from duly.core.outside import handler_of_target
from duly.targets.delivering import Deliverer, Surroundings
from duly.testing import ManualClock, Watched
from tests.conftest import need
from tests.engine.conftest import clock, lab
from tests.engine.lab import Lab, Recorder
from tests.servers import Server, redis_server
from tests.targets.limits import be_as_shipped, be_patient

__all__ = ["clock", "lab", "outside"]

SELDOM = Every(days=3650)
"""A timing whose next window is in December 2029: on a real clock nothing fires beside what a test triggers."""


class Outside:
    """Lets the registry of a laboratory deliver to targets; what it paused is kept, or refused as ``no_pause`` says."""

    def __init__(self, lab: Lab, clock: ManualClock) -> None:
        self._lab = lab
        self._clock = clock
        self.paused: list[tuple[str, str | None]] = []
        self.no_pause: Exception | None = None

    def add(
        self, name: str, target: Any, *, most: int = 10, together: bool = True, recorder: Recorder | None = None
    ) -> Deliverer:
        around = Surroundings(
            clock=self._clock,
            observer=recorder or self._lab.recorder,
            most=most,
            find=self._lab.store.read_schedules,
            pause=self._pause,
        )
        deliverer = Deliverer(Watched(target, self._clock), name, around, together=together)
        self._lab.registry.put(deliverer.handler(handler_of_target(name)))
        return deliverer

    async def _pause(self, ref: str, *, reason: str | None = None) -> None:
        if self.no_pause is not None:
            raise self.no_pause
        self.paused.append((ref, reason))


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Let no target give up on a server that is only slow."""
    be_patient()
    yield
    be_as_shipped()


@pytest.fixture(scope="session")
def durable_redis() -> Iterator[Server]:
    """A Redis that keeps what it confirmed, and that a test may kill."""
    with need("redis"), redis_server(durable=True) as server:
        yield server


@pytest.fixture
def outside(lab: Lab, clock: ManualClock) -> Outside:
    return Outside(lab, clock)
