"""The event loop that the body of a workflow runs on: nothing but callbacks, in the order they were asked for.

It has no clock, no sockets, no threads. What a body does on it follows from what it is fed, so a replay comes to the
same place; whatever would not be the same the next time is refused by name.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, NoReturn, TypeVar

from duly.core.errors import NonDeterminismError

T = TypeVar("T")
_ALLOWED = frozenset(
    {
        "call_soon", "create_task", "create_future", "time", "get_debug", "is_running", "is_closed",
        "call_exception_handler", "get_task_factory", "default_exception_handler",
    }
)  # fmt: skip
_INSTEAD = {
    "call_later": "use ctx.sleep, or the timeout= of a step or a wait",
    "call_at": "use ctx.sleep, or the timeout= of a step or a wait",
    "run_in_executor": "do it in a step",
    "call_soon_threadsafe": "do it in a step",
}


class BodyLoop(asyncio.AbstractEventLoop):
    """Runs callbacks until none is left, when it is told to."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self.unheard: list[BaseException] = []
        """What was raised where nobody waited for it."""

    def drain(self) -> None:
        """Run what is ready, and what that makes ready. To be called outside of any task."""
        outside = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    self._run(handle)
        finally:
            asyncio._set_running_loop(outside)

    def _run(self, handle: asyncio.Handle) -> None:
        try:
            handle._run()
        except SystemExit as error:  # a task that ends so has it as its error, too; the worker goes on
            self.unheard.append(error)

    def call_soon(  # type: ignore[override]  # typeshed wants a TypeVarTuple
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Generator[Any, None, T] | Coroutine[Any, Any, T], **options: Any) -> asyncio.Task[T]:
        task: asyncio.Task[T] = asyncio.Task(coro, loop=self, name=options.get("name"), context=options.get("context"))
        return task

    def time(self) -> float:
        return 0.0

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def get_task_factory(self) -> None:
        return None

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.unheard.append(error)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.call_exception_handler(context)


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: BodyLoop, *args: Any, **kwargs: Any) -> NoReturn:
        advice = _INSTEAD.get(name, "do it in a step: await ctx.step(...)")
        error = NonDeterminismError(f"the body of a workflow asked its event loop for {name}; {advice}")
        self.unheard.append(error)
        raise error

    return refuse


for _name, _member in vars(asyncio.AbstractEventLoop).items():
    if callable(_member) and not _name.startswith("__") and _name not in _ALLOWED:
        setattr(BodyLoop, _name, _refusing(_name))
