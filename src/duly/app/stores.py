"""The composition root: a URL becomes a store. Nothing else imports a concrete one."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from duly.config.masking import mask_url
from duly.core.errors import ConfigurationError, DulyError
from duly.runtime.clock import Clock, SystemClock
from duly.store.inspection import Inspection
from duly.store.resealing import Resealed, reseal
from duly.store.sealing import SealingDriver, sealing
from duly.store.sql import SqlStore

log = logging.getLogger("duly.app")

MEMORY = ":memory:"
BUSY_MS = 30_000
BARE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
EXPECTED = "sqlite:///file.db (relative), sqlite:////absolute/file.db or postgresql://user@host/database"


def open_store(
    url: str, clock: Clock, *, migrate: bool = False, apart: bool = False, keys: Sequence[str] = ()
) -> SqlStore:
    """Make the store of a URL; nothing is opened yet.

    An older schema of a file is upgraded when it is opened; that of a server, which others may use, only if
    ``migrate`` says so. ``apart``: beside the one that the app itself has. With ``keys`` what people store is sealed.
    """
    store = _plain_store(url, clock, migrate=migrate, apart=apart)
    return SqlStore(sealing(store.driver, keys)) if keys else store


def _plain_store(url: str, clock: Clock, *, migrate: bool, apart: bool) -> SqlStore:
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        from duly.store import sqlite

        path = sqlite_path(url)
        if apart and path == MEMORY:
            raise ConfigurationError(
                "a database in memory is its app's alone; open the app in this process first, or use a file"
            )
        return sqlite.open_store(path, clock=clock)
    if scheme in ("postgresql", "postgres"):
        from duly.store.postgres import postgres_store

        return postgres_store(url, clock=None if isinstance(clock, SystemClock) else clock, migrate=migrate)
    raise _unknown(url)


async def reseal_store(url: str, keys: Sequence[str]) -> Resealed:
    """Seal anew, with the first key, all that is not sealed with it."""
    if not keys:
        raise ConfigurationError(
            "payload_keys names no key; expected the new one first, or 'plain' and those that were used"
        )
    store = open_store(url, SystemClock(), keys=keys)
    await store.open()
    try:
        driver = store.driver
        assert isinstance(driver, SealingDriver)
        return await reseal(driver)
    finally:
        await store.close()


@contextmanager
def own_transaction(url: str) -> Iterator[Any]:
    """A connection of its own inside a transaction, which is committed at the end unless something is raised."""
    if urlsplit(url).scheme == "sqlite":
        import apsw

        connection = apsw.Connection(sqlite_path(url))
        connection.set_busy_timeout(BUSY_MS)
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        finally:
            connection.close()
        return
    from duly.store.postgres.address import connect_plainly

    with connect_plainly(url) as postgres:
        yield postgres


def inspect_store(url: str) -> Inspection:
    """Look at the database of a URL without creating or changing anything; blocks the calling thread."""
    inspecting, place = _inspecting(url)
    found: Inspection = inspecting.inspect(place)
    return found


def has_schema(url: str) -> bool:
    """Whether duly's tables are there, of whatever version it knows; blocks the calling thread."""
    inspecting, place = _inspecting(url)
    return bool(inspecting.find_schema(place))


def _inspecting(url: str) -> tuple[ModuleType, str]:
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        from duly.store.sqlite import inspecting

        return inspecting, sqlite_path(url)
    if scheme in ("postgresql", "postgres"):
        from duly.store.postgres import postgres_store

        postgres_store(url)  # refuses, by name, what is not installed
        from duly.store.postgres import inspecting as on_server

        return on_server, url
    raise _unknown(url)


def upgrade_text(dialect: str, since: int, schema: str) -> str:
    """The text of one transaction that brings a database of this dialect from version ``since`` to the newest.

    ``schema`` is where PostgreSQL has the tables.
    """
    if dialect == "sqlite":
        from duly.store.sqlite import migrating as on_file

        return on_file.upgrade_text(since)
    from duly.store.postgres import migrating as on_server

    return on_server.upgrade_text(since, schema)


def is_in_memory(url: str) -> bool:
    """Whether the database of a URL lives only as long as the app that opened it."""
    return urlsplit(url).scheme == "sqlite" and sqlite_path(url) == MEMORY


def _unknown(url: str) -> ConfigurationError:
    scheme = urlsplit(url).scheme
    return ConfigurationError(f"database URL starts with {scheme or url[:20]!r}; expected {EXPECTED}")


def sqlite_path(url: str) -> str:
    """The path of a file, percent-escapes read; the options that other tools' URLs have are refused."""
    path = url.removeprefix("sqlite://")
    if not path.startswith("/") or path == "/":
        raise ConfigurationError(f"database URL {url!r} names no file; expected {EXPECTED}")
    for mark in "?#":
        if mark in path:
            raise ConfigurationError(
                f"database URL {mask_url(url)!r} has a {mark!r} after the file, and SQLite takes no options"
                f" here; leave it out, or write {quote(mark)} if it is part of the file's name"
            )
    if BARE_PERCENT.search(path):
        raise ConfigurationError(f"database URL {url!r} has a % that begins no escape; write %25 for a percent sign")
    return unquote(path[1:])


async def tell_of_weak_points(store: SqlStore) -> None:
    """Log what about the database weakens a promise; nobody is kept from starting by it."""
    try:
        for text in await store.driver.checks():
            log.warning("database: %s", text)
    except DulyError as error:
        log.warning("database: its settings could not be looked at: %s", error)
