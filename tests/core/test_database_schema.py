"""The PostgreSQL schema of a store: which names it may have, and how a URL names it."""

import pytest

from duly.config import database_url
from duly.core.database_schema import check_schema_name, schema_of, with_schema
from duly.core.errors import ValidationFailed

URL = "postgresql://me:a%20b@host/shop"


@pytest.mark.parametrize("name", ["duly", "_", "a" * 63, "select", "public", "jobs_2"])
def test_an_identifier_of_lower_case_letters_is_a_schema_name(name: str) -> None:
    assert check_schema_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "Duly", "2nd", "a-b", "a b", "a.b", 'a"b', "a\n", "ä", "a" * 64, "pg_", "pg_x", "information_schema", 3, None],
)
def test_another_name_is_refused_with_what_was_expected(name: object) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check_schema_name(name, "database.schema")
    error = refused.value
    assert (error.path, error.got) == ("database.schema", name)
    assert "1 to 63 characters of a-z, 0-9 and _" in str(error.expected)
    assert error.hint
    assert repr(name) in str(error)


def test_a_url_names_its_schema_or_means_the_default() -> None:
    assert schema_of(URL) == "duly"
    assert schema_of(f"{URL}?sslmode=require&schema=jobs") == "jobs"
    with pytest.raises(ValidationFailed, match="schema in the database URL is 'Jobs'"):
        schema_of(f"{URL}?schema=Jobs")


def test_the_setting_counts_where_the_url_names_no_schema() -> None:
    assert with_schema(URL, "jobs") == f"{URL}?schema=jobs"
    assert with_schema(f"{URL}?prepare=false", "jobs") == f"{URL}?prepare=false&schema=jobs"
    assert with_schema(f"{URL}?schema=own", "jobs") == f"{URL}?schema=own"
    assert with_schema(URL, None) == URL
    assert with_schema("sqlite:///duly.db", "jobs") == "sqlite:///duly.db"


def test_an_app_without_files_takes_the_schema_of_the_environment() -> None:
    named = {"DULY_DATABASE_SCHEMA": "jobs", "DULY_DATABASE_URL": "postgresql://h/a"}
    assert database_url(None, named) == "postgresql://h/a?schema=jobs"
    assert database_url(URL, named) == f"{URL}?schema=jobs"
    assert database_url(f"{URL}?schema=own", named) == f"{URL}?schema=own"
    assert database_url("sqlite:///x.db", named) == "sqlite:///x.db"
    with pytest.raises(ValidationFailed, match="DULY_DATABASE_SCHEMA is 'No'"):
        database_url(URL, {"DULY_DATABASE_SCHEMA": "No"})
