"""Puts schedules or delayed runs into a store, in bulk, without running anything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.inside.apps import DUE, STOCK, make_app
from duly import Every

CHUNK = 10_000


async def main(
    url: str,
    kind: str,
    n: int,
    at: float = 0.0,
    every_s: int = 3600,
    spread_s: float = 0.0,
    prefix: str = "due",
) -> dict[str, float]:
    """Create ``n`` of a kind: ``recurring`` first due at ``at``, ``oneshot`` runs due at ``at``, or ``stock``.

    ``spread_s`` spreads the first instants evenly from ``at`` on. Stock is due in a month and later.
    """
    app = make_app(url)
    await app.open()
    began = time.time()
    try:
        if kind == "oneshot":
            for first in range(0, n, CHUNK):
                some: list[dict[str, Any]] = [{} for _ in range(min(CHUNK, n - first))]
                await app.runs.enqueue_many(DUE, some, run_at=_utc(at))
        else:
            make = _stock(n, prefix) if kind == "stock" else _recurring(n, at, every_s, spread_s, prefix)
            while chunk := [item for _, item in zip(range(CHUNK), make, strict=False)]:
                await app.schedules.create_many(chunk)
    finally:
        await app.close()
    return {"seconds": time.time() - began, "n": n}


def _recurring(n: int, at: float, every_s: int, spread_s: float, prefix: str) -> Iterator[dict[str, Any]]:
    start = _utc(at)
    for i in range(n):
        anchor = start + timedelta(milliseconds=round(1000 * spread_s * i / n))
        timing = Every(seconds=every_s, anchor=anchor)
        yield {"key": f"{prefix}-{i}", "timing": timing, "job": DUE, "start_at": start, "payload": {"i": i}}


def _stock(n: int, prefix: str) -> Iterator[dict[str, Any]]:
    first = datetime.now(UTC) + timedelta(days=30)
    for i in range(n):
        timing = Every(days=1000, anchor=first + timedelta(seconds=i))
        yield {"key": f"{prefix}-{i}", "timing": timing, "job": STOCK, "payload": {"i": i}}


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
