"""Measures one operation on one store: warmed up, on a clock that stands, with ids from a seed.

Hints to other instances go out by real time on a thread of their own, and may be lost; none are sent here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter as Texts
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from duly import Duly
from duly.runtime.chance import Chance
from duly.testing import ManualClock
from duly.testing.travelling import travel_settings
from tests.costs.operations import JOB, OPERATIONS, Bench
from tests.costs.postgres_counter import PostgresCounter
from tests.costs.python_calls import PythonCalls
from tests.costs.sqlite_counter import SqliteCounter
from tests.databases import fresh_database, ready_file

WARM_UPS = 2
REPETITIONS = 3
MAX_REPETITIONS = 30

Figures = Mapping[str, int]


class Counter(Protocol):
    """Counts what a database does for an app."""

    statements: list[str]
    prepared: bool

    def start(self) -> None: ...
    def stop(self) -> dict[str, int]: ...


@dataclass
class Meter:
    """Counts, once the operation is warm."""

    database: Counter
    python: PythonCalls
    clock: ManualClock
    is_warm: bool = False
    calls_under_way: int = 0
    counted: list[dict[str, int]] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    async def start(self) -> None:
        if self.is_warm:
            await self._rest()
            self.database.start()
            self.python.start()

    async def stop(self) -> None:
        if self.is_warm:
            self.python.stop()
            figures = self.database.stop()
            if self.database.prepared:
                return  # by a connection that the operation has not used yet
            self.statements = self.statements or self.database.statements[:]
            self.counted.append({**figures, "python_calls": self.python.total})

    def watch(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Let a count begin only when no such call is under way."""

        async def watched(*args: Any, **kwargs: Any) -> Any:
            self.calls_under_way += 1
            try:
                return await call(*args, **kwargs)
            finally:
                self.calls_under_way -= 1

        return watched

    async def _rest(self) -> None:
        """Return when the event loop has nothing to do, no call is under way and no thread is at work."""
        while True:
            await self.clock.settle()
            self.python.wait_for_rest()
            await self.clock.settle()
            if not self.calls_under_way:
                return
            await asyncio.sleep(0.0005)


@dataclass(frozen=True)
class Measured:
    """What one operation costs, and the statements that were sent."""

    figures: Figures
    statements: list[str]

    def summary(self) -> list[str]:
        """The statements in one line each, the same ones together."""
        texts = Texts(" ".join(statement.split())[:160] for statement in self.statements)
        return [text if count == 1 else f"{count} x {text}" for text, count in texts.items()]


async def measure(name: str, url: str, database: Counter) -> Measured:
    """Measure an operation; the database has the schema and nothing else in it.

    What the database does is counted in the first repetition after the warm-ups; one in which a connection still has
    to prepare a statement is a warm-up, too. Python calls are the least of all repetitions: the
    only calls that are not the same each time are waits for a server whose answer comes in parts.
    """
    clock = ManualClock()
    python = PythonCalls()
    meter = Meter(database, python, clock)
    with python.installed(), _without_logs():
        app = Duly(url, clock=clock, chance=Chance(23), settings=travel_settings())
        app.job(JOB)(_report)
        driver: Any = app._store.driver
        driver.hint = driver.on_hint = lambda _: None
        driver.write, driver.read = meter.watch(driver.write), meter.watch(driver.read)
        await app.open()
        try:
            repetitions = OPERATIONS[name](Bench(app, clock, meter))
            for number in range(MAX_REPETITIONS):
                meter.is_warm = number >= WARM_UPS
                await anext(repetitions)
                if len(meter.counted) == REPETITIONS:
                    break
            await repetitions.aclose()  # type: ignore[attr-defined]  # all are generators
        finally:
            await app.close()
    assert len(meter.counted) == REPETITIONS, "statements are prepared again and again"
    figures = meter.counted[0]
    figures["python_calls"] = min(counted["python_calls"] for counted in meter.counted)
    return Measured(figures, meter.statements)


async def measure_sqlite(name: str, folder: Path) -> Measured:
    path = ready_file(folder)
    counter = SqliteCounter(path)
    with counter.installed():
        return await measure(name, f"sqlite:///{path}", counter)


async def measure_postgres(name: str, server_url: str, template: str) -> Measured:
    """Measure on a new copy of a database: the free space of pages that others used would change what is written."""
    with ExitStack() as stack:
        url = stack.enter_context(fresh_database(server_url, template))
        counter = PostgresCounter(url)
        stack.enter_context(counter.installed())
        return await measure(name, url, counter)


@contextmanager
def _without_logs() -> Iterator[None]:
    """What a line of a log costs depends on who else wants it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


async def _report(day: str = "monday") -> None: ...
