"""Puts ended runs of stored schedules into a store, by one statement of the database's own."""

from __future__ import annotations

import time

import apsw
import psycopg

SQLITE = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n),
s (place, id) AS MATERIALIZED (SELECT row_number() OVER (ORDER BY id) - 1, id FROM duly_schedules)
INSERT INTO duly_history (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, attempt, max_attempts, fence,
    due_at, fired_at, started_at, finished_at
)
SELECT printf('%08x-%04x-7%03x-8%03x-%012x', (:from + i) >> 16, (:from + i) & 65535, i & 4095, i >> 12 & 4095, i),
    s.id, 1, 'window', :from + i, '', 'stock', 'default', 0, CASE WHEN i % 1000 = 0 THEN 'failed' ELSE 'completed' END,
    1, 3, 1, :from + i, :from + i, :from + i, :from + i + 5
FROM n JOIN s ON s.place = i % :schedules
"""
POSTGRES = """
WITH s AS (SELECT row_number() OVER (ORDER BY id) - 1 AS place, id FROM duly.duly_schedules)
INSERT INTO duly.duly_history (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, attempt, max_attempts, fence,
    due_at, fired_at, started_at, finished_at
)
SELECT (lpad(to_hex(%(from)s::bigint + i), 12, '0') || '7' || lpad(to_hex(i & 4095), 3, '0') || '8'
    || lpad(to_hex(i >> 12 & 4095), 3, '0') || lpad(to_hex(i), 12, '0'))::uuid,
    s.id, 1, 'window', %(from)s + i, '', 'stock', 'default', 0,
    CASE WHEN i %% 1000 = 0 THEN 'failed' ELSE 'completed' END, 1, 3, 1, %(from)s + i, %(from)s + i, %(from)s + i,
    %(from)s + i + 5
FROM generate_series(1, %(n)s::bigint) AS i JOIN s ON s.place = i %% %(schedules)s
"""


async def main(url: str, n: int, schedules: int) -> dict[str, float]:
    began = time.time()
    start = time.time_ns() // 1_000_000 - 2 * n
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.execute("PRAGMA synchronous = off; PRAGMA cache_size = -400000")
        with connection:
            connection.execute(SQLITE, {"n": n, "from": start, "schedules": schedules})
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as postgres:
            postgres.execute(POSTGRES.encode(), {"n": n, "from": start, "schedules": schedules})
            postgres.execute("vacuum analyze")
            postgres.execute("checkpoint")  # what is written back later is not the API's doing
    return {"seconds": time.time() - began}
