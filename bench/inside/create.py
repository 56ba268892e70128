"""Schedules created per second: one call after another, many callers at once, in bulk."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

from bench.inside.apps import STOCK, make_app
from duly import Duly, Every


class Creator:
    """Makes schedules that are all different and due far away."""

    def __init__(self, app: Duly) -> None:
        self._app = app
        self._made = 0
        self._first = datetime.now(UTC) + timedelta(days=60)
        self._tag = f"c{time.time_ns():x}"

    def arguments(self) -> dict[str, object]:
        self._made += 1
        timing = Every(days=1000, anchor=self._first + timedelta(seconds=self._made))
        return {"key": f"{self._tag}-{self._made}", "timing": timing, "job": STOCK, "payload": {"i": self._made}}

    async def one_by_one(self, seconds: float) -> int:
        """Create until the time is up; answer how many."""
        end = time.perf_counter() + seconds
        made = 0
        while time.perf_counter() < end:
            await self._app.schedules.create(**self.arguments())  # type: ignore[arg-type]
            made += 1
        return made


async def main(url: str, seconds: float = 3.0, callers: int = 100, bulk: int = 20_000) -> dict[str, float]:
    app = make_app(url)
    await app.open()
    try:
        creator = Creator(app)
        await creator.one_by_one(0.3)
        began = time.perf_counter()
        alone = await creator.one_by_one(seconds) / (time.perf_counter() - began)
        began = time.perf_counter()
        made = await asyncio.gather(*(creator.one_by_one(seconds) for _ in range(callers)))
        together = sum(made) / (time.perf_counter() - began)
        wanted = [creator.arguments() for _ in range(bulk)]
        began = time.perf_counter()
        await app.schedules.create_many(wanted)
        in_bulk = bulk / (time.perf_counter() - began)
    finally:
        await app.close()
    return {"sequential_per_s": alone, "concurrent_per_s": together, "bulk_per_s": in_bulk}
