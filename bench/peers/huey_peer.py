"""huey on SQLite with its own defaults: WAL, not synced at every commit; worker threads, a look every second.

usage: oneshot N | steady RATE SECONDS | create N | queue N
"""

from __future__ import annotations

import logging
import sys
import time
from datetime import datetime, timedelta

from common import Row, answer, burst_figures, fresh_sqlite, lag_figures
from huey import SqliteHuey

logging.disable(logging.CRITICAL)
huey = SqliteHuey("bench", filename=fresh_sqlite("peer_huey"), results=False, utc=False)
rows: list[Row] = []


@huey.task()
def noop(i: int, due: float = 0.0) -> None:
    rows.append((i, time.time(), due))


def consume(workers: int = 2) -> None:
    huey.create_consumer(
        workers=workers, worker_type="thread", periodic=False, initial_delay=0.01, max_delay=0.1,
        scheduler_interval=1, flush_locks=False,
    ).start()  # fmt: skip


def file_away(at: float) -> None:
    """Scheduled tasks pass through the queue first: let the consumer file them before they are due."""
    consume()
    while huey.pending_count() and time.time() < at:
        time.sleep(0.1)
    if time.time() > at:
        sys.exit("the lead was too short")


def wait_for(n: int, limit: float) -> None:
    end = time.time() + limit
    while time.time() < end and len(rows) < n:
        time.sleep(0.02)


def local(at: float) -> datetime:
    return datetime.fromtimestamp(at)  # noqa: DTZ006 - huey compares with the local clock


def oneshot(n: int) -> dict[str, float]:
    at = float(int(time.time() + 6 + n / 500))
    for i in range(n):
        noop.schedule(args=(i,), eta=local(at))
    file_away(at)
    wait_for(n, at - time.time() + 150)
    return burst_figures(rows, n, at)


def steady(rate: int, seconds: int) -> dict[str, float]:
    at = float(int(time.time() + 8 + rate * seconds / 400))
    for i in range(rate * seconds):
        due = at + i / rate
        noop.schedule(args=(i, due), eta=local(due))
    file_away(at)
    time.sleep(max(0.0, at + seconds + 1 - time.time()))
    return {"held_per_s": len(rows) / seconds, **lag_figures(ran_at - due for _, ran_at, due in rows)}


def create(n: int) -> dict[str, float]:
    far = local(time.time()) + timedelta(days=365)
    began = time.time()
    made = 0
    while made < n and time.time() - began < 20:
        noop.schedule(args=(made,), eta=far)
        made += 1
    return {"sequential_per_s": made / (time.time() - began)}


def queue(n: int) -> dict[str, float]:
    for i in range(n):
        noop(i)
    began = time.time()
    consume(1)
    wait_for(n, 150)
    return {"per_s": len(rows) / (time.time() - began), "missed": n - len(rows), "doubled": 0}


cells = {"oneshot": oneshot, "steady": steady, "create": create, "queue": queue}
answer(cells[sys.argv[1]](*map(int, sys.argv[2:])))
