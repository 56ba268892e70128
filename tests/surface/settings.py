"""Derives the settings: names, defaults, variables, TOML keys, and the values that each accepts, found by probing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from duly.config import declared
from duly.config.options import OPTIONS, Option, Refused
from duly.config.sources import FILE_HERE, FILE_OF_MACHINE
from tests.surface.diff import Tree

UNNAMED = "unnamed"
"""A name that no error names."""
NONSENSE = "no-such-word"
SAMPLES: dict[str, Any] = {
    "text": NONSENSE, "long text": "x" * 40, "text beyond ASCII": "é", "duration": "5m", "true": True, "-1": -1, "0": 0,
    "1": 1, "65535": 65535, "65536": 65536, "0.5": 0.5, "list of text": [NONSENSE], "empty list": [],
}  # fmt: skip


def derive() -> Tree:
    """Return each setting by name, the names of the files, and the keys of a declared schedule."""
    tree: Tree = {path: _describe(option) for path, option in OPTIONS.items()}
    tree["[[schedules]]"] = {"keys": sorted(declared.WORDS)}
    tree["files"] = {"here": FILE_HERE, "machine": str(FILE_OF_MACHINE)}
    return tree


def _describe(option: Option) -> Tree:
    found: Tree = {
        "toml": option.shown,
        "variables": list(option.variables),
        "default": list(option.default) if isinstance(option.default, tuple) else option.default,
        "accepts": [name for name, value in SAMPLES.items() if _accepts(option, value)],
        "type": type(_read(option)).__name__,
    }
    if option.secret:
        found["secret"] = True
        found["variables"] += [f"{name}_FILE" for name in option.variables]
    if choices := sorted(_choices(option)):
        found["choices"] = choices
    return found


def _accepts(option: Option, value: Any) -> bool:
    try:
        option.kind.read(value)
    except Refused:
        return False
    return True


def _read(option: Option) -> Any:
    """Return an accepted value as the program receives it."""
    values = [*_choices(option), *SAMPLES.values()]
    return next(option.kind.read(value) for value in values if _accepts(option, value))


def _choices(option: Option) -> Iterator[str]:
    """Yield the accepted words of a setting that rejects other text; the error names them."""
    if any(_accepts(option, text) for text in (NONSENSE, SAMPLES["duration"], UNNAMED)):
        return
    try:
        option.kind.read(NONSENSE)
    except Refused as refused:
        yield from (word for word in re.findall(r"[\w-]+", str(refused)) if _accepts(option, word))
