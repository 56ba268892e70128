"""Counts Python function calls, on the event loop's thread and on every thread that starts while it is installed.

Counted is the event ``call`` of ``sys.setprofile``: a function is entered, or a generator or coroutine goes on. How
often the plumbing of threads and of the event loop runs depends on which thread is first, so asyncio, threading and
the like are left out, and so are the counters themselves. Everything else counts: duly, what it depends on, and the
standard library. Garbage is not collected meanwhile.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import selectors
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from weakref import WeakSet

_LEFT_OUT = tuple(
    str(path)
    for path in (
        Path(asyncio.__file__).parent,
        Path(concurrent.futures.__file__).parent,
        selectors.__file__,
        socket.__file__,
        threading.__file__,
        WeakSet.add.__code__.co_filename,  # in which asyncio keeps its tasks
        Path(__file__).parent,
    )
)
_BLOCKING = frozenset({"acquire", "get", "poll", "select"})
"""The built-in functions in which a thread waits for work."""

_PATIENCE_S = 60.0


class PythonCalls:
    """The counter; ``installed`` before the threads start whose calls are to be counted."""

    def __init__(self) -> None:
        self._is_counting = False
        self._main = threading.get_ident()
        self._waits: dict[int, bool] = {}
        self._calls: dict[int, Counter[CodeType]] = {}
        self._before: Any = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        before = threading.getprofile()
        threading.setprofile(self._note)
        try:
            yield
        finally:
            threading.setprofile(before)

    def start(self) -> None:
        """Count from here on; the other threads are at rest."""
        gc.disable()
        self._calls = {}
        self._is_counting = True
        self._before = sys.getprofile()
        sys.setprofile(self._note)

    def stop(self) -> None:
        """End the count here, and on the other threads when they are at rest."""
        sys.setprofile(self._before)
        self.wait_for_rest()
        self._is_counting = False
        gc.enable()

    def wait_for_rest(self) -> None:
        """Return when every other thread waits for work."""
        give_up_at = time.monotonic() + _PATIENCE_S
        while busy := [thread.name for thread in threading.enumerate() if not self._waits.get(thread.ident or 0, True)]:
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"still at work after {_PATIENCE_S:g} s: {', '.join(busy)}")
            time.sleep(0.0005)

    @property
    def functions(self) -> Counter[str]:
        """The calls of each function that is counted."""
        found: Counter[str] = Counter()
        for calls in list(self._calls.values()):
            for code, count in calls.items():
                if not code.co_filename.startswith(_LEFT_OUT):
                    found[f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"] += count
        return found

    @property
    def total(self) -> int:
        return self.functions.total()

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        thread = threading.get_ident()
        if thread != self._main:
            self._waits[thread] = event == "c_call" and argument.__name__ in _BLOCKING
        if event == "call" and self._is_counting:
            calls = self._calls.get(thread)
            if calls is None:
                calls = self._calls[thread] = Counter()
            calls[frame.f_code] += 1
