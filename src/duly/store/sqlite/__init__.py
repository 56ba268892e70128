"""The store on SQLite, through ``apsw``: one file, any number of processes on one machine."""

from __future__ import annotations

from os import PathLike
from typing import Any

from duly.runtime.clock import Clock
from duly.store.sql import SqlStore
from duly.store.sqlite.driver import SqliteDriver

__all__ = ["SqliteDriver", "open_store"]


def open_store(path: str | PathLike[str], *, clock: Clock, **settings: Any) -> SqlStore:
    """Make the store for a database file or ``:memory:``; ``await store.open()`` connects it."""
    return SqlStore(SqliteDriver(path, clock=clock, **settings))
