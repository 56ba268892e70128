"""The page that maps every line of the source documents to a test tells the truth: each test on it exists."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.contract import suite

ROOT = Path(__file__).parents[2]
PAGE = "docs/acceptance.md"
# The ids are kept here, as the documents themselves are not in this repository: each has its lines from 1 on.
LINES = {"S0": 38, "S1": 28, "S2": 50, "S3": 78, "S4": 46}
"""How many lines each source document has."""

LAST = {"A": 13, "B": 13, "C": 8, "D": 6, "E": 12, "F": 10, "G": 5, "H": 16, "I": 11, "J": 5, "K": 5}
"""The last scenario of each letter."""

SCENARIOS = [f"{letter}{number}" for letter, last in LAST.items() for number in range(1, last + 1)]
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


def test_no_line_of_the_source_documents_is_open() -> None:
    assert [about for about, cells in rows() if about.startswith("S") and not TEST.findall(cells[2])] == []


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
        if test.startswith("tests/contract/suite/")
    }
    assert classes
    assert classes <= set(suite.__all__)
