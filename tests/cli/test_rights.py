"""What the user of the database must be allowed to do, and what it is told where it is not."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from duly.store.postgres import postgres_store
from tests.cli.conftest import Duly
from tests.store.postgres.making import RULES, put

GRANTS = """
GRANT USAGE ON SCHEMA duly TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA duly TO {user}
"""


def tell(url: str, text: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(text.encode())


@pytest.fixture
def user(fresh_postgres: str) -> Iterator[str]:
    """A user of the server that owns nothing; users belong to all databases, so its name is that of this one."""
    name = f"user_of_{urlsplit(fresh_postgres).path[1:]}"
    tell(fresh_postgres, f'CREATE ROLE "{name}"; REVOKE ALL ON SCHEMA public FROM PUBLIC')
    yield f'"{name}"'
    tell(fresh_postgres, f'DROP OWNED BY "{name}"; DROP ROLE "{name}"')


def seen_by(url: str, user: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-c role={user.strip(chr(34))}')}"


async def migrate(url: str) -> None:
    store = postgres_store(url)
    await store.open()
    await store.close()


async def test_the_rights_that_are_named_are_enough(fresh_postgres: str, user: str) -> None:
    await migrate(fresh_postgres)
    tell(fresh_postgres, GRANTS.format(user=user))
    store = postgres_store(seen_by(fresh_postgres, user))
    await store.open()
    try:
        await put(store, "mine")
        assert (await store.fire_due(limit=10, rules=RULES)).windows == 0
        assert await store.get_schedule("mine") is not None
    finally:
        await store.close()


@pytest.mark.parametrize("exists", [False, True], ids=["no-schema", "schema-of-others"])
def test_a_role_without_rights_is_told_the_statement_that_an_administrator_runs_and_then_it_works(
    fresh_postgres: str, user: str, duly: Duly, exists: bool
) -> None:
    name = "app_jobs" if exists else "user"  # a reserved word of SQL is a schema like any other
    if exists:
        tell(fresh_postgres, f"CREATE SCHEMA {name}")
    url = seen_by(f"{fresh_postgres}?schema={name}", user)
    done = duly("db", "migrate", "--database-url", url)
    assert done.exit_code == 78
    _, _, statement = done.stderr.splitlines()[0].partition("an administrator has to run: ")
    if exists:
        assert statement == f'GRANT USAGE, CREATE ON SCHEMA "{name}" TO {user};'
    else:
        assert statement == f'CREATE SCHEMA "{name}" AUTHORIZATION {user};'
    tell(fresh_postgres, statement)
    assert duly("db", "migrate", "--database-url", url).exit_code == 0
    assert duly("schedule", "list", "--database-url", url).exit_code == 0


@pytest.mark.parametrize("block", [0, 1], ids=["one-role", "two-roles"])
def test_the_statements_of_deployment_md_are_enough(fresh_postgres: str, user: str, duly: Duly, block: int) -> None:
    page = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text("utf-8")
    (one, two) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    owner = f'"owner{user[1:]}'
    tell(fresh_postgres, f"CREATE ROLE {owner}")
    try:
        tell(fresh_postgres, re.sub(r"\bshop\b", user, re.sub(r"\bshop_owner\b", owner, (one, two)[block])))
        migrates, uses = ((user, user), (owner, user))[block]
        assert duly("db", "migrate", "--database-url", seen_by(fresh_postgres, migrates)).exit_code == 0
        done = duly(
            *("schedule", "create", "k", "--every", "1h", "--job", "j"), "--database-url", seen_by(fresh_postgres, uses)
        )
        assert done.exit_code == 0, done.stderr
    finally:
        tell(fresh_postgres, f"DROP OWNED BY {owner}; DROP ROLE {owner}")


def test_a_role_that_may_not_use_the_schema_is_told_the_statements_that_let_it(
    fresh_postgres: str, user: str, duly: Duly
) -> None:
    assert duly("db", "migrate", "--database-url", fresh_postgres).exit_code == 0
    url = seen_by(fresh_postgres, user)
    done = duly("schedule", "list", "--database-url", url)
    assert done.exit_code == 78
    _, _, statements = done.stderr.splitlines()[0].partition("an administrator has to run: ")
    tell(fresh_postgres, statements)
    assert duly("schedule", "list", "--database-url", url).exit_code == 0


def test_who_may_not_read_the_tables_ends_with_78(fresh_postgres: str, user: str, duly: Duly) -> None:
    assert duly("db", "migrate", "--database-url", fresh_postgres).exit_code == 0
    tell(fresh_postgres, f"GRANT USAGE ON SCHEMA duly TO {user}")
    url = seen_by(fresh_postgres, user)
    done = duly("schedule", "list", "--database-url", url)
    assert done.exit_code == 78, done.stderr
    assert "SELECT, INSERT, UPDATE, DELETE on all its tables" in done.stderr
    looked = duly("doctor", "--database-url", url)
    assert looked.exit_code == 1
    assert "SELECT, INSERT, UPDATE, DELETE on all its tables" in looked.stdout
    assert "is the database running" not in looked.stdout
