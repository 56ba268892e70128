"""Looks at a database file without changing it: no file is made, no mode is set, no lock is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import statvfs
from pathlib import Path

import apsw

from duly.core.errors import ConfigurationError
from duly.store.inspection import Finding, Inspection
from duly.store.sqlite.connecting import MEMORY, check_path, unopened
from duly.store.sqlite.errors import translate
from duly.store.sqlite.migrating import load_migrations, schema_version

_NETWORKED = frozenset("nfs nfs4 cifs smb3 smbfs ncpfs afs ceph lustre glusterfs fuse.sshfs fuse.glusterfs".split())
_FIXED = (3, 51, 3)
_LITTLE_ROOM = 200 * 2**20
_LONG_LOG = 128 * 2**20
_COUNTS = {
    "schedules": "SELECT count(*) FROM duly_schedules WHERE deleted_at IS NULL",
    "runs": "SELECT count(*) FROM duly_runs",
    "history": "SELECT count(*) FROM duly_history",
}


def inspect(path: str, mounts: Path = Path("/proc/self/mounts")) -> Inspection:
    """Say what a file holds and how well it lies; raise if it is not a database, or not duly's."""
    check_path(path)
    newest, version = max(load_migrations()), f"SQLite {apsw.sqlite_lib_version()}"
    file = Path(path)
    if path == MEMORY or not file.exists() or file.stat().st_size == 0:
        found = _lying(file, mounts)
        return Inspection(
            kind="sqlite", place=path, version=version, exists=file.exists(), newest=newest, findings=found
        )
    with _looking(path) as connection:
        schema = schema_version(connection, path)
        mode = str(connection.pragma("journal_mode"))
        rows = {name: _count(connection, text) for name, text in _COUNTS.items()} if schema else {}
    log = Path(f"{path}-wal")
    beside = log.stat().st_size if log.exists() else 0
    return Inspection(
        kind="sqlite",
        place=path,
        version=version,
        exists=True,
        newest=newest,
        schema=schema,
        size_bytes=file.stat().st_size + beside,
        rows=rows,
        findings=[*_journal(mode), *_log(beside), *_library(), *_lying(file, mounts)],
    )


def find_warnings(path: str, mounts: Path = Path("/proc/self/mounts")) -> list[str]:
    """Say, in sentences for people, what about the file or SQLite itself weakens a promise; an empty list is good."""
    found = [*_library(), *_lying(Path(path), mounts)]
    return [f"{one.text}; {one.advice}" if one.advice else one.text for one in found if one.level != "ok"]


def find_schema(path: str) -> int:
    """The number of the schema that is there, 0 for none; raise for one that is newer or not duly's."""
    check_path(path)
    if path == MEMORY or not Path(path).exists() or Path(path).stat().st_size == 0:
        return 0
    with _looking(path) as connection:
        return schema_version(connection, path)


@contextmanager
def _looking(path: str) -> Iterator[apsw.Connection]:
    connection = None
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(1000)
        yield connection
    except apsw.NotADBError as error:
        raise ConfigurationError(f"{path!r} is not a SQLite database: {error}", path=path) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        raise unopened(path, error) from error
    except apsw.Error as error:
        raise translate(error, path) from error
    finally:
        if connection is not None:
            connection.close()


def _count(connection: apsw.Connection, text: str) -> int:
    return int(connection.execute(text).fetchall()[0][0])  # type: ignore[arg-type]  # a count is a number


def _journal(mode: str) -> list[Finding]:
    if mode == "wal":
        return [Finding("ok", "journal", "WAL, synchronous FULL: what was acknowledged survives a power cut")]
    return [Finding("warn", "journal", f"journal mode is {mode}; duly uses WAL", "the next start of duly sets it")]


def _log(size: int) -> list[Finding]:
    """Whether the log is so long that somebody must be keeping it from being moved into the database."""
    if size < _LONG_LOG:
        return []
    words = f"the log beside the database has {size // 2**20} MiB: it grows for as long as somebody reads on"
    return [Finding("warn", "log", words, "end the long read (a backup, a shell, a report); then it shrinks by itself")]


def _library(version: str | None = None) -> list[Finding]:
    """Whether SQLite itself is one that can be relied on where several connections write."""
    version = version or apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) >= _FIXED:
        return [Finding("ok", "SQLite", f"{version}, in which the WAL-reset fault is fixed")]
    words = f"SQLite is {version}: before 3.51.3 two connections may damage a file in WAL mode"
    return [Finding("warn", "SQLite", words, "install a newer apsw, which brings its own SQLite")]


def _lying(file: Path, mounts: Path) -> list[Finding]:
    """Where the file lies: the kind of file system and the room on it."""
    folder = file.absolute().parent
    kind = _file_system(folder.resolve(), mounts)
    found = []
    if kind in _NETWORKED:
        advice = "move the file to a local disk, or use PostgreSQL for several machines"
        found.append(Finding("fail", "file system", f"{folder} is on {kind}: SQLite's locks do not hold there", advice))
    else:
        found.append(Finding("ok", "file system", f"{folder} is local" + (f" ({kind})" if kind else "")))
    room = statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < _LITTLE_ROOM:
        words = f"{free // 2**20} MiB free in {folder}"
        found.append(Finding("warn", "disk", words, "make room: a full disk stops every write"))
    else:
        found.append(Finding("ok", "disk", f"{free // 2**20} MiB free"))
    return found


def _file_system(folder: Path, mounts: Path) -> str | None:
    """The kind of file system that a folder is on; None where the machine does not say."""
    try:
        lines = [line.split() for line in mounts.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return None
    found = [(len(line[1]), line[2]) for line in lines if len(line) > 2 and folder.is_relative_to(_unescaped(line[1]))]
    return max(found)[1] if found else None


def _unescaped(point: str) -> str:
    return point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
