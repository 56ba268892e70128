"""Runs delivered to a queue per second, by duly and by the bare client of that queue, after one another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from duly import Duly, Once
from duly.core.run import RunStatus
from duly.runtime.events import Observer
from duly.targets.envelope import Departure, message_of
from duly.targets.registering import make_target
from duly.targets.target import Confirmed

NAME = "bench"
PAYLOAD = {"type": "notification", "userId": "user-uuid-123", "message": "x" * 100}
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 500


class _Counter(Observer):
    """Knows when enough runs have ended."""

    def __init__(self, enough: int) -> None:
        self._left = enough
        self.done = asyncio.Event()

    def runs_ended(self, ended: Mapping[str, RunStatus]) -> None:
        self._left -= sum(status is RunStatus.COMPLETED for status in ended.values())
        if self._left <= 0:
            self.done.set()


async def main(url: str, target: str, n: int) -> dict[str, float]:
    """Fire ``n`` one-shots that are due and deliver each; the clock runs from the start of the app to the last end."""
    bare = await _bare(target, n)
    counter = _Counter(n)
    app = Duly(url, targets={NAME: target}, observers=[counter])
    await app.open()
    try:
        aim = {"kind": "queue", "name": NAME, "format": "raw"}
        for first in range(0, n, 1000):
            await app.schedules.create_many(
                [
                    {
                        "key": f"d{number}",
                        "timing": Once(LONG_AGO, on_past="fire"),
                        "target": aim,
                        "payload": PAYLOAD,
                        "catch_up": "all",
                    }
                    for number in range(first, min(n, first + 1000))
                ]
            )
        began, cpu = time.perf_counter(), time.process_time()
        async with app:
            await counter.done.wait()
            took, used = time.perf_counter() - began, time.process_time() - cpu
    finally:
        await app.close()
    return {"per_s": n / took, "bare_per_s": bare, "cpu_us": 1e6 * used / n}


async def _bare(url: str, n: int) -> float:
    """What the target alone takes: the same messages in batches, without a store, a claim or a fence."""
    target = make_target(NAME, url)
    await target.open()
    at = LONG_AGO
    payload = '{"type":"notification","userId":"user-uuid-123","message":"' + "x" * 100 + '"}'
    spec = {"kind": "queue", "name": NAME, "format": "raw"}
    began = time.perf_counter()
    for first in range(0, n, BATCH):
        messages = [
            message_of(Departure(run_id=f"bare-{one}", payload=payload, scheduled_at=at, fired_at=at, spec=spec))
            for one in range(first, min(n, first + BATCH))
        ]
        verdicts = await target.send(messages)
        assert all(isinstance(verdict, Confirmed) for verdict in verdicts), verdicts[0]
    took = time.perf_counter() - began
    await target.close()
    return n / took
