"""What an operator may ask of a process that serves: SIGHUP to read its files anew, SIGUSR1 to say where it is."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from duly.app import Duly
from duly.app.serving import redeclare
from duly.config import Loaded
from duly.core.errors import DulyError
from duly.runtime.stacks import tell_all
from duly.telemetry.logs import set_level

from .streams import is_terminal

log = logging.getLogger("duly.serve")


@contextmanager
def operated(read: Callable[[], Loaded], loaded: Loaded, app: Duly | None) -> Iterator[None]:
    """Hear these signals meanwhile. ``read`` reads the configuration as ``loaded`` was; no app: no schedules."""
    reloader = _Reloader(read, loaded, app)
    in_terminal = is_terminal(sys.stdin)

    def on_hangup(number: int, frame: FrameType | None) -> None:
        loop = _running_loop()
        if in_terminal:  # it was closed, and what was started in it ends with it, in order
            signal.raise_signal(signal.SIGTERM)
        elif loop is not None:
            loop.call_soon_threadsafe(reloader.begin)

    def on_question(number: int, frame: FrameType | None) -> None:
        # In a thread: here a line of the log may be half written, and the event loop may be what does not turn.
        threading.Thread(target=_tell, args=(_running_loop(),), name="duly-stacks", daemon=True).start()

    former = {signal.SIGHUP: signal.signal(signal.SIGHUP, on_hangup)}
    former[signal.SIGUSR1] = signal.signal(signal.SIGUSR1, on_question)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # it has not begun, or is over
        return None


def _tell(loop: asyncio.AbstractEventLoop | None) -> None:
    for line in tell_all(loop):
        log.warning("SIGUSR1: %s", line)


class _Reloader:
    """Brings what may change in a running process up to its files: the log's level, and the schedules in them."""

    def __init__(self, read: Callable[[], Loaded], loaded: Loaded, app: Duly | None) -> None:
        self._read = read
        self._loaded = loaded
        self._app = app
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def begin(self) -> None:
        """Read the files, again after this if they are being read."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="duly-reload")

    async def _run(self) -> None:
        while self._again:
            self._again = False
            try:
                await self._reload()
            except DulyError as error:
                log.error("SIGHUP: the configuration is left as it was: %s", error)

    async def _reload(self) -> None:
        loaded = self._read()
        declared = self._app is not None and await redeclare(self._app, self._loaded, loaded)
        set_level(loaded["log.level"])
        told = f"{len(loaded.schedules)} schedules of files" if declared else "no schedules"
        log.warning("SIGHUP: read again: log level %s, %s; all else needs a restart", loaded["log.level"], told)
        if declared:
            self._loaded = loaded
