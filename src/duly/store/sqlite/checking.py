"""A look at the database after an unclean stop, before anybody relies on it."""

from __future__ import annotations

import logging

import apsw

from duly.core.errors import StoreError
from duly.runtime.clock import Clock
from duly.store.sqlite.errors import damaged

LONGEST = 5.0
"""Seconds: a large file is not looked at to its end, so that a restart stays quick."""

_STEPS = 10_000
_log = logging.getLogger(__name__)


def check_integrity(connection: apsw.Connection, path: str, clock: Clock, longest: float = LONGEST) -> None:
    """Refuse a damaged database; one that cannot be looked through in time is taken as it is, and that is told."""
    give_up_at = clock.steady() + longest
    connection.set_progress_handler(lambda: clock.steady() > give_up_at, _STEPS)
    try:
        found = " ".join(str(connection.execute("PRAGMA quick_check(1)").get).split())
    except apsw.InterruptError:
        _log.warning("database %s: it was not closed in order, and is too large to be checked in %g s", path, longest)
        return
    except apsw.CorruptError as error:
        found = str(error)
    finally:
        connection.set_progress_handler(None)
    if found != "ok":
        raise StoreError(damaged(path, found), path=path)
