"""What is kept of an exception that ended an attempt."""

from __future__ import annotations

from dataclasses import dataclass

MAX_STACK = 16 * 1024
"""Bytes of a stack that are kept."""

MAX_TYPE = 200
MAX_LOCATION = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """An exception as a store keeps it, beside its message.

    ``type`` is its qualified name. ``location`` is the innermost line of the app that it passed, such as
    ``shop/orders.py:41 in charge``; together they identify a fault, whatever the message says. ``stack`` is the
    traceback with causes, groups and notes, without local variables.
    """

    type: str | None = None
    location: str | None = None
    stack: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptError:
    """Why an attempt failed. ``stack`` is None where none was reported, or where the caller may not see it.

    ``truncated`` says that the stack was longer than 16 KiB: frames of libraries are left out before those of the app.
    """

    type: str | None
    message: str
    stack: str | None = None
    truncated: bool = False


def message_of(error: str, type: str | None) -> str:
    """The message of an error that is kept as ``Type: message``."""
    name = "" if type is None else type.rpartition(".")[2]
    if not name or not error.startswith(name):
        return error
    return error.removeprefix(name).removeprefix(": ")
