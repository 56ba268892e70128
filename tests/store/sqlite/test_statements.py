"""Statements: read from files, bound by position, many rows at once where that pays."""

from collections.abc import Iterator

import apsw
import pytest

from duly.store.sqlite.migrating import load_migrations
from duly.store.sqlite.statements import compile_statements, execute, load_statements
from duly.store.statements import batch, query
from tests.counting import at_least


@pytest.fixture
def cursor() -> Iterator[apsw.Cursor]:
    connection = apsw.Connection(":memory:")
    for script in load_migrations().values():
        connection.execute(script)
    connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT) STRICT")
    yield connection.cursor()
    connection.close()


@pytest.mark.parametrize("name", at_least(sorted(load_statements()), 293, "statements"))
def test_every_statement_can_be_prepared_in_every_size(cursor: apsw.Cursor, name: str) -> None:
    for statement in at_least(load_statements()[name], 1, f"texts of {name}"):
        for text in (statement.text, *statement.many.values()):
            cursor.execute(f"EXPLAIN {text}", [None] * _parameters(text))


def _parameters(text: str) -> int:
    numbered = [int(part) for part in "".join(c if c.isdigit() else " " for c in _after_marks(text)).split()]
    return max([text.count("?") - len(numbered), *numbered])


def _after_marks(text: str) -> str:
    return " ".join(part[: len(part) - len(part.lstrip("0123456789"))] for part in text.split("?")[1:])


def test_a_parameter_used_twice_is_bound_once() -> None:
    (statement,) = compile_statements("-- :not_this\nSELECT :a + :b, :a")
    assert (statement.text, statement.names) == ("SELECT ?1 + ?2, ?1", ("a", "b"))


def test_a_list_is_a_json_array(cursor: apsw.Cursor, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT value, :flag FROM json_each(:words)"
    monkeypatch.setitem(load_statements(), "words", compile_statements(text))
    words = ['quote "', "back \\", "snow ☃", ""]
    assert execute(cursor, query("words", words=words, flag=True)) == [(word, 1) for word in words]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 99, 100, 101, 321])
def test_a_batch_runs_every_row_once_whatever_the_size(
    cursor: apsw.Cursor, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    insert = "INSERT INTO numbers (n, word) VALUES (:n, :word) ON CONFLICT DO NOTHING RETURNING n"
    monkeypatch.setitem(load_statements(), "insert", compile_statements(insert))
    columns = {"n": range(count), "word": [f"w{n}" for n in range(count)]}
    assert sorted(execute(cursor, batch("insert", columns))) == [(n,) for n in range(count)]
    assert execute(cursor, batch("insert", columns)) == []
    found = cursor.execute("SELECT n, word FROM numbers ORDER BY n").fetchall()
    assert found == [(n, f"w{n}") for n in range(count)]


def test_what_is_the_same_for_all_rows_is_bound_beside_them(
    cursor: apsw.Cursor, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "WITH new (n) AS (VALUES (:n)) SELECT n, :now, :word FROM new WHERE :now > 0"
    monkeypatch.setitem(load_statements(), "shown", compile_statements(text))
    shown = execute(cursor, batch("shown", {"n": range(123)}, now=5, word="x"))
    assert sorted(shown) == [(n, 5, "x") for n in range(123)]


def test_several_statements_of_a_file_run_one_after_the_other(
    cursor: apsw.Cursor, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "INSERT INTO numbers (n) VALUES (:n); DELETE FROM numbers WHERE n = :n AND n > :least RETURNING n;"
    monkeypatch.setitem(load_statements(), "both", compile_statements(text))
    assert execute(cursor, batch("both", {"n": range(4)}, least=1)) == [(2,), (3,)]
    assert cursor.execute("SELECT n FROM numbers ORDER BY n").fetchall() == [(0,), (1,)]
