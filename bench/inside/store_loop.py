"""The product's own store in a tight loop with no engine around it: what of a burst the store alone costs."""

from __future__ import annotations

import os
import time

from bench.inside.apps import DUE
from bench.machine import cpu_seconds, server_cpu_seconds
from duly import Retry, Settings
from duly.app.stores import open_store
from duly.core.run import Completed
from duly.runtime.clock import SystemClock
from duly.store.values import Instance, Settlement

SESSION = 4711


async def main(url: str, batch: int = 500, server_pid: int | None = None) -> dict[str, float]:
    """Fire everything due, claim it, settle it, one batch after another on one connection each."""
    store = open_store(url, SystemClock())
    await store.open()
    rules, retry = Settings().fire_rules, Retry()
    instance = Instance(
        session=SESSION, name="bench", host="bench", pid=os.getpid(), roles=("worker",), version="0", tz_version="0",
        jobs=(DUE,),
    )  # fmt: skip
    await store.open_session(instance, lease_ms=600_000)
    spent = {"fire": 0.0, "claim": 0.0, "settle": 0.0}
    done = 0
    cpu, server = cpu_seconds(os.getpid()), server_cpu_seconds(server_pid)
    began = time.perf_counter()
    while True:
        at = time.perf_counter()
        fired = await store.fire_due(limit=batch, rules=rules)
        spent["fire"] += time.perf_counter() - at
        at = time.perf_counter()
        claimed = await store.claim_runs(SESSION, jobs=[DUE], limit=batch)
        spent["claim"] += time.perf_counter() - at
        if not claimed.claims and not fired.windows:
            break
        at = time.perf_counter()
        await store.settle([Settlement(claim, SESSION, Completed(None), retry) for claim in claimed.claims])
        spent["settle"] += time.perf_counter() - at
        done += len(claimed.claims)
    passed = time.perf_counter() - began
    cpu, server = cpu_seconds(os.getpid()) - cpu, server_cpu_seconds(server_pid) - server
    await store.close_session(SESSION)
    await store.close()
    each = {f"{name}_us": 1e6 * seconds / max(1, done) for name, seconds in spent.items()}
    return {"per_s": done / passed, "n": done, **each, **_each(done, cpu_us=cpu, server_cpu_us=server)}


def _each(n: int, **seconds: float) -> dict[str, float]:
    return {name: 1e6 * value / max(1, n) for name, value in seconds.items()}
