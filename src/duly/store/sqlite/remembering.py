"""The file beside a database that says how far the database had come.

It is written after the commit it speaks of, so it is never ahead of a database that kept what it acknowledged. If the
database is replaced by an older copy, and this file is not, it is.
"""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from duly.core.errors import StoreMissing
from duly.store.remembering import Remembered

SUFFIX = "-seen"


def read_beside(path: str) -> Remembered | None:
    """What was written beside the database; None if nothing was, or nothing that can be read."""
    try:
        with open(path + SUFFIX, "rb") as file:
            return msgspec.json.decode(file.read(1000), type=Remembered)
    except (OSError, msgspec.DecodeError):
        return None


def check_not_vanished(path: str) -> None:
    """Raise where a new store would take the place of one that was here: its file is gone, or empty."""
    with suppress(OSError):
        if os.path.getsize(path):
            return
    known = read_beside(path)
    if known is None:
        return
    seen = path + SUFFIX
    hint = f"restore the file, or delete {seen!r} to start with an empty store"
    raise StoreMissing(
        f"database {path!r} is missing or empty, but store {known.store_id} was here, according to {seen!r}; {hint}",
        path="database.url",
        got=path,
        expected=f"the database of store {known.store_id}",
        hint=hint,
    )


def write_beside(path: str, seen: Remembered) -> None:
    """Replace what is written beside the database, whole or not at all; where that cannot be done, go without."""
    with suppress(OSError):
        with open(path + SUFFIX + ".new", "wb") as file:
            file.write(msgspec.json.encode(seen))
        os.replace(path + SUFFIX + ".new", path + SUFFIX)
