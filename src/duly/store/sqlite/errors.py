"""What SQLite says, as errors of ``duly.core.errors``: not done, perhaps done, or refused."""

from __future__ import annotations

import apsw

from duly.core.errors import DulyError, OutcomeUnknown, StoreError, StoreUnavailable
from duly.store.clash import Clash

REFUSED_VALUES = (OverflowError, UnicodeError, TypeError, ValueError)
"""What apsw raises for a value that SQLite cannot hold, before any statement runs."""

_UNIQUE = (apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_UNIQUE)
_BUSY = (apsw.BusyError, apsw.LockedError)
_UNAVAILABLE = (
    apsw.AuthError,
    apsw.CantOpenError,
    apsw.ConnectionClosedError,
    apsw.FullError,
    apsw.IOError,
    apsw.InterruptError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
)


def translate(error: Exception, path: str, statement: str | None = None) -> DulyError:
    """Say what a failed statement means: the store cannot work now, or it refuses these values."""
    if isinstance(error, _BUSY):
        return StoreUnavailable(
            f"database {path}: another connection held the lock for longer than the busy timeout;"
            f" nothing was done, and trying again is safe ({error})",
            path=path,
        )
    if isinstance(error, apsw.CorruptError):
        return StoreUnavailable(damaged(path, str(error)), path=path, damaged=True)
    if isinstance(error, _UNAVAILABLE):
        return StoreUnavailable(f"database {path}: {type(error).__name__}: {error}; nothing was done", path=path)
    kind = Clash if getattr(error, "extendedresult", None) in _UNIQUE else StoreError
    return kind(
        f"database {path} refused statement {statement!r}: {type(error).__name__}: {error}; nothing was done",
        path=path,
        statement=statement,
    )


def damaged(path: str, found: str) -> str:
    """What to do about a database that cannot be relied on."""
    return (
        f"database {path} is damaged ({found}); stop all its users, keep a copy of it and of the files beside it,"
        " and restore a backup, or save what can be read with the .recover command of the sqlite3 shell; before the"
        " first start on either, `duly db restored` keeps windows from firing a second time"
    )


def moved(path: str) -> StoreUnavailable:
    """The file that is open is no longer the one at its path: what is written to it, nobody finds again."""
    return StoreUnavailable(
        f"database {path} was removed or replaced while it was open; nothing was done: move the file back, or start"
        " this process again",
        path=path,
    )


def translate_commit(error: Exception, path: str) -> DulyError:
    """Say what a failed commit means.

    An I/O error may come after the commit's last page was written: whoever reads the log next may find it complete.
    Every other failure leaves it incomplete.
    """
    if isinstance(error, apsw.IOError):
        return OutcomeUnknown(
            f"database {path}: the commit failed with an I/O error ({error}); it may have been done,"
            " and repeating the call is safe",
            path=path,
        )
    return StoreUnavailable(f"database {path}: the commit failed and was rolled back ({error})", path=path)
