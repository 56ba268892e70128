"""Threads for handlers that are not async. A thread that never returns is left behind, not waited for."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from duly.runtime.answering import call_on, carry_out

Work = tuple[Callable[[], Any], Callable[[], None], "asyncio.Future[Any]"]


class Threads:
    """A bounded pool of daemon threads, so that a stuck handler cannot keep the process from ending."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._abandoned = 0
        self._idle = 0
        self._count = 0
        self._work: deque[Work | None] = deque()
        self._ready = threading.Condition()

    def submit(self, function: Callable[[], Any], on_start: Callable[[], None]) -> asyncio.Future[Any]:
        """Run a function in a thread; the future belongs to the running loop, which is told when a thread begins.

        A function whose future was cancelled before a thread came to it is not called any more. Where none can come,
        because the machine has no thread to give, this raises RuntimeError.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        with self._ready:
            if self._idle <= len(self._work) and self._count < self._most + self._abandoned:
                self._start()
            self._work.append((function, on_start, future))
            self._ready.notify()
        return future

    def abandon(self) -> None:
        """A thread is stuck in a handler that timed out: allow another in its place."""
        with self._ready:
            self._abandoned += 1

    def close(self) -> None:
        """Let idle threads end; busy ones end with their handler, or with the process."""
        with self._ready:
            self._work.extend([None] * self._count)
            self._ready.notify_all()

    def _start(self) -> None:
        """Start one more thread; where the machine has none to give, those that are not stuck must do."""
        try:
            threading.Thread(target=self._run, name="duly-handler", daemon=True).start()
        except RuntimeError:
            if self._count <= self._abandoned:
                raise
        else:
            self._count += 1

    def _run(self) -> None:
        while True:
            with self._ready:
                self._idle += 1
                while not self._work:
                    self._ready.wait()
                self._idle -= 1
                work = self._work.popleft()
            if work is None:
                return
            function, on_start, future = work
            if not future.cancelled() and call_on(future.get_loop(), _begin, future, on_start):
                carry_out(function, future)


def _begin(future: asyncio.Future[Any], on_start: Callable[[], None]) -> None:
    if not future.done():
        on_start()
