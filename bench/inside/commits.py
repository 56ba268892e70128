"""The store's bare commit rate: one small insert and one synchronous commit after another."""

from __future__ import annotations

import time

import apsw
import asyncpg

INSERT = (
    "insert into line (body) values ('a line of about a hundred bytes, as small as a schedule can reasonably be made')"
)


async def main(url: str, seconds: float = 3.0) -> dict[str, float]:
    """Commit for some seconds on one connection; a new table is made for it."""
    return await _postgres(url, seconds) if url.startswith("postgres") else _sqlite(url, seconds)


async def _postgres(url: str, seconds: float) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    await connection.execute("create table line (id bigint generated always as identity primary key, body text)")
    statement = await connection.prepare(INSERT)
    began = time.perf_counter()
    done = 0
    while time.perf_counter() - began < seconds:
        await statement.fetch()
        done += 1
    passed = time.perf_counter() - began
    await connection.close()
    return {"per_s": done / passed}


def _sqlite(url: str, seconds: float) -> dict[str, float]:
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    for pragma in ("journal_mode = wal", "synchronous = full", "wal_autocheckpoint = 10000"):
        connection.execute(f"pragma {pragma}")
    connection.execute("create table line (id integer primary key, body text)")
    began = time.perf_counter()
    done = 0
    while time.perf_counter() - began < seconds:
        connection.execute(INSERT)
        done += 1
    passed = time.perf_counter() - began
    connection.close()
    return {"per_s": done / passed}
