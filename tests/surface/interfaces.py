"""Reads the interfaces that DESIGN.md fixes; each must be part of the derived surfaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.surface.diff import Difference, Tree, differences

FILE = Path(__file__).parent / "interfaces.json"
ANY = "*"
"""A value that is not fixed: only its name must exist."""


def read() -> Tree:
    """Return the fixed interfaces."""
    fixed: Tree = json.loads(FILE.read_text("utf-8"))["fixed"]
    return fixed


def lost(fixed: Tree, derived: Tree) -> Iterator[Difference]:
    """Yield each fixed value that is missing or different."""
    for one in differences(fixed, derived):
        if one.verb == "removed" or (one.verb == "changed" and one.old != ANY):
            yield one


def count(tree: Any) -> int:
    """Return the number of fixed values; an empty object counts as one, since it fixes a name."""
    if isinstance(tree, dict) and tree:
        return sum(count(inner) for inner in tree.values())
    return len(tree) if isinstance(tree, list) else 1
