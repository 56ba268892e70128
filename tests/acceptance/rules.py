"""The rules that duly keeps, and the marker by which a test says which of them it shows."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("rules.toml")


def rule(*ids: str) -> pytest.MarkDecorator:
    """Mark a test, or a case of it (``pytest.param(…, marks=rule("S2.17"))``), as showing these rules.

    ``docs/acceptance.md`` is generated from these markers without importing the tests, so the ids are literals.
    """
    return pytest.mark.rule(*ids)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in our own words; see ``rules.toml`` for the fields."""

    id: str
    text: str
    note: str = ""
    differs: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The rules of one source, in order."""

    title: str
    rules: tuple[Rule, ...]


def load_sections(file: Path = FILE) -> tuple[Section, ...]:
    """Read the rules; a field that is misspelt or missing raises TypeError."""
    sections = tomllib.loads(file.read_text("utf-8"))["sections"]
    return tuple(
        Section(section["title"], tuple(Rule(**fields) for fields in section["rules"])) for section in sections
    )
