"""The life of an app: its store opens, its lifespan begins, its instance runs, and all of it ends in reverse."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any

from duly.config import Settings
from duly.core.errors import ConfigurationError
from duly.engine.instance import ROLES, Instance
from duly.store.direct import DirectDriver
from duly.store.sql import SqlStore

from .importing import refuse_in_import

Caller = Callable[..., None]
"""Calls a function with arguments, now or on another thread."""

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]


class Life:
    """Opens and closes the store, counted, and holds the one instance that may run."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.driver = DirectDriver(store.driver)
        self._opened = 0
        self._opened_by = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = False
        self._lifespan = AsyncExitStack()
        self.instance: Instance | None = None

    @property
    def begun(self) -> bool:
        return self._starting or self.instance is not None

    @property
    def is_open(self) -> bool:
        """Whether the store is open in this process; a child that was forked meanwhile has no use of it."""
        return self._opened > 0 and self._opened_by == os.getpid()

    @property
    def is_inherited(self) -> bool:
        """Whether the store was open in the process that this one was forked from."""
        return self._opened > 0 and self._opened_by != os.getpid()

    def tell(self, word: Callable[[Instance], None]) -> None:
        """Tell the instance something, if one runs."""
        if self.instance is not None:
            word(self.instance)

    def expected_now(self) -> tuple[float, float] | None:
        """Where the store's clock may be now, as the running instance knows it; None without one."""
        return None if self.instance is None else self.instance.expected_now()

    def call_soon(self, function: Callable[..., None], *args: Any) -> None:
        """Call a function on the loop of the open app, from another thread; without one nobody is there to hear."""
        if self.is_open and self._loop is not None:
            with suppress(RuntimeError):  # the loop was closed this moment
                self._loop.call_soon_threadsafe(function, *args)

    async def open(self) -> None:
        if self._opened == 0:
            refuse_in_import()
            await self._store.open()
            self._opened_by, self._loop = os.getpid(), asyncio.get_running_loop()
        self._opened += 1

    async def close(self) -> None:
        if self._opened == 0:
            return
        self._opened -= 1
        if self._opened == 0:
            await self._store.close()

    async def start(self, prepare: Callable[[AsyncExitStack], Awaitable[Instance]]) -> None:
        """Open the store and start the instance that ``prepare`` makes; what it enters is left when all is over."""
        if self.begun:
            raise ConfigurationError("this app is already running; use the one you have, or make another Duly")
        self._starting = True
        try:
            await self.open()
            try:
                async with AsyncExitStack() as stack:
                    self.instance = await prepare(stack)
                    await self.instance.start()
                    self._lifespan = stack.pop_all()
            except BaseException:
                self.instance = None
                await self.close()
                raise
        finally:
            self._starting = False

    async def stop(self, grace: float) -> None:
        """Stop the instance, leave the lifespan, close the store; what fails does not keep the rest from ending."""
        instance, self.instance = self.instance, None
        if instance is None:
            return
        try:
            try:
                await instance.stop(grace)
            finally:
                await self._lifespan.aclose()
        finally:
            await self.close()


def call_now(function: Callable[..., None], *args: Any) -> None:
    function(*args)


def check_settings(settings: Settings | None) -> Settings:
    """What was chosen, the defaults if nothing was, or a refusal of what are no settings."""
    if settings is None:
        return Settings()
    if not isinstance(settings, Settings):
        raise ConfigurationError(f"settings is {settings!r}; expected duly.Settings(...) such as Settings(lease=30)")
    return settings


def check_lifespan(lifespan: Lifespan | None) -> Lifespan | None:
    """What an app is wrapped in, or a refusal of what cannot be called."""
    if lifespan is not None and not callable(lifespan):
        raise ConfigurationError(f"lifespan is {lifespan!r}; expected a function of the app, or None")
    return lifespan


async def enter_lifespan(lifespan: Lifespan, app: Any, stack: AsyncExitStack) -> Any:
    """Begin an app's lifespan and answer what it yields."""
    context = lifespan(app)
    if not isinstance(context, AbstractAsyncContextManager):
        hint = "; decorate it with @contextlib.asynccontextmanager" if inspect.isasyncgen(context) else ""
        raise ConfigurationError(f"lifespan answered {context!r}; expected an async context manager for the app{hint}")
    try:
        return await stack.enter_async_context(context)
    except Exception as error:
        error.add_note("raised by the lifespan of the app, before its worker started")
        raise


def check_roles(roles: Sequence[str]) -> tuple[str, ...]:
    """The roles of an instance, or a refusal of what is none."""
    if isinstance(roles, str) or not isinstance(roles, Iterable) or any(role not in ROLES for role in roles):
        raise ConfigurationError(f"roles is {roles!r}; expected some of {', '.join(ROLES)}")
    return tuple(roles)
