"""The machine's limit on PostgreSQL: fire, claim and settle as bare SQL through asyncpg, with no product around it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import asyncpg

SCHEMA = """
create table sched (id bigint primary key, name text not null, every_s double precision not null,
    next_fire_at timestamptz not null, task text not null default 'noop', payload jsonb not null default '{}');
create table run (id bigint generated always as identity primary key, schedule_id bigint not null,
    scheduled_at timestamptz not null, state smallint not null default 0, worker text,
    payload jsonb not null default '{}', created_at timestamptz not null default now(), started_at timestamptz,
    lease_until timestamptz, finished_at timestamptz, unique (schedule_id, scheduled_at));
create index on run (scheduled_at, id) where state = 0;
create index on sched (next_fire_at);
"""
STOCK = """
insert into sched select g, 'schedule-' || g, 86400, date_trunc('second', now()) - interval '1 s'
from generate_series(1, $1::bigint) g
"""
FIRE = """
with due as materialized (select id, next_fire_at, every_s from sched where next_fire_at <= $1
         order by next_fire_at limit $2 for update skip locked),
     ins as (insert into run (schedule_id, scheduled_at) select id, next_fire_at from due
         on conflict do nothing returning 1),
     upd as (update sched s set next_fire_at = d.next_fire_at + make_interval(secs => d.every_s)
         from due d where s.id = d.id returning 1)
select count(*) from ins
"""
FIRE_LEASED = """
with due as materialized (select id, next_fire_at, every_s from sched where next_fire_at <= $1
         order by next_fire_at limit $2 for update skip locked),
     upd as (update sched s set next_fire_at = d.next_fire_at + make_interval(secs => d.every_s)
         from due d where s.id = d.id)
insert into run (schedule_id, scheduled_at, state, started_at, worker, lease_until)
select id, next_fire_at, 1::smallint, now(), 'w1', now() + interval '30 s' from due
on conflict do nothing returning id, schedule_id, scheduled_at, payload
"""
CLAIM = """
with due as materialized (select id from run where state = 0 order by scheduled_at, id limit $1
         for update skip locked)
update run r set state = 1, started_at = now(), worker = 'w1', lease_until = now() + interval '30 s'
from due where r.id = due.id returning r.id, r.schedule_id, r.scheduled_at, r.payload
"""
DONE = "update run set state = 2, finished_at = now() where id = any($1::bigint[]) and state = 1"


async def main(url: str, shape: str, n: int, batch: int) -> dict[str, float]:
    """Do ``n`` of a shape to the end: ``fire``, ``full`` (fire, claim, settle), ``fused`` (fire born leased, settle)
    or ``work`` (claim, settle). The database must be empty.
    """
    connection = await asyncpg.connect(url)
    await connection.execute(SCHEMA)
    await connection.execute(STOCK, n)
    if shape == "work":
        while await connection.fetchval(FIRE, datetime.now(UTC), 5000):
            pass
    await connection.execute("vacuum analyze")
    await connection.execute("checkpoint")
    step = {"fire": _fire, "full": _full, "fused": _fused, "work": _work}[shape]
    done = 0
    began = time.perf_counter()
    while some := await step(connection, batch):
        done += some
    passed = time.perf_counter() - began
    await connection.close()
    return {"per_s": done / passed, "n": done}


async def _fire(connection: asyncpg.Connection, batch: int) -> int:
    return int(await connection.fetchval(FIRE, datetime.now(UTC), batch))


async def _work(connection: asyncpg.Connection, batch: int) -> int:
    rows = await connection.fetch(CLAIM, batch)
    await connection.execute(DONE, [row[0] for row in rows])
    return len(rows)


async def _full(connection: asyncpg.Connection, batch: int) -> int:
    await _fire(connection, batch)
    return await _work(connection, batch)


async def _fused(connection: asyncpg.Connection, batch: int) -> int:
    rows = await connection.fetch(FIRE_LEASED, datetime.now(UTC), batch)
    await connection.execute(DONE, [row[0] for row in rows])
    return len(rows)
