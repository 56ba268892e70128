"""What the user of the database must be allowed to do, and what it is told where it is not."""

from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from duly.store.postgres import postgres_store
from duly.store.rights import RightsMissing
from tests.cli.conftest import Duly
from tests.store.postgres.making import RULES, put

GRANTS = """
GRANT USAGE ON SCHEMA public TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}
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


async def test_who_may_not_make_the_tables_is_told_which_rights_to_grant(fresh_postgres: str, user: str) -> None:
    tell(fresh_postgres, f"GRANT USAGE ON SCHEMA public TO {user}")
    store = postgres_store(seen_by(fresh_postgres, user))
    with pytest.raises(RightsMissing, match=r"permission denied for schema public .*; grant it USAGE on the schema"):
        await store.open()
    await store.close()


def test_who_may_not_read_the_tables_ends_with_78(fresh_postgres: str, user: str, duly: Duly) -> None:
    assert duly("db", "migrate", "--database-url", fresh_postgres).exit_code == 0
    tell(fresh_postgres, f"GRANT USAGE ON SCHEMA public TO {user}")
    url = seen_by(fresh_postgres, user)
    done = duly("schedule", "list", "--database-url", url)
    assert done.exit_code == 78, done.stderr
    assert "SELECT, INSERT, UPDATE, DELETE on all tables" in done.stderr
    looked = duly("doctor", "--database-url", url)
    assert looked.exit_code == 1
    assert "SELECT, INSERT, UPDATE, DELETE on all tables" in looked.stdout
    assert "is the database running" not in looked.stdout
