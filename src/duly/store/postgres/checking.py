"""What the guarantees rest on: settings of the server that duly looks at when it starts."""

from __future__ import annotations

from duly.store.postgres.connections import Connection, is_pooled
from duly.store.postgres.texts import load_transactions

FEW_CONNECTIONS = 12
"""Connections that one more instance may come to need: the engine's, callers', for beats and hints; one to spare."""

OLD_SNAPSHOT = 300
"""Seconds for which a snapshot may be held before somebody should know: no row that ended since can be swept up."""

_LOSSY = {
    "fsync": "fsync is off: a crash of the machine may lose or damage everything",
    "full_page_writes": "full_page_writes is off: a crash of the machine may damage the database",
    "synchronous_commit": "synchronous_commit is off: a crash of the server forgets its last commits, and their "
    "windows fire again",
}


def find_warnings(connection: Connection, *, hints_apart: bool) -> list[str]:
    """Say, in sentences for people, what about this server weakens a promise; an empty list is good."""
    row = connection.execute(load_transactions()["settings"].encode(), prepare=False).fetchone()
    assert row is not None
    in_recovery, fsync, full_page_writes, synchronous_commit, encoding, free, most, oldest = row
    given = {"fsync": fsync, "full_page_writes": full_page_writes, "synchronous_commit": synchronous_commit}
    warnings = [_LOSSY[name] for name, value in given.items() if value == "off"]
    if in_recovery:
        warnings.append("the server is a standby: it can be read, and every write will be refused")
    if encoding != "UTF8":
        warnings.append(f"the database's encoding is {encoding}: text outside of it will be refused; UTF8 takes all")
    if free < FEW_CONNECTIONS:
        warnings.append(f"{max(free, 0)} of the server's {most} connections are free: an instance may need "
                        f"{FEW_CONNECTIONS}; raise max_connections, or put a pooler in between")  # fmt: skip
    if oldest is not None and oldest >= OLD_SNAPSHOT:
        warnings.append(f"a transaction has held a snapshot for {oldest} s: vacuum cannot sweep up what ended since, "
                        "and claims become slower; end it (pg_stat_activity, xact_start)")  # fmt: skip
    if not hints_apart and is_pooled(connection):
        warnings.append("a connection pooler stands in between: changes are noticed by polling; listen_url, a direct "
                        "connection, lets instances wake one another")  # fmt: skip
    return warnings
