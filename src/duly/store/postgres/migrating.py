"""The schema: set up in an empty database, upgraded when asked to, refused when it is not ours.

All of it happens under an advisory lock that ends with its transaction, so any number of instances may start at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duly.core.errors import ConfigurationError, SchemaMismatch, StoreUnavailable
from duly.store.postgres.limits import Limits
from duly.store.postgres.texts import fill_in, load_migrations, load_transactions

if TYPE_CHECKING:  # the text of an upgrade is printed without psycopg, too
    from duly.store.postgres.connections import Connection

OLDEST_SERVER = 130000


def prepare_schema(connection: Connection, limits: Limits, *, migrate: bool) -> None:
    """Leave the database with this version's schema, or raise SchemaMismatch and change nothing."""
    texts = load_transactions()
    steps = load_migrations()
    newest = max(steps)
    if _found(connection, texts, newest, migrate=migrate) == newest:
        return
    _refuse_standby(connection)
    begin = fill_in(texts["begin_migration"], {"statement": round(limits.migration * 1000)}).encode()
    connection.execute(begin, prepare=False)
    # Looked at again under the lock: others may have done it meanwhile.
    found = _found(connection, texts, newest, migrate=migrate)
    for number, step in sorted(steps.items()):
        if number <= found:
            continue
        connection.execute(step, prepare=False)
        connection.execute(fill_in(texts["record_schema"], {"schema": number}).encode(), prepare=False)
    connection.execute("COMMIT", prepare=False)


def upgrade_text(since: int) -> str:
    """What `prepare_schema` does to a database at schema ``since`` (0: empty), as text; nothing if it is the newest."""
    steps = {number: step.decode() for number, step in load_migrations().items() if number > since}
    if not steps:
        return ""
    texts = load_transactions()
    begun = fill_in(texts["begin_migration"], {"statement": round(Limits().migration * 1000)})
    made = "\n\n".join(f"-- duly, postgres, schema {number}\n{step.strip()}" for number, step in steps.items())
    recorded = fill_in(texts["record_schema"], {"schema": max(steps)})
    return f"{begun};\n\n{made}\n\n{recorded};\nCOMMIT;\n"


def found_schema(connection: Connection) -> int:
    """The number of the schema that is there, 0 for none; raise SchemaMismatch for one that is newer or not ours."""
    return _found(connection, load_transactions(), max(load_migrations()), migrate=True)


def _found(connection: Connection, texts: dict[str, str], newest: int, *, migrate: bool) -> int:
    """The number of the schema that is there, 0 for none; refuse what must not be touched."""
    tables = [row[0] for row in connection.execute(texts["found_tables"].encode(), prepare=False)]
    if not tables:
        return 0
    where = connection.info.dbname
    if "duly_meta" not in tables or not _is_ours(connection, texts):
        raise SchemaMismatch(
            f"database {where!r} has tables with the prefix duly_ that are not duly's: {', '.join(tables)}; "
            "use another database or schema (search_path), or rename them",
            tables=tables,
        )
    rows = connection.execute(texts["found_schema"].encode(), prepare=False).fetchall()
    found = int(rows[0][0]) if rows else 0
    if found > newest:
        raise SchemaMismatch(
            f"database {where!r} has schema {found}, written by a newer duly; this version knows schema {newest}: "
            "install the newer duly",
            found=found,
            known=newest,
        )
    if found < newest and not migrate:
        raise SchemaMismatch(
            f"database {where!r} has schema {found}, this version needs schema {newest}; run `duly db migrate`",
            found=found,
            known=newest,
        )
    return found


def _is_ours(connection: Connection, texts: dict[str, str]) -> bool:
    columns = {row[0] for row in connection.execute(texts["meta_columns"].encode(), prepare=False)}
    return {"store_id", "epoch", "schema"} <= columns


def _refuse_standby(connection: Connection) -> None:
    if connection.info.server_version < OLDEST_SERVER:
        raise ConfigurationError(
            f"the PostgreSQL server is version {connection.info.server_version // 10000}; duly needs 13 or newer"
        )
    row = connection.execute("SELECT pg_is_in_recovery()", prepare=False).fetchone()
    if row is not None and row[0]:
        raise StoreUnavailable("the PostgreSQL server is a standby and duly's schema is not there; use the primary")
