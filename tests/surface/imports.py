"""Finds the import paths that people copy from README, docs, examples and ``typing_api.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("README.md", "docs/*.md", "examples/**/*.py", "examples/**/*.md", "tests/app/typing_api.py")
REQUIRED = (
    "duly",
    "duly.api.application",
    "duly.client",
    "duly.consuming",
    "duly.dashboard",
    "duly.testing",
    "duly.testing.contract.target",
)
"""Modules that are public even if no page imports them."""

_FROM = re.compile(r"^[ \t>.]*from (duly[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)
_COMMENT = re.compile("#.*")
_DOTTED = re.compile(r"(?<![\w/.@-])duly(?:\.\w+)+")


def sources() -> list[Path]:
    return sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))


def imported(text: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each ``from duly… import`` in a text."""
    for module, inside, after in _FROM.findall(text):
        for part in _COMMENT.sub("", inside or after).split(","):
            name = part.strip().partition(" ")[0]
            if name:
                yield module, name


def named(text: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each dotted path, such as ``duly.Retry``; a module has an empty name."""
    for dotted in _DOTTED.findall(text):
        module, _, name = dotted.rpartition(".")
        if _is_module(dotted):
            yield dotted, ""
        elif _is_module(module) and name in exported(module):
            yield module, name


def used() -> dict[str, set[str]]:
    """Return the names that the sources use, by module; an empty name is the module itself."""
    found: dict[str, set[str]] = {}
    for path in sources():
        text = path.read_text("utf-8")
        for module, name in (*imported(text), *named(text)):
            found.setdefault(module, set()).add(name)
    return found


def public() -> dict[str, set[str]]:
    """Return the public names by module: the exported ones, and others that the sources use."""
    found = {module: names - {""} for module, names in used().items()}
    for module in REQUIRED:
        found.setdefault(module, set())
    return {module: names | exported(module) for module, names in found.items()}


def exported(module: str) -> set[str]:
    """Return ``__all__`` of a module; a required module without one exports what it defines."""
    loaded = import_module(module)
    if hasattr(loaded, "__all__"):
        return set(loaded.__all__)
    if module not in REQUIRED:
        return set()
    return {
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    }


def _is_module(path: str) -> bool:
    try:
        return find_spec(path) is not None
    except ModuleNotFoundError:
        return False
