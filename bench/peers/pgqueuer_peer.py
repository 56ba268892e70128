"""pgqueuer on PostgreSQL (asyncpg).

usage: oneshot N | recurring N | steady RATE SECONDS | create N | queue N
``recurring`` is its cron: a list fixed in code, N entries on the next minute.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import asyncpg
from common import Row, answer, burst_figures, fresh_postgres, lag_figures
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

logging.basicConfig(level=logging.ERROR)
BATCH = 100
rows: list[Row] = []


class Peer:
    """A queue of its own, with a job that notes when it ran."""

    def __init__(self, worker: Any, caller: Any, looker: Any) -> None:
        self.queries = Queries(AsyncpgDriver(caller))
        self.queuer = PgQueuer(AsyncpgDriver(worker))
        self._looker = looker
        self._task: asyncio.Task[Any] | None = None

        @self.queuer.entrypoint("noop")
        async def noop(job: Any) -> None:
            key, _, due = job.payload.decode().partition(" ")
            rows.append((key, time.time(), float(due or 0)))

    def start(self, batch: int = BATCH) -> None:
        self._task = asyncio.create_task(self.queuer.run(batch_size=batch))

    async def bulk(self, jobs: list[tuple[str, float]], chunk: int = 2000) -> None:
        """Enqueue payloads, each with the instant it is due (0 = now)."""
        for first in range(0, len(jobs), chunk):
            some = jobs[first : first + chunk]
            waits = [timedelta(seconds=max(0.0, due - time.time()) if due else 0.0) for _, due in some]
            payloads: list[bytes | None] = [payload.encode() for payload, _ in some]
            await self.queries.enqueue(["noop"] * len(some), payloads, [0] * len(some), waits)

    async def drained(self, n: int, limit: float) -> float:
        end = time.time() + limit
        while time.time() < end:
            if len(rows) >= n and not await self._looker.fetchval("select count(*) from pgqueuer"):
                break
            await asyncio.sleep(0.02)
        return time.time()


async def oneshot(peer: Peer, n: int) -> dict[str, float]:
    at = float(int(time.time() + 6 + n / 10_000))
    await peer.bulk([(str(i), at) for i in range(n)])
    peer.start()
    done = await peer.drained(n, at - time.time() + 150)
    return burst_figures(rows, n, at, done)


async def recurring(peer: Peer, n: int) -> dict[str, float]:
    at = float(int((time.time() + 8 + n / 500) // 60 + 1) * 60)

    def noting(i: int) -> Callable[[Any], Awaitable[None]]:
        async def ran(schedule: Any) -> None:
            rows.append((i, time.time(), 0.0))

        return ran

    for i in range(n):
        peer.queuer.schedule(f"e{i}", "* * * * *")(noting(i))
    peer.start(10)
    await asyncio.sleep(max(0.0, at - time.time()))
    early = len(rows)
    end = time.time() + 50
    while len(rows) - early < n and time.time() < end:  # noqa: ASYNC110 - a look now and then disturbs least
        await asyncio.sleep(0.05)
    return burst_figures([row for row in rows if row[1] >= at], n, at)


async def steady(peer: Peer, rate: int, seconds: int) -> dict[str, float]:
    at = float(int(time.time() + 6 + rate * seconds / 10_000))
    await peer.bulk([(f"{i} {at + i / rate:.6f}", at + i / rate) for i in range(rate * seconds)])
    peer.start()
    await asyncio.sleep(at + seconds + 0.5 - time.time())
    return {"held_per_s": len(rows) / seconds, **lag_figures(ran_at - due for _, ran_at, due in rows)}


async def create(peer: Peer, n: int) -> dict[str, float]:
    began = time.time()
    for i in range(2000):
        await peer.queries.enqueue("noop", str(i).encode(), 0, timedelta(days=365))
    alone = 2000 / (time.time() - began)
    began = time.time()
    far = time.time() + 365 * 86_400
    await peer.bulk([(str(i), far) for i in range(n)])
    return {"sequential_per_s": alone, "bulk_per_s": n / (time.time() - began)}


async def queue(peer: Peer, n: int) -> dict[str, float]:
    await peer.bulk([(str(i), 0.0) for i in range(n)])
    began = time.time()
    peer.start()
    done = await peer.drained(n, 200)
    return {"per_s": len(rows) / (done - began), "missed": n - len(rows), "doubled": 0}


async def main() -> None:
    url = fresh_postgres("peer_pgqueuer")
    peer = Peer(*[await asyncpg.connect(url) for _ in range(3)])
    await peer.queries.install()
    cells = {"oneshot": oneshot, "recurring": recurring, "steady": steady, "create": create, "queue": queue}
    answer(await cells[sys.argv[1]](peer, *map(int, sys.argv[2:])))


asyncio.run(main())
