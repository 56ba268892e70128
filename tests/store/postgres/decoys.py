"""A schema of decoys: tables, functions and operators that a statement meets only if it relies on the search_path.

PostgreSQL looks into pg_catalog first, unless the path names it later. A decoy is still chosen where it fits better
than what pg_catalog has: a function of text[] beats one of anyarray, an operator of two types beats one that needs a
cast.
"""

import re
from collections.abc import Iterable
from itertools import product

import psycopg
from psycopg import sql

_TYPES = ("text", "uuid", "bigint", "integer", "smallint", "boolean", "numeric", "double precision", "name", "oid",
          "regclass", "jsonb", "text[]", "uuid[]", "bigint[]", "integer[]", "smallint[]", "boolean[]")  # fmt: skip
_OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "&", ">>", "->>", "->", "~~", "?")
_MAX_ARGUMENTS = 2


def create_decoys(connection: psycopg.Connection, schema: str, texts: Iterable[str]) -> None:
    """Create a schema with a decoy for every table of duly's, and for what the texts call in other types."""
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    for (table,) in connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'duly'::regnamespace AND relkind IN ('r', 'v')"
    ).fetchall():
        connection.execute(
            sql.SQL("CREATE TABLE {}.{} AS SELECT * FROM duly.{} LIMIT 0").format(
                sql.Identifier(schema), sql.Identifier(table), sql.Identifier(table)
            )
        )
    called = sorted({name.lower() for text in texts for name in re.findall(r"\b([a-zA-Z_]\w*)\s*\(", text)})
    functions = connection.execute(
        "SELECT proname, array_agg(DISTINCT pronargs::int) FROM pg_proc"
        " WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (%s) GROUP BY proname",
        [called],
    ).fetchall()
    statements = [
        f"CREATE FUNCTION {schema}.\"{name}\"({', '.join(types)}) RETURNS {types[0]} LANGUAGE sql AS 'SELECT $1'"
        for name, counts in functions
        for count in counts
        if 1 <= count <= _MAX_ARGUMENTS
        for types in product(_TYPES, repeat=count)
    ]
    for number, (left, right) in enumerate(product(_TYPES, repeat=2)):
        statements.append(
            f"CREATE FUNCTION {schema}.trap{number}({left}, {right}) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
        )
        statements += [
            f"CREATE OPERATOR {schema}.{operator} (FUNCTION = {schema}.trap{number}, LEFTARG = {left},"
            f" RIGHTARG = {right})"
            for operator in _OPERATORS
        ]
    connection.execute("; ".join(statements).encode())
