"""The connection of a target: made when it is first needed, shared by all sends, made anew after it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

CONNECT_WITHIN = 3.0
CONFIRM_WITHIN = 5.0
CLOSE_WITHIN = 1.0
"""Seconds; together less than ``SEND_WITHIN``."""

C = TypeVar("C")


class Line(Generic[C]):
    """One connection at a time. Whoever finds it broken drops it; the next one who asks gets a new one.

    ``alive`` says of a connection that nobody used for a while whether it is still one.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[C]],
        close: Callable[[C], Awaitable[object]],
        alive: Callable[[C], bool] = lambda _: True,
    ) -> None:
        self._connect = connect
        self._close = close
        self._alive = alive
        self._turn = asyncio.Lock()
        self._connection: C | None = None

    async def get(self) -> C:
        """The connection; ``TimeoutError`` or the driver's own error where there is none to be had."""
        async with asyncio.timeout(CONNECT_WITHIN), self._turn:
            if self._connection is not None and not self._alive(self._connection):
                await self.close()
            if self._connection is None:
                self._connection = await self._connect()
            return self._connection

    async def drop(self, connection: C) -> None:
        """Give up a connection that failed, unless another has been made meanwhile."""
        if self._connection is connection:
            self._connection = None
            await self._end(connection)

    async def close(self) -> None:
        """Give up the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._end(connection)

    async def _end(self, connection: C) -> None:
        # It may be broken already, so whatever its farewell raises says nothing new.
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._close(connection)
