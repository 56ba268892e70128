"""Which tests run on PostgreSQL: those that say so, and the first of each module."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.store_choice import dropped_on_postgres


class Item:
    """As much of pytest's item as the choice looks at."""

    def __init__(self, path: str, *, marked: bool = False, **parameters: str) -> None:
        self.path = Path(path)
        self.callspec = SimpleNamespace(params=parameters)
        self._marked = marked

    def get_closest_marker(self, name: str) -> object | None:
        return self if self._marked and name == "postgres_too" else None


def dropped(*items: Item) -> list[int]:
    found = dropped_on_postgres(cast(list[pytest.Item], items))
    return [number for number, each in enumerate(items) if cast(pytest.Item, each) in found]


def test_above_a_store_the_first_test_of_a_module_and_the_marked_ones_run_on_postgres() -> None:
    first, second, marked = (
        Item("tests/api/test_a.py", url="postgres"),
        Item("tests/api/test_a.py", url="postgres"),
        Item("tests/api/test_a.py", url="postgres", marked=True),
    )
    assert dropped(first, second, marked) == [1]
    assert dropped(Item("tests/api/test_a.py", url="sqlite"), first, second) == [2]
    assert dropped(first, Item("tests/api/test_b.py", url="postgres")) == []


def test_what_is_no_variant_for_postgres_stays() -> None:
    plain = Item("tests/app/test_a.py")
    assert dropped(plain, plain, Item("tests/app/test_a.py", url="sqlite", dialect="postgres")) == []


def test_tests_of_stores_and_of_the_contract_run_on_every_store() -> None:
    for folder in ("contract", "store", "processes", "differential"):
        variants = [Item(f"tests/{folder}/test_a.py", url="postgres") for _ in range(3)]
        assert dropped(*variants) == []
