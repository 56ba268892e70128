"""Connections to a database file: where it may lie, and how every connection is set up."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import apsw

from duly.core.errors import ConfigurationError
from duly.store.sqlite.errors import moved, translate

MEMORY = ":memory:"
OLDEST = (3, 51, 3)
"""Older versions of SQLite can corrupt a database in WAL mode when two connections write and checkpoint at once."""

FILE_MODE = 0o640
FOLDER_MODE = 0o750
"""At most: whoever may read a database reads every payload in it. The umask may take more away."""

WRITER_CACHE_KIB = 16_384
READER_CACHE_KIB = 2_048
CHECKPOINTER_CACHE_KIB = 256
CHECKPOINT_PAGES = 10_000
"""The length of the log at which it is moved into the database."""

LOG_KEPT = 2 * CHECKPOINT_PAGES * 4096
"""Bytes of the log's file that stay when it starts anew: what a long reader made it grow to is given back."""

_STATEMENTS_KEPT = 128
_WAL_TRIES = 100


def check_version(version: str) -> None:
    """Refuse a SQLite whose WAL mode is not safe."""
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise ConfigurationError(
            f"apsw brings SQLite {version}, which can corrupt a database in WAL mode; install apsw >= {needed}",
            found=version,
            needed=needed,
        )


def check_path(path: str) -> None:
    """Refuse a path where no database file can be, and say why."""
    if path == MEMORY:
        return
    file = Path(path)
    try:
        is_folder, has_folder = file.is_dir(), file.absolute().parent.is_dir()
    except OSError as error:  # a folder that this process may not enter, a name that is too long
        raise ConfigurationError(
            f"database path {path!r} cannot be looked at: {error.strerror or error}", path=path
        ) from error
    if not path or is_folder:
        raise ConfigurationError(f"database path {path!r} is a directory; expected a file", path=path)
    if not has_folder:
        raise ConfigurationError(
            f"database path {path!r}: the directory {str(file.absolute().parent)!r} does not exist; create it first",
            path=path,
        )


def connect(path: str, *, busy_timeout: float, cache_kib: int) -> apsw.Connection:
    """Open the file and set the connection up; the file itself is not changed yet."""
    check_version(apsw.sqlite_lib_version())
    check_path(path)
    _create_for_us_alone(path)
    try:
        connection = apsw.Connection(path, statementcachesize=_STATEMENTS_KEPT)
    except apsw.Error as error:
        raise unopened(path, error) from error
    try:
        _set_up(connection, path, busy_timeout, cache_kib)
    except apsw.NotADBError as error:
        connection.close()
        raise ConfigurationError(f"{path!r} is not a SQLite database: {error}", path=path) from error
    except apsw.CantOpenError as error:
        connection.close()
        raise unopened(path, error) from error
    except apsw.Error as error:
        connection.close()
        raise translate(error, path) from error
    except ConfigurationError:
        connection.close()
        raise
    return connection


def unopened(path: str, error: Exception) -> ConfigurationError:
    """Why a file cannot be opened: most often its folder, in which SQLite keeps a log and an index beside it."""
    folder = Path(path).absolute().parent
    if os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return ConfigurationError(f"database {path!r} cannot be opened: {error}", path=path)
    return ConfigurationError(
        f"database {path!r} cannot be opened: this process may not write in {str(folder)!r}, and SQLite keeps files"
        " beside a database, even for those who only read",
        path=path,
    )


def _create_for_us_alone(path: str) -> None:
    """Make a new file that others on the machine cannot read; SQLite gives its log and index the same rights."""
    if path == MEMORY:
        return
    with suppress(OSError):  # it is there, or SQLite says better why it cannot be
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), FILE_MODE))


def _set_up(connection: apsw.Connection, path: str, busy_timeout: float, cache_kib: int) -> None:
    if connection.readonly("main"):
        raise ConfigurationError(f"database {path!r} is read-only for this process; it must be writable", path=path)
    # Plans do not depend on the values bound: else SQLite prepares a statement anew whenever they change.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.set_busy_timeout(round(busy_timeout * 1000))
    # Waiting processes are woken when the lock is free, instead of looking again after ever longer naps.
    connection.setlk_timeout(round(busy_timeout * 1000), 0)
    connection.wal_autocheckpoint(CHECKPOINT_PAGES)
    for pragma, value in (("synchronous", "FULL"), ("temp_store", "MEMORY"), ("mmap_size", 0)):
        connection.pragma(pragma, value)
    connection.pragma("journal_size_limit", LOG_KEPT)
    connection.pragma("cache_size", -cache_kib)
    connection.pragma("user_version")  # reads the first page, and so finds out what is not a database


class Place:
    """Where a connection's file was when it was opened: SQLite goes on with a file that was deleted, for nobody."""

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._path = path
        self._file = connection.filename  # whole: the process may change its folder
        self._inode = self._now()

    def check(self) -> None:
        """Refuse to go on if that file is no longer at its path."""
        if self._now() != self._inode:
            raise moved(self._path)

    def _now(self) -> int | None:
        try:
            return os.stat(self._file).st_ino
        except OSError:
            return None


def use_wal(connection: apsw.Connection, path: str) -> None:
    """Put the file into WAL mode, for good; safe when several processes do it at once."""
    if path == MEMORY:
        return
    for _ in range(_WAL_TRIES):
        try:
            mode = connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            # The change of mode does not wait for others as a transaction does: stand in line with one, then try again.
            connection.execute("BEGIN IMMEDIATE; COMMIT")
            continue
        if mode != "wal":
            raise ConfigurationError(
                f"database {path!r} cannot use a write-ahead log (journal mode {mode!r});"
                " it must lie on a local file system",
                path=path,
            )
        return
    raise ConfigurationError(f"database {path!r} is in use in another journal mode; close its other users", path=path)
