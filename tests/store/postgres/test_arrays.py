"""What goes over as an array literal comes back as the same values."""

from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duly.core.errors import ValidationFailed
from duly.core.run import Hold, RunKind
from duly.store.postgres.arrays import encode, encode_array, encode_column, encode_joined, encode_spread

texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
tricky = st.sampled_from(
    ["", "NULL", "null", '"', "\\", '\\"', "{", "}", "{}", ",", " ", "a b", "\n", "\t", "'", "%s", "ü€😀"]
)
bigints = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(scope="module")
def connection(postgres_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def back(connection: psycopg.Connection, values: list[Any], kind: str) -> list[Any]:
    question = f"SELECT v FROM unnest(%s::{kind}[]) WITH ORDINALITY AS n (v, at) ORDER BY at"
    return [row[0] for row in connection.execute(question.encode(), [encode_array(values)])]


@given(values=st.lists(st.recursive(texts | tricky | st.none(), st.lists, max_leaves=5), min_size=1))
@example(values=["\x1f", "\x1f\x1f"])
def test_json_comes_back_from_one_text(connection: psycopg.Connection, values: list[Any]):
    given = [msgspec.json.encode(value).decode() for value in values]
    question = "SELECT string_to_array(%s::text, E'\\x1f')"
    assert connection.execute(question, [encode_joined(given)]).fetchone() == (given,)


@pytest.mark.parametrize("text", ["\x00", '"a\x1fb"'])
def test_what_is_no_json_is_refused_instead_of_parted_wrongly(text: str):
    with pytest.raises(ValidationFailed, match=r"NUL|U\+001F"):
        encode_joined(["{}", text])


@given(values=st.lists(texts | tricky | st.none()))
@example(values=[])
@example(values=[None])
@example(values=[None, None, ""])
def test_any_text_comes_back(connection: psycopg.Connection, values: list[str | None]):
    assert back(connection, values, "text") == values


@given(values=st.lists(texts | tricky, min_size=1))
def test_any_text_without_null_comes_back(connection: psycopg.Connection, values: list[str]):
    assert back(connection, values, "text") == values


@given(values=st.lists(bigints | st.none()))
def test_any_number_comes_back(connection: psycopg.Connection, values: list[int | None]):
    assert back(connection, values, "bigint") == values


@given(values=st.lists(st.booleans() | st.none()))
def test_any_truth_comes_back(connection: psycopg.Connection, values: list[bool | None]):
    assert back(connection, values, "boolean") == values


@given(value=texts | tricky)
def test_a_single_text_is_not_taken_for_an_array(connection: psycopg.Connection, value: str):
    row = connection.execute("SELECT %s::text", [encode(value)]).fetchone()
    assert row == (value,)


@given(rows=st.lists(st.tuples(bigints, texts | st.none(), bigints | st.none()), min_size=1))
@example(rows=[(1, None, None), (2, None, None)])
@example(rows=[(1, None, 5), (2, "", None)])
def test_columns_come_back_as_the_same_rows(
    connection: psycopg.Connection, rows: list[tuple[int, str | None, int | None]]
):
    question = (
        "SELECT a, b, c FROM unnest(%s::bigint[], %s::text[], %s::bigint[])"
        " WITH ORDINALITY AS n (a, b, c, at) ORDER BY at"
    )
    assert (
        connection.execute(question, [encode_column(column) for column in zip(*rows, strict=True)]).fetchall() == rows
    )


def test_a_column_of_one_value_is_sent_once():
    assert encode_spread(["a", "a", "a"]) == '{"a"}'
    assert encode_spread([1, 2, 1]) == "{1,2,1}"
    with pytest.raises(TypeError, match="must have a value"):
        encode_spread([1, None])


def test_words_and_numbers_of_enums_are_their_values():
    assert encode_array([RunKind.WINDOW, "x"]) == '{"window","x"}'
    assert encode_array([Hold.LANE, 0]) == "{1,0}"
    assert (encode(RunKind.DIRECT), encode(Hold.LANE), encode(True), encode(None)) == ("direct", "1", "t", None)


@pytest.mark.parametrize("values", [["a\x00b"], ["\x00"], [None, "a\x00"], ["fine", "a\x00", "fine"]])
def test_nul_is_refused_by_name(values: list[str | None]):
    with pytest.raises(ValidationFailed, match="NUL character"):
        encode_array(values)
    with pytest.raises(ValidationFailed, match="NUL character"):
        encode(next(value for value in values if value and "\x00" in value))


def test_what_has_no_text_form_is_refused():
    with pytest.raises(TypeError, match="float"):
        encode_array([1.5])
    with pytest.raises(TypeError, match="object"):
        encode(object())
