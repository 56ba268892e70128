"""The page that maps every line of the source documents to a test tells the truth: each test on it exists."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from duly.testing import contract

ROOT = Path(__file__).parents[2]
PAGE = "docs/acceptance.md"
LINES = {"S0": 38, "S1": 28, "S2": 50, "S3": 78, "S4": 46}
"""How many lines each source document has."""

SCENARIOS = (
    "C1 C2 C3 C4 C5 C6 C7 C8 D1 D2 D3 D4 D5 D6 E8 E12 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 G1 G3 G4 G5 I9 I10 I11"
    " J1 J2 J3 J4 J5 K2 K5"
    " H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11 H12 H13 H14 H15 H16 I1 I2 I3 I4 I5 I6 I7 I8"
).split()
OPEN = re.compile(r"open: issue (\d+)")
TEST = re.compile(r"`([^`]+\.py(?:::\w+)+)`")
ISSUES = range(4, 11)


def rows() -> Iterator[tuple[str, list[str]]]:
    """Each row of the tables: what it is about, and its cells."""
    for line in (ROOT / PAGE).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"S\d\.\d+|[A-K]\d+", cells[0]):
            yield cells[0], cells


@cache
def defined_in(path: str) -> frozenset[str]:
    """The tests that a file defines, as pytest names them, without running it."""
    found: set[str] = set()
    tree = ast.parse((ROOT / path).read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{name}" for name in _names(node.body)}
    return frozenset(found | _names(tree.body))


def _names(body: list[ast.stmt]) -> set[str]:
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {function.name for function in functions if function.name.startswith("test_")}


def test_every_line_and_every_scenario_is_there_once() -> None:
    wanted = [f"{source}.{number}" for source, last in LINES.items() for number in range(1, last + 1)] + SCENARIOS
    assert Counter(about for about, _ in rows()) == Counter(wanted)


def test_every_row_has_its_own_words_and_names_a_test_or_the_issue_that_will_bring_one() -> None:
    for about, cells in rows():
        assert len(cells) == 4, about
        assert cells[1], about
        issues = [int(number) for number in OPEN.findall(cells[2])]
        assert TEST.findall(cells[2]) or issues, about
        assert all(issue in ISSUES for issue in issues), about
        assert not TEST.sub("", OPEN.sub("", cells[2])).replace("<br>", "").strip(), f"{about}: {cells[2]}"


def test_every_test_on_the_page_exists() -> None:
    gone = []
    for about, cells in rows():
        for test in TEST.findall(cells[2]):
            path, _, name = test.partition("::")
            if not (ROOT / path).is_file() or name not in defined_in(path):
                gone.append(f"{about}: {test}")
    assert gone == []


def test_the_other_documents_of_s0_are_there_line_by_line_with_a_test_or_the_reason_why_not() -> None:
    found = re.findall(r"^\| S0d\.(\d+) \| ([^|]+) \| ([^|]*)\| ([^|]*)\|$", (ROOT / PAGE).read_text(), re.MULTILINE)
    assert [int(number) for number, *_ in found] == list(range(10, 69))
    for number, _, shown, note in found:
        tests = TEST.findall(shown)
        assert tests or note.strip(), number
        for path, _, name in (test.partition("::") for test in tests):
            assert name in defined_in(path), f"S0d.{number}: {path}::{name}"


def test_classes_of_the_contract_on_the_page_are_run() -> None:
    """A class counts only if the contract offers it: that is what every store's tests take in."""
    classes = {
        test.split("::")[1]
        for _, cells in rows()
        for test in TEST.findall(cells[2])
        if test.startswith("src/duly/testing/contract/")
    }
    assert classes
    assert classes <= set(contract.__all__)
