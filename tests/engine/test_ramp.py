"""After a start with a backlog claims ramp up; an idle system is never made to wait. And clocks that are apart."""

import asyncio
import logging
from dataclasses import replace

import pytest

from duly.engine.places import AT_FIRST, Places
from duly.runtime.events import LogObserver
from tests.engine.lab import SETTINGS, Lab

MANY = AT_FIRST * 4


def test_places_grow_over_the_first_seconds() -> None:
    places = Places(1000, frozenset, ramp_up=5.0)
    seen = []
    for now in (7.0, 8.0, 9.5, 12.0):
        places.grow(now)
        seen.append(places.most)
    assert seen == [100, 280, 550, 1000]
    assert not places.ramping
    assert [Places(most, frozenset, ramp_up=5.0).ramping for most in (AT_FIRST, AT_FIRST + 1)] == [False, True]
    assert not Places(1000, frozenset, ramp_up=0).ramping


async def test_a_backlog_is_taken_little_by_little(lab: Lab) -> None:
    over = asyncio.Event()

    @lab.job("work")
    async def work() -> None:
        await over.wait()

    for _ in range(MANY):
        await lab.enqueue("work")
    instance = await lab.start(settings=replace(SETTINGS, concurrency=MANY, ramp_up=4))
    active = [instance.active]
    for _ in range(5):
        await lab.clock.advance(seconds=1)
        active.append(instance.active)
    over.set()
    await lab.clock.settle()
    assert active[0] == AT_FIRST
    assert active == sorted(active)
    assert active[1] < active[2] < MANY
    assert active[-1] == MANY


async def test_without_a_backlog_all_places_are_there(lab: Lab) -> None:
    over = asyncio.Event()

    @lab.job("work")
    async def work() -> None:
        await over.wait()

    instance = await lab.start(settings=replace(SETTINGS, concurrency=MANY, ramp_up=60))
    await lab.clock.advance(milliseconds=100)
    for _ in range(MANY):
        await lab.enqueue("work")
    instance.wake_worker()
    await lab.clock.advance(seconds=1.1)  # batches wait for half the places, a poll at most
    active = instance.active
    over.set()
    await lab.clock.settle()
    assert active == MANY


async def test_a13_skew_is_measured_at_beats(lab: Lab) -> None:
    await lab.start()
    await lab.clock.advance(seconds=6)
    assert lab.recorder.all("clock_skewed")[-1] == (0,)


def test_a_clock_that_is_apart_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    observer = LogObserver()
    with caplog.at_level(logging.WARNING, "duly.engine"):
        for skew in (100, -3000, -3100, 50):
            observer.clock_skewed(skew)
    own = [record for record in caplog.records if record.name == "duly.engine"]
    assert [record.getMessage().split(":")[0] for record in own] == [
        "the store's clock is 3.0 s behind this machine's",
        "the store's clock and this machine's agree again",
    ]
