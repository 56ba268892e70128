"""An event loop whose time moves only when nobody has anything to do."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import Any


class _NoWait(selectors.SelectSelector):
    """Answers at once that nothing happened outside, and says how long it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everybody waits for something that no clock brings")
        self.passed += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs what is ready; when nothing is, it is at once the instant that somebody waits for.

    Every task is told of to ``on_task`` with the value of ``whose`` where it was made, so that all tasks of one
    instance can be found and killed.
    """

    def __init__(self, whose: ContextVar[Any], on_task: Callable[[Any, asyncio.Task[Any]], None]) -> None:
        self._selected = _NoWait()
        super().__init__(self._selected)
        self._whose = whose
        self._on_task = on_task
        self.set_task_factory(self._make_task)  # type: ignore[arg-type]  # newer Pythons pass more

    def time(self) -> float:
        return self._selected.passed

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], context: Context | None = None, **_: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=loop, context=context)
        self._on_task(self._whose.get(None), task)
        return task
