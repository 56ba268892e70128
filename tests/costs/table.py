"""The committed table of costs: one row for each store and operation, read and written here."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tests.costs.measuring import Figures

PATH = Path(__file__).with_name("costs.toml")
STORES = ("sqlite", "postgres")
PYTHON_CALLS = "python_calls"
TOLERANCE = 0.02
"""By how much of the table's figure the number of Python calls may differ; all other figures are exact."""

COMPARES_PYTHON = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11)
"""Other interpreters make other calls; there only what the database does is compared."""

HEAD = """\
# What operations cost, counted: see tests/costs/operations.py for what each does and the counters beside it for how.
# A change that alters a figure alters it here in the same commit: `scripts/costs --write`.
# All figures are exact but python_calls, which is compared within 2 %, on CPython 3.11 alone.
"""

Rows = Mapping[str, Mapping[str, Figures]]
"""Figures by store and operation."""


def read_table() -> Rows:
    rows: Rows = tomllib.loads(PATH.read_text())
    return rows


def write_table(rows: Rows) -> None:
    PATH.write_text(format_table(rows))


def format_table(rows: Rows) -> str:
    parts = [HEAD]
    for store in STORES:
        parts.append(f"\n[{store}]\n")
        name_width = max(map(len, rows[store]))
        widths: dict[str, int] = {}
        for figures in rows[store].values():
            for figure, value in figures.items():
                widths[figure] = max(widths.get(figure, 0), len(str(value)))
        for name, figures in rows[store].items():
            cells = ", ".join(f"{figure} = {value:>{widths[figure]}}" for figure, value in figures.items())
            parts.append(f"{name:<{name_width}} = {{ {cells} }}\n")
    return "".join(parts)


def difference(name: str, store: str, expected: Figures, measured: Figures) -> str | None:
    """Say in words which figures of a row have changed; None if none has."""
    changes = [
        f"{figure} {expected.get(figure, 'none')} -> {measured.get(figure, 'none')}"
        for figure in {**expected, **measured}
        if not is_same(figure, expected.get(figure), measured.get(figure))
    ]
    return f"{name} on {store}: {', '.join(changes)}" if changes else None


def is_same(figure: str, expected: int | None, measured: int | None) -> bool:
    if figure != PYTHON_CALLS:
        return expected == measured
    if not COMPARES_PYTHON:
        return True
    return expected is not None and measured is not None and abs(measured - expected) <= TOLERANCE * expected


def merged(expected: Figures | None, measured: Figures) -> Figures:
    """The row to be written: a figure that counts as the same stays as it is."""
    if expected is None:
        return measured
    return {
        figure: expected[figure] if is_same(figure, expected.get(figure), value) and figure in expected else value
        for figure, value in measured.items()
    }
