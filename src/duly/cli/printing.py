"""The printer: data to stdout in the chosen format, words to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from .options import choices_of
from .streams import escaped, is_terminal
from .tables import lay_out, pairs, printable

COLOURS = {
    "ok": "green", "completed": "green", "on": "green", "on_time": "green",
    "warn": "yellow", "paused": "yellow", "late": "yellow", "skipped": "yellow", "cancelled": "yellow",
    "fail": "red", "failed": "red", "overdue": "red",
    "created": "green", "changed": "cyan", "orphaned": "yellow", "deleted": "red",
    "missed": "red", "doubled": "red", "unexplained": "red", "early": "red",
    "running": "cyan", "pending": "blue", "active": "cyan",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people.

    ``marked`` is the column whose words have colours; ``spare`` are those that a narrow terminal does without.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: int | None = None
    empty: str = "nothing to show"
    spare: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """One thing for people: names and values, and what stands below them."""

    rows: Sequence[tuple[str, str]]
    below: Sequence[str] = field(default_factory=tuple)


class Printer:
    """Prints as the command line asked for it."""

    def __init__(self, output: str, *, quiet: bool) -> None:
        self.output = output
        self._quiet = quiet

    def show(self, value: Any, view: Callable[[], Table | Sheet], *, names: Iterable[str] = ()) -> None:
        """Print a value: as it is for machines, by its view for people, as its names for scripts."""
        match self.output:
            case "json":
                click.echo(to_json(value))
            case "yaml":
                from .yaml import to_yaml

                click.echo(to_yaml(value), nl=False)
            case "name":
                for name in names:
                    click.echo(name)
            case _:
                self._view(view())

    def say(self, words: str) -> None:
        """Tell a person something on stderr."""
        if not self._quiet:
            click.echo("\n".join(map(printable, words.split("\n"))), err=True)

    def _view(self, view: Table | Sheet) -> None:
        if isinstance(view, Sheet):
            for line in (*pairs(view.rows, _coloured_value), *view.below):
                click.echo(line)
            return
        if not view.rows:
            if view.empty:
                self.say(view.empty)
            return

        def paint(cell: str, row: int, column: int) -> str:
            return _coloured(cell, view.rows[row][column]) if column == view.marked else cell

        head, *lines = lay_out(view.head, view.rows, _width(), paint, view.spare)
        click.echo(click.style(head, bold=True))
        for line in lines:
            click.echo(line)


def to_json(value: Any) -> str:
    """The value as JSON text in which all that a terminal might obey, or show in another order, is escaped."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False)
    if all(line.isprintable() for line in text.split("\n")):
        return text
    return "".join(char if char.isprintable() or char == "\n" else escaped(char) for char in text)


def printer() -> Printer:
    """The printer of the command that runs."""
    choices = choices_of(click.get_current_context())
    return Printer(choices.output, quiet=choices.quiet)


def _width() -> int | None:
    """The terminal's width; None where nobody looks, so that nothing is cut off in a pipe."""
    if not is_terminal(sys.stdout):
        return None
    import shutil

    return shutil.get_terminal_size().columns


def _coloured(cell: str, words: str) -> str:
    """What stands in a cell, in the colour of the words that it was made of."""
    colour = COLOURS.get(words.partition(" ")[0])
    text = cell.rstrip()
    return click.style(text, fg=colour) + cell[len(text) :] if colour else cell


def _coloured_value(name: str, value: str) -> str:
    return _coloured(value, value) if name == "status" else value
