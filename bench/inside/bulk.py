"""Pauses everything that lies in the store, by filter, from a process beside the one that fires."""

from __future__ import annotations

import asyncio
import time

from bench.inside.apps import STOCK, make_app


async def main(url: str, at: float) -> dict[str, float]:
    """Begin at an instant; answer from when to when it took, and how many were paused."""
    app = make_app(url, roles=())
    await app.open()
    try:
        await asyncio.sleep(max(0.0, at - time.time()))
        began = time.time()
        steps: list[float] = []
        done = await app.schedules.pause_many(
            job=STOCK, reason="measured", on_progress=lambda _: steps.append(time.time())
        )
        ended = time.time()
    finally:
        await app.close()
    longest = max((after - before for before, after in zip([began, *steps], steps, strict=False)), default=0.0)
    return {"began": began, "ended": ended, "paused": float(done.changed), "steps": len(steps), "longest_s": longest}
