"""The standard streams of this process: any may have been closed before it began, or may lose its reader."""

from __future__ import annotations

import os
from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at the other end; nobody does where a shell closed the stream (``>&-``)."""
    return stream is not None and stream.isatty()


def discard_output() -> None:
    """Let what is still to be printed go nowhere: its reader is gone, and Python would complain of it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
