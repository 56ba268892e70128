"""A disk that takes its time to sync: what a create adds to a commit matters less the longer a commit takes.

The machine's own disk may answer a sync in a fifth of a millisecond, from a cache that survives a power cut. A disk
without such a cache, or one behind a network, needs milliseconds.
"""

from __future__ import annotations

import time

import apsw
import psycopg

SYNC_MS = 2.0
BASE = "unix"
"""SQLite's own way to files, which does the work."""


def slow_sqlite(sync_ms: float = SYNC_MS) -> apsw.VFS:
    """Let every sync of this process's SQLite files take at least so long, until what is answered is let go."""

    class File(apsw.VFSFile):
        def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
            until = time.perf_counter() + sync_ms / 1000
            super().xSync(flags)
            time.sleep(max(0.0, until - time.perf_counter()))

    class Disk(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("slow", BASE, makedefault=True)

        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> File:  # noqa: N802
            return File(BASE, name, flags)

    return Disk()


def slow_postgres(url: str, sync_ms: float = SYNC_MS) -> None:
    """Let every commit to this database wait so long before its sync, with the server's own setting."""
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"alter database {name} set commit_delay = {round(sync_ms * 1000)}")
        connection.execute(f"alter database {name} set commit_siblings = 0")
