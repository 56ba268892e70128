"""The machine's limit on SQLite: the same as ``limit_postgres`` through apsw, in WAL mode, synchronous FULL."""

from __future__ import annotations

import time
from typing import Any

import apsw

SCHEMA = """
create table sched (id integer primary key, name text not null, every_us integer not null,
    next_fire_at integer not null, task text not null default 'noop', payload text not null default '{}');
create table run (id integer primary key, schedule_id integer not null, scheduled_at integer not null,
    state integer not null default 0, worker text, payload text not null default '{}', created_at integer not null,
    started_at integer, lease_until integer, finished_at integer, unique (schedule_id, scheduled_at));
create index run_ready on run (scheduled_at, id) where state = 0;
create index sched_next on sched (next_fire_at);
"""
STOCK = "insert into sched (id, name, every_us, next_fire_at) values (?, ?, 86400000000, ?)"
DUE = "select id, next_fire_at, every_us from sched where next_fire_at <= ? order by next_fire_at limit ?"
INSERT = "insert or ignore into run (schedule_id, scheduled_at, created_at) values (?, ?, ?)"
MOVE = "update sched set next_fire_at = ? where id = ?"
CLAIM = """
update run set state = 1, started_at = ?, worker = 'w1', lease_until = ?
where id in (select id from run where state = 0 order by scheduled_at, id limit ?)
returning id, schedule_id, scheduled_at, payload
"""
DONE = "update run set state = 2, finished_at = ? where id = ? and state = 1"


async def main(url: str, shape: str, n: int, batch: int) -> dict[str, float]:
    """Do ``n`` of a shape to the end: ``fire``, ``full`` or ``work``, as on PostgreSQL."""
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    for pragma in ("journal_mode = wal", "synchronous = full", "cache_size = -65536", "wal_autocheckpoint = 10000"):
        connection.execute(f"pragma {pragma}")
    connection.execute(SCHEMA)
    at = _now() - 1_000_000
    with connection:
        connection.executemany(STOCK, ((i, f"schedule-{i}", at) for i in range(1, n + 1)))
    if shape == "work":
        while _fire(connection, 5000):
            pass
    connection.execute("pragma wal_checkpoint(truncate)")
    step = {"fire": _fire, "full": _full, "work": _work}[shape]
    done = 0
    began = time.perf_counter()
    while some := step(connection, batch):
        done += some
    passed = time.perf_counter() - began
    connection.close()
    return {"per_s": done / passed, "n": done}


def _now() -> int:
    return time.time_ns() // 1000


def _fire(connection: apsw.Connection, batch: int) -> int:
    now = _now()
    connection.execute("begin immediate")
    rows: Any = connection.execute(DUE, (now, batch)).fetchall()
    connection.executemany(INSERT, [(row[0], row[1], now) for row in rows])
    connection.executemany(MOVE, [(row[1] + row[2], row[0]) for row in rows])
    connection.execute("commit")
    return len(rows)


def _work(connection: apsw.Connection, batch: int) -> int:
    now = _now()
    connection.execute("begin immediate")
    rows = connection.execute(CLAIM, (now, now + 30_000_000, batch)).fetchall()
    connection.execute("commit")
    now = _now()
    connection.execute("begin immediate")
    connection.executemany(DONE, [(now, row[0]) for row in rows])
    connection.execute("commit")
    return len(rows)


def _full(connection: apsw.Connection, batch: int) -> int:
    _fire(connection, batch)
    return _work(connection, batch)
