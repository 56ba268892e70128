"""How long calls to a store take, and which of them fail: for whoever watches it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from duly.core.errors import StoreError
from duly.runtime.clock import Clock

from .clash import Clash
from .statements import T, Transaction

CallListener = Callable[[str, float, StoreError | None], None]
"""Is given read or write, the seconds, and why it failed."""


class Timed:
    """Tells a listener of every call when it has ended."""

    def __init__(self, listener: CallListener, clock: Clock) -> None:
        self._listener = listener
        self._steady = clock.steady

    async def call(self, kind: str, call: Callable[[Transaction[T]], Awaitable[T]], transaction: Transaction[T]) -> T:
        began = self._steady()
        try:
            value = await call(transaction)
        except StoreError as error:
            # A clash is an answer: the store works.
            self._listener(kind, self._steady() - began, None if isinstance(error, Clash) else error)
            raise
        self._listener(kind, self._steady() - began, None)
        return value
