"""What a person hands over: JSON on the command line, in a file, on stdin."""

from __future__ import annotations

import sys
from typing import Any

import click

from .failing import Refused
from .streams import is_terminal

_EXAMPLES = {"--target": '{"kind": "queue", "name": "mail"}'}


def read_json(flag: str, given: str) -> Any:
    """The JSON value of ``JSON``, ``@file`` or ``-``."""
    import msgspec

    text = read_text(flag, given[1:]) if given.startswith("@") else read_text(flag, "-") if given == "-" else given
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        reason = str(error).replace("JSON is malformed: ", "")
        example = _EXAMPLES.get(flag, '{"user": 42}')
        raise Refused(f"{flag} is not JSON: {reason}", f"quote it for the shell, e.g. {flag} '{example}'") from error
    except UnicodeEncodeError as error:
        raise Refused(f"{flag} is not text in UTF-8") from error


def read_text(flag: str, place: str) -> str:
    """The text of a file, or of stdin for ``-``."""
    try:
        if place == "-":
            return sys.stdin.read() if sys.stdin is not None else ""
        with open(place, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Refused(f"{flag}: {place!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Refused(f"{flag}: {place!r} is not text in UTF-8") from error


def length_of(flag: str, text: str) -> int:
    """A length of time, in milliseconds."""
    from duly.core.errors import DulyError
    from duly.core.timing import parse_duration

    try:
        return parse_duration(text)
    except DulyError:
        raise Refused(f"{flag} is {text!r}; expected a length such as 90d or 12h") from None


def later(flag: str, text: str) -> str:
    """An instant as it was given, or the end of a length from now (``2h``), by this machine's clock."""
    return text if _is_instant(text) else _away(flag, text, 1, "from now")


def earlier(flag: str, text: str) -> str:
    """An instant as it was given, or the one that was so long ago (``7d``), by this machine's clock."""
    return text if _is_instant(text) else _away(flag, text, -1, "ago")


def _is_instant(text: str) -> bool:
    return "-" in text or ":" in text


def _away(flag: str, text: str, sign: int, words: str) -> str:
    from .times import rfc3339, system_now

    try:
        return rfc3339(system_now() + sign * length_of(flag, text))
    except Refused:
        instant = "an instant such as 2027-03-15T14:00:00Z"
        raise Refused(f"{flag} is {text!r}; expected {instant}, or a length {words}, such as 2h or 7d") from None


def confirm(question: str, *, yes: bool) -> None:
    """Ask before what cannot be undone: on a terminal by a question, elsewhere by ``--yes``."""
    if yes:
        return
    if not is_terminal(sys.stdin):
        raise Refused(f"{question} Nobody is there to ask", "--yes says that it is meant")
    if not click.confirm(question, err=True):
        raise Refused("nothing was changed", code=1)
