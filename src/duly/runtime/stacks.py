"""Where tasks and threads are, in words."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Iterator
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


def tell_all(loop: asyncio.AbstractEventLoop | None) -> Iterator[tuple[str, str]]:
    """Every thread, and every task of a loop: what it is called, and its stack."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        yield f"thread {names.get(ident, ident)}", "".join(traceback.format_stack(frame))
    for task in asyncio.all_tasks(loop) if loop is not None else ():
        stack = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in frames_of(task))
        yield f"task {task.get_name()}", "".join(stack.format())
