"""The composition root: a URL becomes a store. Nothing else imports a concrete one."""

from __future__ import annotations

from urllib.parse import urlsplit

from duly.core.errors import ConfigurationError
from duly.runtime.clock import Clock, SystemClock
from duly.store.sql import SqlStore

EXPECTED = "sqlite:///file.db (relative), sqlite:////absolute/file.db or postgresql://user@host/database"


def open_store(url: str, clock: Clock) -> SqlStore:
    """Make the store of a URL; nothing is opened yet."""
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        from duly.store import sqlite

        return sqlite.open_store(_sqlite_path(url), clock=clock)
    if scheme in ("postgresql", "postgres"):
        from duly.store.postgres import postgres_store

        return postgres_store(url, clock=None if isinstance(clock, SystemClock) else clock)
    raise ConfigurationError(f"database URL starts with {scheme or url[:20]!r}; expected {EXPECTED}")


def _sqlite_path(url: str) -> str:
    path = url.removeprefix("sqlite://")
    if not path.startswith("/") or path == "/":
        raise ConfigurationError(f"database URL {url!r} names no file; expected {EXPECTED}")
    return path[1:]
