"""Migrations: numbered files in ``schema/``, each applied once, whoever starts first.

An empty database is set up, an older one is brought up to date, all in one transaction. A newer schema, and tables
with our names that are not ours, are refused before anything is changed. A database in memory, of which a test suite
opens thousands, is a copy of the first that this process has set up: 0.1 ms instead of 15.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from threading import Lock

import apsw

from duly.core.errors import SchemaMismatch
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock

_TABLES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND lower(name) GLOB 'duly_*' ORDER BY name"
_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
_FIRST = "INSERT INTO duly_meta (store_id, epoch, schema) VALUES (?, 1, ?)"
_NEXT = "UPDATE duly_meta SET schema = ?"
_DRAWN_ID = (
    "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'"
    " || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
)
_SECRETS = "UPDATE duly_secrets SET value = lower(hex(randomblob(32)))"  # as the script makes them
_ADVICE = "use another database file, or rename those tables"
_copying = Lock()


@cache
def load_migrations() -> dict[int, str]:
    """Read the files of ``schema/``, by number."""
    folder = files("duly.store.sqlite") / "schema"
    scripts = {int(file.name[:4]): file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".sql")}
    return dict(sorted(scripts.items()))


def upgrade_text(since: int) -> str:
    """What `migrate` does to a database at schema ``since`` (0: an empty one), as text; nothing if it is the newest.

    The text draws the store's id where it is run: one file may set up many databases.
    """
    steps = {number: script for number, script in load_migrations().items() if number > since}
    if not steps:
        return ""
    recorded = (_NEXT if since else _FIRST.replace("?", _DRAWN_ID, 1)).replace("?", str(max(steps)))
    made = "\n\n".join(f"-- duly, sqlite, schema {number}\n{script.strip()}" for number, script in steps.items())
    return f"BEGIN IMMEDIATE;\n\n{made}\n\n{recorded};\nCOMMIT;\n"


def migrate(connection: apsw.Connection, path: str, clock: Clock, chance: Chance) -> None:
    """Bring the database to the newest schema; ten processes may do this at once."""
    newest = max(load_migrations())
    if schema_version(connection, path) == newest:
        return
    if not connection.filename and not connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
        with _copying, connection.backup("main", _pattern(), "main") as copy:
            copy.step()
        connection.execute(_FIRST, (chance.id(clock), newest))
        connection.execute(_SECRETS)
        return
    with _Immediate(connection):
        version = schema_version(connection, path)  # somebody else may have been first
        for number, script in load_migrations().items():
            if number > version:
                connection.execute(script)
        if version == 0:
            connection.execute(_FIRST, (chance.id(clock), newest))
        else:
            connection.execute(_NEXT, (newest,))


def schema_version(connection: apsw.Connection, path: str) -> int:
    """Answer the schema's number, 0 for a database without our tables; refuse what is newer or not ours."""
    tables = {name.lower(): name for (name,) in connection.execute(_TABLES)}
    if not tables:
        return 0
    if not {"store_id", "schema"} <= set(_columns(connection, "duly_meta")):
        named = ", ".join(tables.values())
        raise SchemaMismatch(
            f"database {path}: it has tables named like duly's that duly did not make ({named}); {_ADVICE}",
            path=path,
            tables=list(tables.values()),
        )
    versions = connection.execute("SELECT schema FROM duly_meta").fetchall()
    newest = max(load_migrations())
    if len(versions) != 1:
        raise SchemaMismatch(
            f"database {path}: table duly_meta has {len(versions)} rows, expected one; duly did not make it; {_ADVICE}",
            path=path,
            tables=["duly_meta"],
        )
    version: int = versions[0][0]  # type: ignore[assignment]  # the column is an INTEGER
    if version > newest:
        raise SchemaMismatch(
            f"database {path} has schema {version}, this version of duly knows schemas up to {newest};"
            " upgrade duly, or use another database",
            path=path,
            found=version,
            known=newest,
        )
    for table, expected in _expected_columns(version).items():
        found = _columns(connection, table)
        if found != expected:
            raise SchemaMismatch(
                f"database {path}: table {table} has columns {', '.join(found) or '(none)'}; schema {version} has"
                f" {', '.join(expected)}; {_ADVICE}",
                path=path,
                tables=[table],
            )
    return version


def _columns(connection: apsw.Connection, table: str) -> tuple[str, ...]:
    return tuple(name for (name,) in connection.execute(_COLUMNS, (table,)))


@cache
def _expected_columns(version: int) -> dict[str, tuple[str, ...]]:
    """What each table looks like at a version, asked of a database in memory."""
    connection = apsw.Connection(":memory:")
    for number, script in load_migrations().items():
        if number <= version:
            connection.execute(script)
    tables = [name for (name,) in connection.execute(_TABLES)]
    expected = {table: _columns(connection, table) for table in tables}
    connection.close()
    return expected


@cache
def _pattern() -> apsw.Connection:
    """The newest schema in memory, for copies; no store has ever been in it."""
    connection = apsw.Connection(":memory:")
    for script in load_migrations().values():
        connection.execute(script)
    return connection


class _Immediate:
    """A write transaction that others wait for."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._connection.execute("COMMIT")
        elif self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
