"""A program that starts itself when it is imported, in a process that imports it."""

from __future__ import annotations

import multiprocessing

from duly.core.errors import ConfigurationError


def refuse_in_import() -> None:
    """Refuse to go on where a new process is importing the main module: the program would run a second time there."""
    # What multiprocessing itself asks before it starts a process; it has no public word for it.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ConfigurationError(
            "this program starts when it is imported, and a process that one of its jobs (process=True) or"
            " multiprocessing has started imports it, so that it would run twice;"
            ' put what starts it under `if __name__ == "__main__":`'
        )
