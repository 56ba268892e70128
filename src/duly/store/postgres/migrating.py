"""The tables: set up in an empty schema, upgraded when asked to, rejected when they are not ours.

All of it happens under an advisory lock that ends with its transaction, so any number of instances may start at once.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from duly.core.errors import ConfigurationError, StoreUnavailable
from duly.store.migrations import META_COLUMNS, TABLE, Place, checksum
from duly.store.postgres.limits import Limits
from duly.store.postgres.texts import as_statement, fill_in, in_schema, load_migrations, load_transactions
from duly.store.rights import RightsMissing

if TYPE_CHECKING:  # the text of an upgrade is printed without psycopg, too
    from duly.store.postgres.connections import Connection

OLDEST_SERVER = 130000
# CREATE SCHEMA IF NOT EXISTS needs the right to create schemas even where the schema exists.
_CREATE_IF_MISSING = """\
DO $$ BEGIN
    IF to_regnamespace('"duly"') IS NULL THEN
        CREATE SCHEMA "duly";
    END IF;
END $$;"""


class Found(NamedTuple):
    """What ``found.sql`` reads: the schema, the rights of this role, and the tables with duly's prefix."""

    exists: bool
    role: str
    may_create_schemas: bool
    may_use: bool
    may_create_tables: bool
    tables: list[str]
    meta_columns: list[str]
    development_in_public: bool


def prepare_schema(connection: Connection, limits: Limits, schema: str, *, migrate: bool) -> None:
    """Leave the database with this version's tables, or raise and change nothing."""
    scripts = load_migrations()
    newest = max(scripts)
    if _version(connection, schema, _find(connection, schema), migrate=migrate) == newest:
        return
    _check_server(connection)
    connection.execute(_begin(schema, limits).encode(), prepare=False)
    # Looked at again under the lock: another instance may have done it meanwhile.
    found = _find(connection, schema)
    version = _version(connection, schema, found, migrate=migrate)
    if version == 0:
        _create_schema(connection, schema, found)
    for number, script in scripts.items():
        if number > version:
            connection.execute(in_schema(script, schema).encode(), prepare=False)
            connection.execute(_record(schema, number, script).encode(), prepare=False)
    connection.execute("COMMIT", prepare=False)


def upgrade_text(since: int, schema: str) -> str:
    """Return what `prepare_schema` does to a database at version ``since`` (0: empty), as text; empty if it is current.

    The schema is created where it is not there yet, so a role that may not create schemas can run it after an
    administrator has.
    """
    scripts = {number: script for number, script in load_migrations().items() if number > since}
    if not scripts:
        return ""
    parts = [f"{_begin(schema, Limits())};"]
    if since == 0:
        parts.append(_CREATE_IF_MISSING.replace("duly", schema))
    for number, script in scripts.items():
        parts.append(f"-- duly, postgres, schema {number}\n{in_schema(script, schema).strip()}")
        parts.append(f"{_record(schema, number, script)};")
    return "\n\n".join(parts) + "\nCOMMIT;\n"


def found_schema(connection: Connection, schema: str) -> int:
    """Return the version of the tables, 0 for none; raise SchemaMismatch for one that is newer or not ours."""
    return _version(connection, schema, _find(connection, schema), migrate=True)


def lock_of(schema: str) -> int:
    """Return the key of the advisory lock under which this schema is set up and upgraded."""
    return int.from_bytes(blake2b(b"duly migrations of " + schema.encode(), digest_size=8).digest(), "big", signed=True)


def _begin(schema: str, limits: Limits) -> str:
    numbers = {"statement": round(limits.migration * 1000), "lock": lock_of(schema)}
    return fill_in(load_transactions(schema)["begin_migration"], numbers)


def _record(schema: str, number: int, script: str) -> str:
    return fill_in(load_transactions(schema)["record_schema"], {"number": number, "checksum": checksum(script)})


def _find(connection: Connection, schema: str) -> Found:
    text = as_statement(load_transactions(schema)["found"]).text
    row = connection.execute(text, {"schema": schema}, prepare=False).fetchone()
    assert row is not None
    return Found(*row)


def _version(connection: Connection, schema: str, found: Found, *, migrate: bool) -> int:
    """Return the version that is there, 0 for none; reject what must not be touched."""
    name = f"database {connection.info.dbname!r}, schema {schema!r}"
    place = Place(name, "use an empty database, or another schema (?schema=… in the URL)")
    if not found.tables:
        if found.development_in_public and schema != "public":
            # Another schema would be rejected, too.
            beside = Place(name, "use another database, or drop duly's tables in the schema public")
            raise beside.reject_development("duly_meta in the schema public")
        return 0
    if "duly_meta" not in found.tables or not set(found.meta_columns) >= META_COLUMNS:
        raise place.reject_foreign(found.tables)
    if TABLE not in found.tables:
        raise place.reject_development("it")
    if not found.may_use:
        role = _quoted(found.role)
        raise _rights_missing(
            f"role {found.role!r} may not use the schema {schema!r}",
            f'GRANT USAGE ON SCHEMA "{schema}" TO {role}; '
            f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO {role};',
        )
    rows = connection.execute(load_transactions(schema)["applied"].encode(), prepare=False).fetchall()
    version = int(rows[0][0]) if rows else 0
    scripts = load_migrations()
    place.check(version, {number: found for _, number, found in rows}, scripts)
    if version < max(scripts) and not migrate:
        raise place.needs_upgrade(version, max(scripts))
    return version


def _create_schema(connection: Connection, schema: str, found: Found) -> None:
    """Create the schema unless it exists; raise RightsMissing with the statement to run if the role may not."""
    role = _quoted(found.role)
    if not found.exists:
        if not found.may_create_schemas:
            raise _rights_missing(
                f"role {found.role!r} may not create the schema {schema!r}",
                f'CREATE SCHEMA "{schema}" AUTHORIZATION {role};',
            )
        connection.execute(f'CREATE SCHEMA "{schema}"'.encode(), prepare=False)
    elif not (found.may_use and found.may_create_tables):
        raise _rights_missing(
            f"role {found.role!r} may not create tables in the schema {schema!r}",
            f'GRANT USAGE, CREATE ON SCHEMA "{schema}" TO {role};',
        )


def _rights_missing(why: str, statement: str) -> RightsMissing:
    return RightsMissing(
        f"{why}; an administrator has to run: {statement}",
        path="schema",
        got=why,
        expected="rights on the schema",
        hint=f"let an administrator run: {statement}",
        statement=statement,
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _check_server(connection: Connection) -> None:
    if connection.info.server_version < OLDEST_SERVER:
        raise ConfigurationError(
            f"the PostgreSQL server is version {connection.info.server_version // 10000}; duly needs 13 or newer"
        )
    row = connection.execute("SELECT pg_is_in_recovery()", prepare=False).fetchone()
    if row is not None and row[0]:
        raise StoreUnavailable("the PostgreSQL server is a standby and duly's tables are not there; use the primary")
