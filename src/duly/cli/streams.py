"""The standard streams of this process: any may have been closed before it began, or may lose its reader."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

ESCAPED = "duly.escaped"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at the other end; nobody does where a shell closed the stream (``>&-``)."""
    return stream is not None and stream.isatty()


def discard_output() -> None:
    """Let what is still to be printed go nowhere: its reader is gone, and Python would complain of it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def escape_unprintable() -> None:
    """Let what the encoding of stdout or stderr has no character for be printed as JSON would escape it."""
    codecs.register_error(ESCAPED, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors=ESCAPED)


def escaped(text: str) -> str:
    """Each character as JSON escapes it."""
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped(error.object[error.start : error.end]), error.end
