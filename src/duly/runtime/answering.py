"""Work that a thread does for who waits on an event loop, and the way its answer goes there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


def carry_out(work: Callable[[], Any], future: asyncio.Future[Any]) -> None:
    """Do some work on the calling thread and answer it on the future's loop, unless nobody waits any more."""
    if future.cancelled():
        return
    try:
        value, error = work(), None
    except BaseException as raised:  # noqa: BLE001 - whatever it is, it is for who asked
        value, error = None, raised
    call_on(future.get_loop(), _answer, future, value, error)


def call_on(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *args: object) -> bool:
    """Call a function on a loop of another thread; False if that loop is closed: then nobody waits."""
    try:
        loop.call_soon_threadsafe(function, *args)
    except RuntimeError:
        if not loop.is_closed():
            raise
        return False
    return True


def _answer(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):  # which no future takes
        future.set_exception(RuntimeError(f"the function raised {error!r}"))
    else:
        future.set_exception(error)
