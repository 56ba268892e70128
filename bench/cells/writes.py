"""P12: what one run writes. Counted, not timed.

PostgreSQL: rows from the statistics of the tables, index entries and commits from the WAL itself (pg_walinspect: leaf
inserts and splits of B-trees), syncs from the server's statistics. SQLite: see ``bench.inside.counted``. Everything the
process writes meanwhile is in it: heartbeats, leases, vacuum's own records are not counted as rows.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg

from bench.bench import Bench

SHOWN = ("rows", "entries", "transactions", "syncs", "wal_bytes", "hot_updates", "row_locks")
ROWS = """
select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint, coalesce(sum(n_tup_hot_upd), 0)::bigint
from pg_stat_user_tables
"""
RECORDS = 'select "resource_manager/record_type", count from pg_get_wal_stats(%s, %s, true)'
ENTRIES = ("Btree/INSERT_LEAF", "Btree/INSERT_POST", "Btree/SPLIT_L", "Btree/SPLIT_R")
SYNCS_15 = "select wal_sync from pg_stat_wal"
SYNCS_18 = "select coalesce(sum(fsyncs), 0)::bigint from pg_stat_io where object = 'wal'"


def run(bench: Bench) -> None:
    n = bench.options.bursts[0]
    for kind in bench.options.stores:
        measure = {"sqlite": _sqlite, "postgres": _postgres}[kind]
        for shape in ("recurring", "oneshot"):
            answer = measure(bench, shape, n)
            bench.report.add("P12", f"duly/{kind}", shape, [answer], *SHOWN, note=f"per run, {n} at one instant")


def _sqlite(bench: Bench, shape: str, n: int) -> dict[str, float]:
    with bench.stores.store("sqlite") as url:
        at = bench.fill_due(url, shape, n)
        answer = bench.children.run("counted", url=url, starts_to=str(bench.starts_file()), enough=n, from_at=at)
    named = {"transactions": "commits", "wal_bytes": "bytes", "rows": "rows", "entries": "entries", "syncs": "syncs"}
    return {name: answer[counter] / n for name, counter in named.items()}


def _postgres(bench: Bench, shape: str, n: int) -> dict[str, float]:
    with bench.stores.store("postgres") as url:
        at = bench.fill_due(url, shape, n)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create extension pg_walinspect")
            child = bench.children.start("serve", url=url, starts_to=str(bench.starts_file()), enough=n, from_at=at)
            time.sleep(max(0.0, at - 0.3 - time.time()))
            before = _state(connection)
            child.answer()
            time.sleep(1.5)  # backends hand in their statistics when they end, and at most once a second
            after = _state(connection)
            records: dict[str, int] = dict(connection.execute(RECORDS, (before["lsn"], after["lsn"])).fetchall())
    counts = {
        "rows": after["rows"] - before["rows"],
        "entries": sum(records.get(name, 0) for name in ENTRIES),
        "transactions": records.get("Transaction/COMMIT", 0),
        "syncs": after["syncs"] - before["syncs"],
        "wal_bytes": after["position"] - before["position"],
        "hot_updates": after["hot"] - before["hot"],
        "row_locks": records.get("Heap/LOCK", 0),
    }
    return {name: float(count) / n for name, count in counts.items()}


def _state(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    def one(statement: str) -> Any:
        row = connection.execute(statement).fetchone()
        assert row is not None
        return row

    rows, hot = one(ROWS)
    (lsn,) = one("select pg_current_wal_flush_lsn()::text")
    (position,) = one(f"select pg_wal_lsn_diff('{lsn}', '0/0')")
    (syncs,) = one(SYNCS_15 if connection.info.server_version < 180000 else SYNCS_18)
    return {"rows": rows, "hot": hot, "lsn": lsn, "position": position, "syncs": syncs}
