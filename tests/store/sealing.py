"""Keys for tests, and a look at everything that a database holds."""

import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import apsw
import psycopg

from tests.counting import at_least
from tests.databases import in_duly

KEY_A = "a:" + b64encode(bytes(range(32))).decode()
KEY_B = "b:" + b64encode(bytes(range(32, 64))).decode()
OTHER_A = "a:" + b64encode(bytes(32)).decode()
QUERIES = Path(__file__).parents[2] / "src" / "duly" / "store"


def everything_in(url: str) -> str:
    """All text of all tables, as the database itself has it."""
    if url.startswith("sqlite"):
        connection = apsw.Connection("/" + url.removeprefix("sqlite:///").lstrip("/"))
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return "\n".join(str(row) for table in tables for row in connection.execute(f"SELECT * FROM {table}"))
    with psycopg.connect(url) as postgres:
        found = postgres.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'duly_%'").fetchall()
        return "\n".join(str(row) for (table,) in found for row in postgres.execute(f"SELECT * FROM duly.{table}"))


def change(url: str, statement: str) -> None:
    """Do something behind the store's back."""
    if url.startswith("sqlite"):
        apsw.Connection("/" + url.removeprefix("sqlite:///").lstrip("/")).execute(statement)
    else:
        with psycopg.connect(url) as postgres:
            postgres.execute(in_duly(statement))


def statements(dialect: str) -> list[Path]:
    """The files of a dialect's statements."""
    return at_least(sorted((QUERIES / dialect / "queries").glob("*.sql")), 293, f"statements of {dialect}")


def answered_columns(dialect: str) -> Iterator[tuple[str, int, str]]:
    """Of each statement: its name, and place and text of each column that it answers."""
    for path in statements(dialect):
        text = re.sub(r"--.*", "", path.read_text())
        statement = text.strip().rstrip(";").split(";")[-1]
        for words in _lists(_without_star(statement)):
            for place, word in enumerate(words):
                yield path.stem, place, word


def _without_star(statement: str) -> str:
    """Of a statement that answers all of one of its own parts: that part."""
    whole = re.search(r"^SELECT \* FROM (\w+)", statement, re.MULTILINE)
    part = whole and re.search(rf"^{whole[1]}\b.* AS (?:MATERIALIZED )?\(", statement, re.MULTILINE)
    return statement[part.end() :].rpartition(")")[0] if part else statement


def _lists(statement: str) -> Iterator[list[str]]:
    """The lists of columns that stand outside of all parentheses; a statement that writes answers what it returns."""
    depth, begun, writes = 0, None, False
    for found in re.finditer(r"[()]|\b(?:SELECT|FROM|INSERT|UPDATE|DELETE|RETURNING)\b", statement):
        word = found[0]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth:
            continue
        writes = writes or word in ("INSERT", "UPDATE", "DELETE")
        if word == "RETURNING":
            yield _parts(statement[found.end() :])
        elif word == "SELECT":
            begun = found.end()
        elif word == "FROM" and begun is not None:
            if not writes:
                yield _parts(statement[begun : found.start()])
            begun = None


def _parts(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
