"""What a person hands over: JSON on the command line, in a file, on stdin."""

from __future__ import annotations

import sys
from typing import Any

import click

from .failing import Refused


def read_json(flag: str, given: str) -> Any:
    """The JSON value of ``JSON``, ``@file`` or ``-``."""
    import msgspec

    text = read_text(flag, given[1:]) if given.startswith("@") else read_text(flag, "-") if given == "-" else given
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        reason = str(error).replace("JSON is malformed: ", "")
        raise Refused(
            f"{flag} is not JSON: {reason}", f"""quote it for the shell, e.g. {flag} '{{"user": 42}}'"""
        ) from error


def read_text(flag: str, place: str) -> str:
    """The text of a file, or of stdin for ``-``."""
    try:
        if place == "-":
            return sys.stdin.read()
        with open(place, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Refused(f"{flag}: {place!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"{flag}: {place!r} is not text in UTF-8") from error


def confirm(question: str, *, yes: bool) -> None:
    """Ask before what cannot be undone: on a terminal by a question, elsewhere by ``--yes``."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused(f"{question} Nobody is there to ask", "--yes says that it is meant")
    if not click.confirm(question, err=True):
        raise Refused("nothing was changed", code=1)
