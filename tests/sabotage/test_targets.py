"""Edits are looked for inside their target only, and must fit there exactly once."""

import re
from pathlib import Path

import pytest

from tests.sabotage import targets
from tests.sabotage.targets import Edit, OutOfDate, Target, broken_files, find_target, sql

SOURCE = """\
import math

LIMIT = 3
SMALL: int = 2
if LIMIT:
    def halve(n: int) -> int:
        return n // 2

def halve_twice(n: int) -> int:
    def inner(n: int) -> int:
        return n // 2
    return inner(inner(n))

class Box:
    size = 2

    @property
    def width(self) -> int:
        return self.size // 2

    @width.setter
    def width(self, n: int) -> None:
        self.size = n // 2

    class Lid:
        async def close(self) -> int:
            return 7 // 2
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "shop" / "boxes.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    (path.parent / "__init__.py").write_text("SIZE = 1\n")
    monkeypatch.setattr(targets, "SRC", tmp_path)
    return path


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("shop.SIZE", ["SIZE = 1"]),
        ("shop.boxes.LIMIT", ["LIMIT = 3"]),
        ("shop.boxes.SMALL", ["SMALL: int = 2"]),
        ("shop.boxes.halve", ["    def halve(n: int) -> int:", "        return n // 2"]),
        ("shop.boxes.halve_twice.inner", ["    def inner(n: int) -> int:", "        return n // 2"]),
        ("shop.boxes.Box.size", ["    size = 2"]),
        ("shop.boxes.Box.Lid.close", ["        async def close(self) -> int:", "            return 7 // 2"]),
    ],
)
def test_definition_is_found_by_qualified_name(source: Path, name: str, lines: list[str]) -> None:
    (span,) = find_target(name)
    assert span.path.read_text()[span.start : span.end].splitlines() == lines


def test_property_includes_decorators_and_setter(source: Path) -> None:
    getter, setter = find_target("shop.boxes.Box.width")
    assert SOURCE[getter.start :].startswith("    @property\n")
    assert SOURCE[setter.start :].startswith("    @width.setter\n")


def test_edit_changes_its_target_only(source: Path) -> None:
    edits = [Edit("shop.boxes.halve", "// 2", "// 3"), Edit("shop.boxes.Box.Lid.close", "7 // 2", "0")]
    expected = SOURCE.replace("n // 2", "n // 3", 1).replace("7 // 2", "0")
    assert broken_files(edits) == {source: expected}


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([Edit("shop.boxes.halve", "n // 4", "0")], "shop.boxes.halve has 'n // 4' 0 times"),
        ([Edit("shop.boxes.halve", "7 // 2", "0")], "shop.boxes.halve has '7 // 2' 0 times"),
        ([Edit("shop.boxes.Box.width", "// 2", "0")], "shop.boxes.Box.width has '// 2' 2 times"),
        ([Edit("shop.boxes.size", "2", "3")], "there is no shop.boxes.size; .* perhaps shop.boxes.Box.size"),
        ([Edit("shop.boxes", "2", "3")], "there is no shop.boxes;"),
        ([Edit("shop.bags.halve", "2", "3")], "perhaps shop.boxes.halve"),
        ([Edit("shop.boxes.halve", "n // 2", "0"), Edit("shop.boxes.halve", "// 2", "")], "two edits overlap"),
        ([Edit(sql("sqlite", "claim_everything"), "1", "2")], "there is no sqlite statement claim_everything"),
    ],
)
def test_edit_that_does_not_fit_is_out_of_date(source: Path, edits: list[Edit], reason: str) -> None:
    with pytest.raises(OutOfDate, match=reason):
        broken_files(edits)


@pytest.mark.parametrize("target", [sql("sqlite", "lock_runs"), sql("postgres", "lock_runs"), sql("postgres", "now")])
def test_statement_is_found_by_name(target: Target) -> None:
    (span,) = find_target(target)
    assert re.search(r"^(SELECT|UPDATE|WITH)", span.path.read_text()[span.start : span.end], re.MULTILINE)
