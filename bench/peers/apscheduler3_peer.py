"""APScheduler 3, AsyncIOScheduler on its SQLAlchemy job store.

usage: {sqlite|postgres} recurring N | steady RATE SECONDS | create N
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from apscheduler.events import EVENT_JOB_EXECUTED
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger
from common import Row, answer, burst_figures, fresh_postgres, fresh_sqlite, lag_figures

rows: list[Row] = []


async def noop(i: int) -> float:
    now = time.time()
    rows.append((i, now, 0.0))
    return now


def add(scheduler: Any, i: int, first: datetime, **period: int) -> None:
    trigger = IntervalTrigger(**period, start_date=first)
    scheduler.add_job(noop, trigger, args=(i,), id=str(i), next_run_time=first, misfire_grace_time=None)


def lead(scheduler: Any, n: int) -> float:
    """An instant that leaves time to add ``n`` jobs, found by adding some."""
    began = time.time()
    for i in range(100):
        add(scheduler, i, datetime.now(UTC) + timedelta(days=1), hours=1)
    each = (time.time() - began) / 100
    scheduler.remove_all_jobs()
    return float(int(time.time() + 5 + 2 * n * each))


async def recurring(scheduler: Any, n: int) -> dict[str, float]:
    at = lead(scheduler, n)
    for i in range(n):
        add(scheduler, i, datetime.fromtimestamp(at, UTC), hours=1)
    if time.time() > at - 0.5:
        sys.exit("the lead was too short")
    scheduler.resume()
    while len(rows) < n and time.time() < at + 300:  # noqa: ASYNC110 - a look now and then disturbs least
        await asyncio.sleep(0.1)
    return burst_figures(rows, n, at)


async def steady(scheduler: Any, rate: int, seconds: int) -> dict[str, float]:
    ran: list[tuple[float, float]] = []
    scheduler.add_listener(lambda e: ran.append((e.scheduled_run_time.timestamp(), e.retval)), EVENT_JOB_EXECUTED)
    at = lead(scheduler, rate)
    for i in range(rate):
        add(scheduler, i, datetime.fromtimestamp(at + i / rate, UTC), seconds=1)
    if time.time() > at - 0.5:
        sys.exit("the lead was too short")
    scheduler.resume()
    await asyncio.sleep(at + seconds - time.time())
    done = [(due, ran_at) for due, ran_at in ran if due < at + seconds]
    return {"held_per_s": len(done) / seconds, **lag_figures(ran_at - due for due, ran_at in done)}


async def create(scheduler: Any, n: int) -> dict[str, float]:
    far = datetime.now(UTC) + timedelta(days=365)
    began = time.time()
    made = 0
    while made < n and time.time() - began < 20:
        add(scheduler, made, far + timedelta(milliseconds=made), hours=1)
        made += 1
    return {"sequential_per_s": made / (time.time() - began)}


async def main() -> None:
    kind, cell = sys.argv[1:3]
    if kind == "sqlite":
        url = "sqlite:///" + fresh_sqlite("peer_apscheduler3")
    else:
        url = fresh_postgres("peer_apscheduler3").replace("postgresql://", "postgresql+psycopg2://")
    scheduler = AsyncIOScheduler(jobstores={"default": SQLAlchemyJobStore(url=url)}, timezone=UTC)
    scheduler.start(paused=True)
    cells = {"recurring": recurring, "steady": steady, "create": create}
    answer(await cells[cell](scheduler, *map(int, sys.argv[3:])))


if __name__ == "__main__":
    # Jobs are stored by name: this module must be found under one that can be imported again.
    sys.modules["apscheduler3_peer"] = sys.modules["__main__"]
    noop.__module__ = "apscheduler3_peer"
    asyncio.run(main())
