"""The interfaces that DESIGN.md fixes: what must be in the derived surfaces, whatever else changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.surface.diff import Difference, Tree, differences

FILE = Path(__file__).parent / "interfaces.json"
ANY = "*"
"""A value that is not fixed: it is enough that the name exists."""


def read() -> tuple[Tree, Tree]:
    """What is fixed, and what DESIGN.md names but the program does not have yet; both by surface."""
    whole = json.loads(FILE.read_text("utf-8"))
    return whole["fixed"], whole["missing"]


def lost(fixed: Tree, derived: Tree) -> Iterator[Difference]:
    """Yield what is fixed and is not there, or is something else."""
    for one in differences(fixed, derived):
        if one.verb == "removed" or (one.verb == "changed" and one.old != ANY):
            yield one


def count(tree: Any) -> int:
    """How many values a tree fixes; an empty object fixes that a name exists."""
    if isinstance(tree, dict) and tree:
        return sum(count(inner) for inner in tree.values())
    return len(tree) if isinstance(tree, list) else 1
