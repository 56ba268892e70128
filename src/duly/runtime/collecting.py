"""The garbage collector, held where it would look through many new objects and find nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class _Holders:
    """How many hold the collector just now, in whichever threads, and whether it was on before the first of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._was_on = False

    def enter(self) -> None:
        with self._lock:
            if not self._count:
                self._was_on = gc.isenabled()
                gc.disable()
            self._count += 1

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count and self._was_on:
                gc.enable()


_holders = _Holders()


@contextmanager
def uncollected() -> Iterator[None]:
    """Make many objects that all stay, without awaiting anything: they are looked through once, afterwards."""
    _holders.enter()
    try:
        yield
    finally:
        _holders.leave()
