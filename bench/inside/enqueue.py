"""Runs enqueued per second: one call after another, many callers at once, in bulk. Nothing works on them here."""

from __future__ import annotations

import asyncio
import time

from bench.inside.apps import DUE, make_app

CALLERS = 100


async def main(url: str, n: int) -> dict[str, float]:
    """Leave ``n`` runs in the queue: a tenth by one caller, four tenths by a hundred callers, the rest in bulk."""
    app = make_app(url)
    await app.open()
    alone, together = min(2000, n // 10), n * 4 // 10 // CALLERS * CALLERS
    rest = n - alone - together
    try:
        began = time.perf_counter()
        for _ in range(alone):
            await app.enqueue(DUE)
        one = alone / (time.perf_counter() - began)

        async def caller() -> None:
            for _ in range(together // CALLERS):
                await app.enqueue(DUE)

        began = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(CALLERS)))
        many = together / (time.perf_counter() - began)
        began = time.perf_counter()
        await app.runs.enqueue_many(DUE, [{} for _ in range(rest)])
        bulk = rest / (time.perf_counter() - began)
    finally:
        await app.close()
    return {"sequential_per_s": one, "concurrent_per_s": many, "bulk_per_s": bulk}
