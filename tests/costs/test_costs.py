"""Operations cost what the table says: statements, round trips, transactions, rows, index entries, Python calls."""

from pathlib import Path

import pytest

from tests.conftest import need
from tests.costs.measuring import Measured, measure_postgres, measure_sqlite
from tests.costs.operations import OPERATIONS
from tests.costs.table import PATH, STORES, difference, format_table, is_same, merged, read_table
from tests.databases import ReadyDatabases

ROWS = read_table()


@pytest.mark.parametrize("name", OPERATIONS)
async def test_operation_costs_on_sqlite_what_the_table_says(name: str, tmp_path: Path) -> None:
    compare(name, "sqlite", await measure_sqlite(name, tmp_path))


@pytest.mark.parametrize("name", OPERATIONS)
async def test_operation_costs_on_postgres_what_the_table_says(
    name: str, postgres_url: str, ready_databases: ReadyDatabases
) -> None:
    with need("postgres"):
        measured = await measure_postgres(name, postgres_url, ready_databases.template())
    compare(name, "postgres", measured)


def compare(name: str, store: str, measured: Measured) -> None:
    changed = difference(name, store, ROWS[store].get(name, {}), measured.figures)
    if changed is not None:
        pytest.fail(
            f"{changed}\nIf that is intended, run `scripts/costs --write` and commit the table with the change."
            "\nStatements now:\n  " + "\n  ".join(measured.summary()),
            pytrace=False,
        )


@pytest.mark.parametrize("store", STORES)
def test_table_has_a_row_for_each_operation(store: str) -> None:
    assert list(ROWS[store]) == list(OPERATIONS)


def test_table_is_written_as_it_is_read() -> None:
    assert format_table(ROWS) == PATH.read_text()


def test_difference_names_the_figure_before_and_after() -> None:
    before, after = {"statements": 5, "rows": 3}, {"statements": 6, "rows": 3}
    assert difference("create", "sqlite", before, after) == "create on sqlite: statements 5 -> 6"
    assert difference("create", "sqlite", after, before) == "create on sqlite: statements 6 -> 5"
    assert difference("create", "sqlite", before, before) is None
    assert difference("create", "sqlite", {}, before) == "create on sqlite: statements none -> 5, rows none -> 3"


def test_python_calls_may_differ_by_two_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.costs.table.COMPARES_PYTHON", True)
    assert is_same("python_calls", 500, 510)
    assert is_same("python_calls", 500, 490)
    assert not is_same("python_calls", 500, 511)
    assert not is_same("python_calls", 500, 489)
    assert not is_same("statements", 500, 501)
    assert merged({"python_calls": 500, "rows": 3}, {"python_calls": 509, "rows": 2}) == {
        "python_calls": 500,
        "rows": 2,
    }
    assert merged({"python_calls": 500, "rows": 3}, {"python_calls": 520, "rows": 3}) == {
        "python_calls": 520,
        "rows": 3,
    }


def test_other_interpreters_compare_what_the_database_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.costs.table.COMPARES_PYTHON", False)
    assert is_same("python_calls", 500, 900)
    assert not is_same("statements", 5, 6)
    assert merged({"python_calls": 500}, {"python_calls": 900}) == {"python_calls": 500}
