"""Where tasks and threads are, in words."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any


def frames_of(task: asyncio.Task[Any]) -> Iterator[FrameType]:
    """The frames of a task, from its first function to where it waits; asyncio itself tells the first alone."""
    waits: Any = task.get_coro()
    while waits is not None:
        frame = getattr(waits, "cr_frame", None) or getattr(waits, "gi_frame", None) or getattr(waits, "ag_frame", None)
        if frame is not None:
            yield frame
        inner = getattr(waits, "cr_await", None) or getattr(waits, "gi_yieldfrom", None)
        waits = inner or getattr(waits, "ag_await", None)


def tell_task(task: asyncio.Task[Any]) -> str:
    """A task by its name and the functions that it is in."""
    return f"{task.get_name()}: {' > '.join(frame.f_code.co_qualname for frame in frames_of(task)) or 'not begun'}"


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_qualname} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"


def tell_all(loop: asyncio.AbstractEventLoop | None) -> Iterator[str]:
    """Every thread, and every task of a loop: a line with its name and its stack, from the first call to the last."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        stack = [_place(caller) for caller, _ in traceback.walk_stack(frame)]
        yield f"thread {names.get(ident, ident)}: {' > '.join(reversed(stack))}"
    for task in asyncio.all_tasks(loop) if loop is not None else ():
        yield f"task {task.get_name()}: {' > '.join(map(_place, frames_of(task)))}"
