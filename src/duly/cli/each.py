"""One action on each of several things that a person named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from duly.core.errors import Conflict, NotFound

from .failing import report
from .printing import Sheet, printer

Answer = dict[str, Any]


def show_each(
    refs: Sequence[str], act: Callable[[str], tuple[Answer, str]], show: Callable[[Answer, str], None]
) -> None:
    """Act on each, and show what it answers with its words: one as itself, several as one list for machines.

    What is not there, or refuses, is told and passed over; the first such gives the exit code.
    """
    out = printer()
    if len(refs) == 1 or out.output not in ("json", "yaml"):
        _on_each(refs, lambda ref: show(*act(ref)))
        return
    items: list[Answer] = []

    def keep(ref: str) -> None:
        item, words = act(ref)
        items.append(item)
        out.say(words)

    try:
        _on_each(refs, keep)
    finally:  # what was done is told also where the rest could not be
        out.show({"items": items, "nextCursor": None}, lambda: Sheet([]))


def say_each(refs: Sequence[str], act: Callable[[str], str]) -> None:
    """Act on each, and say the words that it answers; what is not there, or refuses, as in `show_each`."""
    out = printer()
    _on_each(refs, lambda ref: out.say(act(ref)))


def _on_each(refs: Sequence[str], act: Callable[[str], None]) -> None:
    code = 0
    for ref in refs:
        try:
            act(ref)
        except (NotFound, Conflict) as error:
            if len(refs) == 1:
                raise
            told = report(error)
            code = code or told
    if code:
        click.get_current_context().exit(code)
