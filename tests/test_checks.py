"""The checks themselves: none of them passes because there was nothing to look at."""

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from tests.counting import at_least

ROOT = Path(__file__).parents[1]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
CONTRACTS = at_least(CONFIG["importlinter"]["contracts"], 5, "contracts of imports")


def test_fewer_than_expected_fails_and_says_how_many_there_are() -> None:
    assert at_least(["a", "b"], 2, "statements") == ["a", "b"]
    with pytest.raises(AssertionError, match="found 0 statements, expected at least 293"):
        at_least([], 293, "statements")


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract["id"]))
def test_a_contract_of_imports_cannot_pass_over_what_is_not_there(contract: dict[str, object]) -> None:
    """import-linter refuses modules of ours that are not there, but for optional layers and where told to be silent."""
    assert contract.get("unmatched_ignore_imports_alerting", "error") == "error"
    layers = contract.get("layers", [])
    assert isinstance(layers, list)
    assert [layer for layer in layers if "(" in layer] == [], "a layer in parentheses may be missing"


@pytest.mark.parametrize(
    "module",
    at_least(sorted({name for one in CONTRACTS for name in one.get("forbidden_modules", [])}), 13, "forbidden modules"),
)
def test_a_forbidden_module_is_one(module: str) -> None:
    """A misspelled one would be forbidden to nobody."""
    assert module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None


def test_every_example_is_named_by_a_test() -> None:
    examples = {path.stem for path in (ROOT / "examples").iterdir() if path.name != "__pycache__"}
    at_least(examples, 9, "examples")
    texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    assert {name for name in examples if not any(name in text for text in texts)} == set()


def test_mypy_and_pytest_look_everywhere() -> None:
    assert {"src", "tests"} <= set(CONFIG["mypy"]["files"])
    assert CONFIG["pytest"]["ini_options"]["testpaths"] == ["tests"]
    assert CONFIG["pytest"]["ini_options"]["empty_parameter_set_mark"] == "fail_at_collect"
