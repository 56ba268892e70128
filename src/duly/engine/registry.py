"""The jobs an instance knows, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.policy import Retry
from duly.core.topics import ANY_TOPIC, topic_of_handler

from .containing import is_async
from .middleware import Surroundings
from .outlets import Outlet
from .signature import Arguments, arguments_of

JOB_NAME_LIMIT = 100
RESERVED = ("workflow:", "topic:", "queue:", "webhook:")


class Mode(StrEnum):
    """Where a handler runs: on the event loop, in a thread, in a process that can be killed, or somewhere outside."""

    ASYNC = "async"
    THREAD = "thread"
    PROCESS = "process"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A registered function and how it is to be called; one of mode OUTSIDE hands runs to what is behind ``outlet``."""

    name: str
    function: Callable[..., Any]
    mode: Mode
    arguments: Arguments
    retry: Retry | None = None
    timeout_ms: int | None = None
    has_timeout: bool = False
    on_dead: str | None = None
    max_interruptions: int | None = None
    outlet: Outlet | None = None
    around: Surroundings = field(default_factory=Surroundings)


class Registry:
    """Handlers by job name. One name, one function."""

    def __init__(self) -> None:
        self.around = Surroundings()
        self._handlers: dict[str, Handler] = {}
        self._names: dict[tuple[Mode, ...], frozenset[str]] = {}

    def add(self, handler: Handler) -> None:
        known = self._handlers.get(handler.name)
        if known is not None and known.function is not handler.function:
            raise ConfigurationError(
                f"job {handler.name!r} is registered twice, for {_where(known.function)} and"
                f" {_where(handler.function)}; give one of them another name"
            )
        self.put(handler)

    def put(self, handler: Handler) -> None:
        """Register a handler, in the place of one of the same name."""
        self._handlers[handler.name] = replace(handler, around=self.around)
        self._names.clear()

    def get(self, name: str) -> Handler | None:
        handler = self._handlers.get(name)
        if handler is None and topic_of_handler(name) is not None:
            return self._handlers.get(ANY_TOPIC)
        return handler

    def name_of(self, function: Callable[..., Any]) -> str | None:
        """The job that a function is registered as."""
        return next((handler.name for handler in self if handler.function is function), None)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._handlers)

    def names_of(self, *modes: Mode) -> frozenset[str]:
        """The jobs whose handlers run in one of these ways."""
        if modes not in self._names:
            self._names[modes] = frozenset(name for name, handler in self._handlers.items() if handler.mode in modes)
        return self._names[modes]

    def outlets(self) -> dict[str, Outlet]:
        """Every way out, by the job that it takes."""
        return {name: handler.outlet for name, handler in self._handlers.items() if handler.outlet is not None}

    def __iter__(self) -> Iterator[Handler]:
        return iter(self._handlers.values())


def make_handler(
    name: str,
    function: Callable[..., Any],
    *,
    process: bool = False,
    retry: Retry | None = None,
    timeout_ms: int | None = None,
    has_timeout: bool = False,
    on_dead: str | None = None,
    max_interruptions: int | None = None,
) -> Handler:
    """Look at a function once, when it is registered, so that a mistake shows then and not at three in the morning."""
    check_job_name(name)
    if retry is not None and not isinstance(retry, Retry):
        raise ConfigurationError(f"job {name!r}: retry is {retry!r}; expected Retry(max_attempts=...) or None")
    if max_interruptions is not None and (type(max_interruptions) is not int or max_interruptions < 0):
        raise ConfigurationError(
            f"job {name!r}: max_interruptions is {max_interruptions!r}; expected a whole number, 0 or more, or None"
        )
    if not callable(function):
        raise ConfigurationError(f"job {name!r} is {function!r}; expected a function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigurationError(
            f"job {name!r} is {_where(function)}, a generator, whose body nobody would run; return a value instead of"
            " yielding"
        )
    mode = Mode.PROCESS if process else Mode.ASYNC if is_async(function) else Mode.THREAD
    if process and is_async(function):
        raise ConfigurationError(f"job {name!r} is async and process=True; a process runs plain functions")
    if process and "<" in getattr(function, "__qualname__", "<"):
        raise ConfigurationError(
            f"job {name!r} is {_where(function)} and process=True; another process can only find a function that its"
            " module names: define it at the top level"
        )
    return Handler(
        name=name,
        function=function,
        mode=mode,
        arguments=arguments_of(name, function),
        retry=retry,
        timeout_ms=timeout_ms,
        has_timeout=has_timeout,
        on_dead=None if on_dead is None else check_job_name(on_dead),
        max_interruptions=max_interruptions,
    )


def check_job_name(name: str) -> str:
    """Answer the job name, or refuse it."""
    if not isinstance(name, str) or not 1 <= len(name) <= JOB_NAME_LIMIT or not name.isprintable():
        raise ValidationFailed(
            f"job name is {name!r}; expected 1 to {JOB_NAME_LIMIT} printable characters",
            field="job",
            got=name,
            expected=f"1-{JOB_NAME_LIMIT} characters",
        )
    if name.startswith(RESERVED):
        raise ValidationFailed(
            f"job name is {name!r}; names starting with {', '.join(RESERVED)} are taken by other targets",
            field="job",
            got=name,
            expected="another name",
        )
    return name


def _where(function: Callable[..., Any]) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', '?')}"
