"""Keeps what a user's function raises inside its attempt, also what is no Exception.

``sys.exit()`` in a script that became a job, the panic of a native extension, the timeout of a green thread: they pass
every ``except Exception``, and some of them, raised in a task, end the event loop and all that runs on it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

NOT_OURS = (KeyboardInterrupt, GeneratorExit)
"""On the event loop these may say that the loop itself is to end; a thread of ours only gets them from its handler."""


class Contained(Exception):
    """Stands for something that is no Exception, which is its cause."""


def is_async(function: object) -> bool:
    """Whether a user's function is to be awaited: also an object whose ``__call__`` is."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - asked of, not called


async def contain(call: Awaitable[T]) -> T:
    """Await a user's call; what it raises is an Exception, a cancel or the end of the loop."""
    try:
        return await call
    except (Exception, asyncio.CancelledError, *NOT_OURS):
        raise
    except BaseException as error:
        raise Contained from error


def contain_in_thread(call: Callable[[], T]) -> T:
    """Call a user's function in a thread; what it raises is an Exception."""
    try:
        return call()
    except Exception:
        raise
    except BaseException as error:
        raise Contained from error


def uncontained(error: BaseException) -> BaseException:
    """What was really raised."""
    return error.__cause__ or error if isinstance(error, Contained) else error
