"""Tables as wide as the terminal, in which the first column is never cut, and no cell can move the cursor."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

Paint = Callable[[str, int, int], str]

GAP = "  "
LEAST = 8
"""No column shrinks below this: better a line that is too long than one that says nothing."""


class Cell(str):
    """A text that has a brief form, for terminals on which the table would be too wide."""

    brief: str

    def __new__(cls, text: str, brief: str) -> Cell:
        cell = super().__new__(cls, text)
        cell.brief = brief
        return cell


def lay_out(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None,
    paint: Paint = lambda cell, row, column: cell,
    spare: Sequence[int] = (),
) -> list[str]:
    """Lines of equal columns, the head first; within ``width`` if that can be, None for as wide as it takes.

    Where there is too little room, cells become brief, then the ``spare`` columns go, in this order, then the widest
    are cut. The first never is: it is what a person copies to name the row. ``paint`` is given each cell of the rows
    as it will stand there, and its place; what it adds may take no room.
    """
    lines = [list(head), *(list(row) for row in rows)]
    columns = list(range(len(head)))
    if width is not None:
        columns = _fitting(lines, width, spare)
    cells = [[printable(line[column]) for column in columns] for line in lines]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        _shrink(widths, width - len(GAP) * (len(widths) - 1))
    first, *others = ([_fit(cell, size) for cell, size in zip(row, widths, strict=True)] for row in cells)
    painted = (
        [paint(cell, at, column) for column, cell in zip(columns, row, strict=True)] for at, row in enumerate(others)
    )
    return [GAP.join(row).rstrip() for row in (first, *painted)]


def _fitting(lines: list[list[str]], width: int, spare: Sequence[int]) -> list[int]:
    """The columns to show, after cells were made brief if that was needed."""
    columns = list(range(len(lines[0])))
    if _total(lines, columns) <= width:
        return columns
    for line in lines:
        line[:] = [cell.brief if isinstance(cell, Cell) else cell for cell in line]
    for column in spare:
        if _total(lines, columns) <= width:
            break
        columns.remove(column)
    return columns


def _total(lines: list[list[str]], columns: list[int]) -> int:
    widths = [max(width_of(printable(line[column])) for line in lines) for column in columns]
    return sum(widths) + len(GAP) * (len(widths) - 1)


def pairs(rows: Sequence[tuple[str, str]], paint: Callable[[str, str], str] = lambda name, value: value) -> list[str]:
    """Lines of a name and what it is; the values stand in one column, as ``paint`` makes them of name and value."""
    size = max((width_of(name) for name, _ in rows), default=0)
    return [f"{_fit(name, size)}{GAP}{paint(name, printable(value))}".rstrip() for name, value in rows]


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
    """Take from the widest column but the first, again and again, until all fit."""
    while sum(widths) > room and len(widths) > 1:
        widest = max(range(1, len(widths)), key=widths.__getitem__)
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


def counted(number: int, noun: str) -> str:
    """A number of things: "1 window", "2 windows"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
