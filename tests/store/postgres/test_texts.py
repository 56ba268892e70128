"""The SQL files: complete, readable by psycopg, and in step with the programs that use them."""

import re
from pathlib import Path

import psycopg
import pytest

import duly.store.methods
from duly.core.errors import ConfigurationError
from duly.store.methods import keeping
from duly.store.postgres import postgres_store
from duly.store.postgres.address import read_address
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.errors import not_done
from duly.store.postgres.limits import Limits
from duly.store.postgres.texts import as_statement, in_schema, load_migrations, load_queries, load_transactions
from duly.store.resealing import PLACES
from duly.store.sql import SqlStore
from tests.acceptance.rules import rule
from tests.counting import at_least

METHODS = Path(duly.store.methods.__file__).parent


def test_parameters_are_translated_and_casts_are_not():
    statement = as_statement("-- Why: a test.\nSELECT :a::text, ':: x', b % 2 FROM t WHERE c = ANY (:b_c::uuid[])\n")
    assert statement.text == b"SELECT %(a)s::text, ':: x', b %% 2 FROM t WHERE c = ANY (%(b_c)s::uuid[])"
    assert statement.prepare
    assert as_statement("SELECT coalesce(n.a, (:a::text[])[1]), :b::int[]").spread == {"a"}
    assert not as_statement("-- Unprepared: because.\nSELECT 1").prepare


def test_a_statement_for_rows_is_also_one_for_a_single_row():
    rows = as_statement(
        "UPDATE t SET c = coalesce(n.c, (:c::int[])[1]), d = n.d\n"
        "FROM unnest(:id::uuid[], :c::int[], string_to_array(:d::text, E'\\x1f')) AS n (id, c, d)\n"
        "WHERE t.id = n.id AND t.id = ANY (:id::uuid[]) AND t.at < :now::bigint",
        "change",
    )
    assert rows.spread == {"c"}
    assert rows.joined == {"d"}
    assert rows.one is not None
    assert (rows.one.name, rows.one.one) == (b"duly_change_one", None)
    assert rows.one.numbered.decode() == (
        "UPDATE t SET c = coalesce(n.c, $1::int), d = n.d\n"
        "FROM (VALUES ($2::uuid, $1::int, $3::text)) AS n (id, c, d)\n"
        "WHERE t.id = n.id AND t.id = $2::uuid AND t.at < $4::bigint"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t WHERE a = ANY (:a::int[])",
        "SELECT n.a FROM unnest(:a::int[]) AS n (a) WHERE n.a <> ALL (:b::int[])",
        "SELECT n.a FROM unnest(:a::int[]) WITH ORDINALITY AS n (a, at)",
        "SELECT n.a FROM unnest(:a::int[]) AS n (a) WHERE n.a = ANY (:b::int[])",
    ],
)
def test_what_is_not_for_rows_alone_has_no_text_for_a_single_one(text: str):
    assert as_statement(text).one is None


def test_there_is_a_statement_for_every_name_that_programs_yield():
    named = re.compile(r'(?:query|batch|owned|made)\(\s*"(\w+)"')
    used = {name for file in METHODS.glob("*.py") for name in named.findall(file.read_text())}
    at_least(used, 260, "names of statements in programs")
    used |= {*keeping.OF_RUNS, *keeping.OF_SCHEDULES, "fair_heads", "fair_heads_newest"}
    used |= {"put_secret", "read_seals", "drop_seals"}
    used |= {f"{what}_{place}" for what in ("unsealed", "reseal") for place in PLACES}
    assert used == set(at_least(load_queries(), 293, "statements"))


async def test_the_server_understands_every_statement(store: SqlStore, fresh_postgres: str):
    with psycopg.connect(fresh_postgres) as connection:
        queries = at_least(load_queries(), 293, "statements")
        singles = {f"{name}_one": statement.one for name, statement in queries.items() if statement.one}
        at_least(singles, 60, "statements for one row")
        for name, statement in (queries | singles).items():
            text = statement.text.decode()
            for number, parameter in enumerate(sorted(set(re.findall(r"%\((\w+)\)s", text))), 1):
                text = text.replace(f"%({parameter})s", f"${number}")
            text = text.replace("%%", "%")
            connection.execute(f"PREPARE {name} AS {text}".encode())
            types = connection.execute(
                "SELECT 'unknown'::regtype = ANY (parameter_types) FROM pg_prepared_statements WHERE name = %s", [name]
            ).fetchone()
            assert types == (False,), f"{name} has a parameter without a cast"


def test_what_the_url_says_wins_over_our_defaults():
    spaced = read_address("postgresql://h/d?prepare=off&options=-c%20a%3D1+2&application_name=my+app", Limits())
    assert (spaced.parameters["options"], spaced.parameters["application_name"]) == ("-c a=1+2", "my+app")
    address = read_address("postgresql://u:p%40ss@h:1/d?application_name=mine&prepare=off", Limits(connect=7))
    assert (address.prepare, address.name) == (False, "h:1/d")
    assert address.parameters["application_name"] == "mine"
    assert address.parameters["connect_timeout"] == 7
    assert address.redact("no p@ss here") == "no *** here"
    assert read_address("postgresql://h/d", Limits()).prepare is None


@pytest.mark.parametrize("url", [
    "postgresql://u:secret/x@h:5432/d", "postgresql://u:x@secret@h:5432/d", "postgresql://u:secret@h:port/d", "secret",
])  # fmt: skip
def test_a_url_that_cannot_be_read_is_refused_without_showing_it(url: str):
    with pytest.raises(ConfigurationError, match="cannot be read") as refused:
        read_address(url, Limits())
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_an_unknown_word_for_prepare_is_refused():
    with pytest.raises(ConfigurationError, match="expected true or false"):
        read_address("postgresql://h/d?prepare=maybe", Limits())


async def test_the_password_is_in_no_error_and_no_repr(fresh_postgres: str):
    url = fresh_postgres.replace("postgres@", "nobody:hunter2@")
    driver = PostgresDriver(url)
    with pytest.raises(Exception, match="cannot connect") as refused:
        await driver.open()
    await driver.close()
    assert "hunter2" not in f"{refused.value!r} {refused.value.__cause__!r} {driver!r} {driver._address!r}"


def test_a_standby_is_named_as_such():
    error = not_done(psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT in a read-only transaction"), "h")
    assert "standby" in str(error)
    assert "primary" in str(error)


@rule("S0.24")
def test_a_missing_psycopg_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "duly.store.postgres.driver", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'duly\[postgres\]'"):
        postgres_store("postgresql://h/d")


def test_every_table_is_named_with_the_schema_which_a_store_replaces():
    texts = [*load_transactions("jobs").values()]
    for statement in at_least(load_queries("jobs"), 293, "statements").values():
        texts += [statement.text.decode(), *([statement.one.text.decode()] if statement.one else [])]
    texts += [in_schema(script, "jobs") for script in load_migrations().values()]
    named = [
        name for text in texts for name in re.findall(r"\b(?:FROM|INTO|JOIN|TABLE|UPDATE|VIEW) (\S*duly_\w+)", text)
    ]
    assert {name for name in at_least(named, 600, "names of tables") if not name.startswith('"jobs".duly_')} == set()
