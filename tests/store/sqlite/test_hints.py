"""Hints: what another process commits is told to this one's listeners."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from duly.store.sqlite import SqliteDriver
from tests.store.sqlite.making import add

WRITER = """
import asyncio, sys
from duly.runtime.clock import SystemClock
from duly.store.sqlite import SqliteDriver
from tests.store.sqlite.making import add

async def main():
    driver = SqliteDriver(sys.argv[1], clock=SystemClock(), inline=True)
    await driver.open()
    await driver.write(add("other"))
    await driver.close()

asyncio.run(main())
"""


@pytest.mark.processes
async def test_a_commit_of_another_process_is_hinted_and_our_own_is_not(driver: SqliteDriver, path: Path) -> None:
    heard: list[str] = []
    all_three = asyncio.Event()

    def listen(topic: str) -> None:
        heard.append(topic)
        if len(heard) == 3:
            all_three.set()

    driver.on_hint(listen)
    for _ in range(5):
        await driver.write(add("own"))
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", WRITER, str(path)], check=True)
    await asyncio.wait_for(all_three.wait(), 30)
    assert sorted(heard) == ["events", "runs", "schedules"]


async def test_a_listener_may_come_before_the_store_is_open(path: Path, driver: SqliteDriver, opener) -> None:
    other = SqliteDriver(path, clock=driver._clock)
    heard = asyncio.Event()
    other.on_hint(lambda topic: heard.set())
    await other.open()
    await driver.write(add("t"))
    await asyncio.wait_for(heard.wait(), 30)
    await other.close()
