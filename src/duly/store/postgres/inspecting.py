"""Looks at a database without changing it: one connection, no lock, nothing set up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psycopg

from duly.core.errors import ConfigurationError
from duly.store.inspection import Finding, Inspection
from duly.store.postgres.address import Address, read_address
from duly.store.postgres.checking import find_warnings
from duly.store.postgres.connections import Connection, connect
from duly.store.postgres.errors import not_done
from duly.store.postgres.limits import Limits
from duly.store.postgres.migrating import OLDEST_SERVER, found_schema
from duly.store.postgres.texts import as_statement, load_migrations, load_transactions

Seen = TypeVar("Seen")
_COUNTED = {"duly_schedules": "schedules", "duly_runs": "runs", "duly_history": "history"}


def inspect(url: str) -> Inspection:
    """Say what a database holds and how its server is set; raise if it cannot be reached or is not duly's."""
    return _looking(url, _inspect)


def find_schema(url: str) -> int:
    """The number of the schema that is there, 0 for none; raise for one that is newer or not duly's."""
    return _looking(url, lambda connection, address: found_schema(connection, address.schema))


def _looking(url: str, look: Callable[[Connection, Address], Seen]) -> Seen:
    address = read_address(url, Limits())
    with connect(address) as connection:
        try:
            return look(connection, address)
        except psycopg.Error as error:
            raise not_done(error, address.name) from error


def _inspect(connection: Connection, address: Address) -> Inspection:
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise ConfigurationError(f"the PostgreSQL server is version {version // 10000}; duly needs 13 or newer")
    schema = found_schema(connection, address.schema)
    sizes_text = as_statement(load_transactions()["sizes"]).text
    sizes = connection.execute(sizes_text, {"schema": address.schema}, prepare=False).fetchall()
    warnings = [Finding("warn", "settings", text) for text in find_warnings(connection, hints_apart=False)]
    fine = Finding("ok", "settings", "fsync, full_page_writes and synchronous_commit are on")
    return Inspection(
        kind="postgres",
        place=address.name,
        version=f"PostgreSQL {version // 10000}.{version % 10000}",
        exists=True,
        newest=max(load_migrations()),
        schema=schema,
        size_bytes=sum(size for _, size, _ in sizes),
        rows={_COUNTED[name]: rows for name, _, rows in sizes if name in _COUNTED},
        estimated=True,
        findings=warnings or [fine],
    )
