"""Every rule has a test, every marker names a rule, and the acceptance page shows both."""

from pathlib import Path

import pytest

from tests.acceptance.page import COMMAND, PAGE, Misplaced, marked_tests, marks_in, problems, render
from tests.acceptance.rules import Rule, Section, load_sections, rule

# How many rules each source has. The documents are not in this repository; a rule can be lost only by an edit here.
LINES = {"S0": (1, 38), "S0d": (10, 68), "S1": (1, 28), "S2": (1, 50), "S3": (1, 78), "S4": (1, 46)}
SCENARIOS = {"A": 13, "B": 13, "C": 8, "D": 6, "E": 12, "F": 10, "G": 5, "H": 16, "I": 11, "J": 5, "K": 5}
INTEGRATIONS = ["FastAPI", "Django.transactions", "Django.admin", "Django.project", "Flask", "Celery"]
MIN_TESTS = 378
"""Tests that carry a marker. A fall needs an edit here."""

ONE = [Section("One", (Rule("S9.1", "It holds."), Rule("S9.2", "It is not there.", left_out="Nobody needs it.")))]
IMPORT = "from tests.acceptance.rules import rule\n"


@pytest.fixture(scope="module")
def marked() -> dict[str, list[str]]:
    return marked_tests()


def test_no_rule_is_missing_and_none_is_new() -> None:
    expected = [f"{source}.{number}" for source, (first, last) in LINES.items() for number in range(first, last + 1)]
    expected += [f"{letter}{number}" for letter, last in SCENARIOS.items() for number in range(1, last + 1)]
    expected += INTEGRATIONS
    assert [rule.id for section in load_sections() for rule in section.rules] == expected
    assert len(expected) == 409


def test_every_rule_has_a_test_and_every_marker_names_a_rule(marked: dict[str, list[str]]) -> None:
    found = problems(load_sections(), marked)
    assert not found, "\n".join(found)
    assert len({test for tests in marked.values() for test in tests}) >= MIN_TESTS


def test_the_page_is_up_to_date(marked: dict[str, list[str]]) -> None:
    current = PAGE.read_text("utf-8") == render(load_sections(), marked)
    assert current, f"docs/acceptance.md is out of date; regenerate it: {COMMAND}"


def test_only_rules_of_the_other_documents_are_left_out() -> None:
    left_out = [rule.id for section in load_sections() for rule in section.rules if rule.left_out]
    assert left_out == ["S0d.14", "S0d.22", "S0d.51", "S0d.52", "S0d.60"]


def test_a_rule_without_a_test_is_a_problem() -> None:
    assert problems(ONE, {}) == ["S9.1 has no test; mark one with @rule('S9.1')"]


def test_a_marker_that_names_no_rule_is_a_problem() -> None:
    marked = {"S9.1": ["tests/test_a.py::test_a"], "S9.3": ["tests/test_b.py::test_b"]}
    assert problems(ONE, marked) == ["@rule('S9.3') on tests/test_b.py::test_b names no rule of rules.toml"]


def test_a_rule_that_is_left_out_has_no_test() -> None:
    marked = {id: ["tests/test_a.py::test_a"] for id in ("S9.1", "S9.2")}
    assert problems(ONE, marked) == ["S9.2 is left out, but tests/test_a.py::test_a shows it"]


def test_a_rule_occurs_once_and_has_a_text() -> None:
    twice = [Section("Two", (Rule("S9.1", "It holds."), Rule("S9.1", "")))]
    assert problems(twice, {"S9.1": ["tests/test_a.py::test_a"]}) == ["S9.1 occurs 2 times", "S9.1 has no text"]


def test_the_page_shows_tests_notes_and_differences() -> None:
    rules = (Rule("S9.1", "a|b", note="See it.", differs="Only a."), *ONE[0].rules[1:])
    page = render([Section("One", rules)], {"S9.1": ["tests/test_a.py::test_a", "tests/test_b.py::test_b"]})
    assert page.endswith(
        "## One\n\n| rule | what holds | shown by | notes |\n|---|---|---|---|\n"
        "| S9.1 | a&#124;b | `tests/test_a.py::test_a`<br>`tests/test_b.py::test_b` | *Differs:* Only a. See it. |\n"
        "| S9.2 | It is not there. | *left out:* Nobody needs it. |  |\n"
    )


def test_markers_are_found_on_functions_methods_and_cases() -> None:
    text = f"""{IMPORT}
CASES = [pytest.param(1, marks=[rule("A1"), pytest.mark.slow]), 2]

@rule("A2", "A3")
@rule("A4")
def test_function(): ...

class TestClass:
    @rule("A5")
    async def test_method(self): ...

@pytest.mark.parametrize("number", [pytest.param(3, marks=rule("A6")), 4])
def test_inline(number): ...

@pytest.mark.parametrize("number", CASES)
def test_table(number): ...
"""
    assert sorted(marks_in("tests/test_a.py", text)) == [
        ("A1", "test_table"),
        ("A2", "test_function"),
        ("A3", "test_function"),
        ("A4", "test_function"),
        ("A5", "TestClass::test_method"),
        ("A6", "test_inline"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('@rule("A1")\nclass TestClass: ...', "is on no test", id="on a class"),
        pytest.param('@rule("A1")\ndef helper(): ...', "is on no test", id="on a helper"),
        pytest.param('pytestmark = rule("A1")', "is on no test", id="on a module"),
        pytest.param("@rule(ID)\ndef test_a(): ...", "literal strings", id="not a literal"),
        pytest.param("@rule()\ndef test_a(): ...", "one or more rules", id="no id"),
        pytest.param('@pytest.mark.rule("A1")\ndef test_a(): ...', "by another name", id="pytest's own name"),
    ],
)
def test_a_marker_that_would_not_count_is_refused(text: str, message: str) -> None:
    with pytest.raises(Misplaced, match=message):
        list(marks_in("tests/test_a.py", IMPORT + text))


def test_the_marker_has_one_name() -> None:
    with pytest.raises(Misplaced, match="by another name"):
        list(marks_in("tests/test_a.py", "from tests.acceptance.rules import rule as shows"))


def test_a_test_in_a_helper_file_counts_only_where_a_test_file_imports_it(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "shared.py").write_text(f'{IMPORT}\nclass TestShared:\n    @rule("A1")\n    def test_a(self): ...\n')
    with pytest.raises(
        Misplaced, match=r"tests/shared\.py::TestShared::test_a has @rule, but no test_\*\.py imports it"
    ):
        marked_tests(tmp_path)
    (tests / "test_a.py").write_text("from tests.shared import (\n    Other,\n    TestShared,\n)\n")
    assert marked_tests(tmp_path) == {"A1": ["tests/shared.py::TestShared::test_a"]}


def test_the_marker_is_one_of_pytest() -> None:
    [mark] = map(rule, ["A1"])
    assert (mark.name, mark.args) == ("rule", ("A1",))
