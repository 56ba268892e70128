"""What surrounds every attempt of an app: its middleware, and the state that its lifespan yielded."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from duly.core.errors import ConfigurationError

from .containing import contain_in_thread
from .context import RunContext
from .error_reports import Redact


class CallNext(Protocol):
    """Goes on with the attempt: the next middleware, in the end the handler. The argument may be left out."""

    def __call__(self, run: RunContext | None = None, /) -> Awaitable[Any]: ...


Middleware = Callable[[RunContext, CallNext], Awaitable[Any]]


@dataclass(slots=True)
class Surroundings:
    """Shared by all handlers of one app.

    ``in_thread`` calls a handler that runs in a thread, in that thread; ``in_process`` is called in a handler's process
    before its module is imported there, and is a function that a module names. A framework that keeps connections
    per thread, or has to be set up before its modules can be imported, needs them. ``redact`` removes from the texts of
    errors what must not be kept.
    """

    middleware: list[Middleware] = field(default_factory=list)
    state: Any = None
    in_thread: Callable[[Callable[[], Any]], Any] | None = None
    in_process: Callable[[], object] | None = None
    redact: Redact | None = None

    def call_in_thread(self, call: Callable[[], Any]) -> Any:
        """Call something of the user's, in the thread that this is."""
        return contain_in_thread(call if self.in_thread is None else partial(self.in_thread, call))


def check_middleware(given: Any) -> Middleware:
    """Answer a middleware, or say what one looks like."""
    call = given if inspect.isfunction(given) or inspect.ismethod(given) else getattr(given, "__call__", given)  # noqa: B004
    if not inspect.iscoroutinefunction(call):
        raise ConfigurationError(
            f"middleware is {given!r}; expected `async def name(run, call_next)` that answers `await call_next(run)`"
        )
    try:
        inspect.signature(given).bind(None, None)
    except TypeError as error:
        raise ConfigurationError(
            f"middleware {given!r}: {error}; expected the two parameters run and call_next"
        ) from None
    checked: Middleware = given
    return checked


async def call_through(
    middleware: Sequence[Middleware], context: RunContext, handle: Callable[[], Awaitable[Any]]
) -> Any:
    """Call a handler inside its middleware: the one declared first is the outermost."""
    if not middleware:
        return await handle()
    first, *others = middleware

    async def call_next(run: RunContext | None = None, /) -> Any:
        return await call_through(others, context, handle)

    return await first(context, call_next)
