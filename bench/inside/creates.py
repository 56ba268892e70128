"""The machine's limit for a create: the rows of one schedule as bare SQL, one synchronous commit after another.

The tables and indexes are duly's own; there is no product around them, and everything is known beforehand.
"""

from __future__ import annotations

import time
import uuid

import apsw
import asyncpg

from bench.inside.apps import make_app

FAR = 4_000_000_000_000
BODY = '{"key":"limit","timing":{"every":86400000000}}'
PAYLOAD = '{"i":1}'
TENANT = "insert into duly_tenants as t (id, slots) values ('', 1) on conflict (id) do update set slots = t.slots + 1"
SCHEDULE = (
    "insert into duly_schedules (id, key, name, tenant, tags, revision, created_at, updated_at, kind, job)"
    " values ({id}, {key}, {key}, '', '[]', 1, 0, 0, 'job', 'stock')"
)
REVISION = (
    "insert into duly_revisions (schedule_id, revision, body, payload, made_at) values ({id}, 1, {body}, {payload}, 0)"
)
CURSOR = (
    "insert into duly_cursors (schedule_id, revision, status, next_window_at, fire_at, slot, fired, failures, tenant)"
    f" values ({{id}}, 1, 'pending', {FAR}, {FAR}, (select slots from {{slots}}), 0, 0, '')"
)


async def main(url: str, seconds: float = 3.0) -> dict[str, float]:
    """Create for some seconds on one connection."""
    app = make_app(url)
    await app.open()
    await app.close()
    return {"per_s": await _postgres(url, seconds) if url.startswith("postgres") else _sqlite(url, seconds)}


def _next_id() -> uuid.UUID:
    """Ids grow with time, as duly's own do."""
    return uuid.UUID(int=time.time_ns() << 60)


def _sqlite(url: str, seconds: float) -> float:
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    for pragma in ("synchronous = full", "wal_autocheckpoint = 10000"):
        connection.execute(f"pragma {pragma}")
    names = {"id": "?1", "key": "?2", "body": "?2", "payload": "?3", "slots": "duly_tenants where id = ''"}
    texts = [text.format(**names) for text in (SCHEDULE, REVISION, CURSOR)]
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        id = str(_next_id())
        connection.execute("begin immediate")
        connection.execute(TENANT)
        connection.execute(texts[0], (id, id))
        connection.execute(texts[1], (id, BODY, PAYLOAD))
        connection.execute(texts[2], (id,))
        connection.execute("commit")
        done += 1
    passed = time.perf_counter() - began
    connection.close()
    return done / passed


async def _postgres(url: str, seconds: float) -> float:
    """All in one statement, so that a create is one round trip."""
    connection = await asyncpg.connect(url)
    names = {"id": "$1::uuid", "key": "$2::text", "body": "$3::text", "payload": "$4::text", "slots": "t"}
    schedule, revision, cursor = (text.format(**names) for text in (SCHEDULE, REVISION, CURSOR))
    text = f"with t as ({TENANT} returning slots), s as ({schedule}), r as ({revision}) {cursor}"
    statement = await connection.prepare(text.replace("duly_", "duly.duly_"))
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        id = _next_id()
        await statement.fetch(id, str(id), BODY, PAYLOAD)
        done += 1
    passed = time.perf_counter() - began
    await connection.close()
    return done / passed
