"""A process with nothing due: what it costs, and how late a single due schedule is."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.inside.apps import DUE, Notes, make_app
from bench.lags import lag_figures, window_of
from bench.machine import cpu_seconds, rss_mb, server_cpu_seconds
from duly import Once

SETTLE_FOR = 3.0
APART = 0.3


async def main(
    url: str,
    spawned_at: float,
    idle_s: float = 20.0,
    singles: int = 40,
    settings: dict[str, Any] | None = None,
    server_pid: int | None = None,
) -> dict[str, float]:
    """Start, rest, measure the rest, then let ``singles`` schedules fall due one after another."""
    notes = Notes()
    app = make_app(url, settings=settings, notes=notes)
    began = time.time()
    async with app:
        ready = time.time()
        await asyncio.sleep(SETTLE_FOR)
        cpu, server, at = cpu_seconds(os.getpid()), server_cpu_seconds(server_pid), time.time()
        await asyncio.sleep(idle_s)
        passed = time.time() - at
        cpu, server = cpu_seconds(os.getpid()) - cpu, server_cpu_seconds(server_pid) - server
        resting = rss_mb(os.getpid())
        lags = await _singles(app, notes, singles)
    return {
        "ready_s": ready - began,
        "spawn_to_ready_s": ready - spawned_at,
        "rss_mb": resting,
        "cpu_percent": 100 * cpu / passed,
        "server_cpu_percent": 100 * server / passed,
        "ran": len(lags),
        **lag_figures(lags),
    }


async def _singles(app: Any, notes: Notes, singles: int) -> list[float]:
    # An odd spacing, so that no instant falls together with a poll or a heartbeat.
    first = datetime.now(UTC) + timedelta(seconds=1.5)
    tag = f"single-{time.time_ns():x}"
    due = [first + timedelta(seconds=APART * i + 0.007 * (i % 13)) for i in range(singles)]
    await app.schedules.create_many([{"key": f"{tag}-{i}", "timing": Once(at), "job": DUE} for i, at in enumerate(due)])
    await asyncio.sleep((due[-1] - datetime.now(UTC)).total_seconds() + 2.0)
    return [at - window_of(run_id) for run_id, at in notes.starts]
