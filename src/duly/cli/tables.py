"""Tables as wide as the terminal: the widest columns give way, and nothing in a cell can move the cursor."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

GAP = "  "
LEAST = 8
"""No column shrinks below this: better a line that is too long than one that says nothing."""


def lay_out(head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Lines of equal columns, the head first; within ``width`` if that can be, None for as wide as it takes."""
    cells = [list(head), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        _shrink(widths, width - len(GAP) * (len(widths) - 1))
    return [
        GAP.join(_fit(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in cells
    ]  # fmt: skip


def pairs(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of a name and what it is; the values stand in one column."""
    size = max((width_of(name) for name, _ in rows), default=0)
    return [f"{_fit(name, size)}{GAP}{printable(value)}".rstrip() for name, value in rows]


def printable(text: str) -> str:
    """The text without what would move the cursor or colour the screen: that shows as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def width_of(text: str) -> int:
    """How many places of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_places(char) for char in text)


def _places(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _shrink(widths: list[int], room: int) -> None:
    """Take from the widest column, again and again, until all fit."""
    while sum(widths) > room:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= LEAST:
            return
        widths[widest] -= 1


def _fit(text: str, size: int) -> str:
    taken = width_of(text)
    if taken <= size:
        return text + " " * (size - taken)
    kept, left = "", size - 1
    for char in text:
        if _places(char) > left:
            break
        kept += char
        left -= _places(char)
    return kept + "…" + " " * left
