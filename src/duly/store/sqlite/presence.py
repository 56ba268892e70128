"""Presence by locked files: the system lets go of a lock in the moment its process dies, whatever killed it.

Each session has a file beside the database, in ``<database>-sessions/``, which its process keeps locked. A file that
anybody can lock belongs to a process that is gone. The file names the host, and only sessions of the same host are
judged: elsewhere a lock may mean nothing. Where a file cannot be made or locked, the lease decides as it does anyway.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from duly.store.sqlite.connecting import FILE_MODE, FOLDER_MODE

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]

_log = logging.getLogger(__name__)


class LockedFiles:
    """The sessions of one database file; see ``duly.store.presence.Presence``."""

    def __init__(self, path: str) -> None:
        self._folder = Path(f"{path}-sessions")
        self._host = platform.node()
        self._held: dict[int, int] = {}

    def enter(self, session: int) -> None:
        if fcntl is None:
            return
        new, file = self._folder / f"{session}.new", self._folder / str(session)
        try:
            self._folder.mkdir(FOLDER_MODE, exist_ok=True)
            lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE_MODE)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(lock, self._host.encode())
            new.rename(file)  # nobody sees it before it is locked
        except OSError as error:
            _log.info("session %d leaves no sign of life beside its lease: %s", session, error)
            return
        self._held[session] = lock

    def leave(self, session: int) -> None:
        lock = self._held.pop(session, None)
        if lock is not None:
            self.forget([session])
            os.close(lock)

    def leave_all(self) -> None:
        """Let go of everything, as the end of the process would."""
        for session in list(self._held):
            self.leave(session)

    def dead(self) -> Sequence[int]:
        if fcntl is None or not self._folder.is_dir():
            return []
        return [int(file.name) for file in self._folder.iterdir() if file.name.isdecimal() and self._abandoned(file)]

    def forget(self, sessions: Sequence[int]) -> None:
        if not sessions:
            return
        for session in sessions:
            with suppress(OSError):
                (self._folder / str(session)).unlink()
        with suppress(OSError):
            self._folder.rmdir()  # only when it is empty

    def _abandoned(self, file: Path) -> bool:
        try:
            lock = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False  # gone meanwhile, or not ours to look at
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.read(lock, 1024).decode("utf-8", "replace") == self._host
        except OSError:
            return False  # somebody lives and holds it
        finally:
            os.close(lock)
