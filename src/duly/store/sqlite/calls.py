"""A call: one transaction asked for by one caller, and the way its answer goes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from threading import Lock
from typing import Generic

from duly.core.errors import DulyError, OutcomeUnknown, StoreUnavailable
from duly.runtime.answering import call_on
from duly.store.statements import T, Transaction


class Call(Generic[T]):
    """Waits to be taken: by a thread that runs it, or by its caller, who withdraws it.

    Whoever takes it first has it, so a withdrawn call is certain not to run. One that has a ``begin_at``, an instant of
    the steady clock, runs then, or when the store is closed before.
    """

    __slots__ = ("_error", "_future", "_loop", "_taken", "_value", "abandoned", "begin_at", "transaction", "writes")

    def __init__(
        self,
        transaction: Transaction[T],
        *,
        writes: bool,
        loop: asyncio.AbstractEventLoop | None,
        begin_at: float | None = None,
    ) -> None:
        self.transaction = transaction
        self.writes = writes
        self.begin_at = begin_at
        self.abandoned = False
        self._taken = Lock()
        self._loop = loop
        self._future: asyncio.Future[T] | Future[T] = Future() if loop is None else loop.create_future()
        self._value: T | None = None
        self._error: Exception | None = None

    def take(self) -> bool:
        """Claim the call; only the first caller of this is told True."""
        return self._taken.acquire(blocking=False)

    def succeed(self, value: T) -> None:
        self._value = value

    def fail(self, error: Exception) -> None:
        self._error = error

    @property
    def failed(self) -> bool:
        return self._error is not None

    async def wait(self, limit: float) -> T:
        """Wait for the answer on the event loop, for ``limit`` seconds at most."""
        assert isinstance(self._future, asyncio.Future)
        timer = self._future.get_loop().call_later(limit, self._expire, limit)
        try:
            return await self._future
        except asyncio.CancelledError:
            self._withdraw()
            raise
        finally:
            timer.cancel()

    def wait_sync(self, limit: float) -> T:
        """Wait for the answer by blocking this thread, for ``limit`` seconds at most."""
        assert isinstance(self._future, Future)
        try:
            return self._future.result(limit)
        except TimeoutError:
            if self._future.done():
                raise  # the program's own error
            raise self._late(limit) from None

    def _expire(self, limit: float) -> None:
        if not self._future.done():
            self._future.set_exception(self._late(limit))

    def _late(self, limit: float) -> DulyError:
        if self._withdraw() or not self.writes:
            return StoreUnavailable(f"the store did not come to this call within {limit:g} s; nothing was done")
        return OutcomeUnknown(
            f"the store had not ended this write after {limit:g} s; it may still be done, and repeating it is safe"
        )

    def _withdraw(self) -> bool:
        self.abandoned = True
        return self.take()

    def _answer(self) -> None:
        if self._future.done():
            return
        if self._error is not None:
            self._future.set_exception(self._error)
        else:
            self._future.set_result(self._value)  # type: ignore[arg-type]  # set by succeed


def answer(calls: Iterable[Call[object]]) -> None:
    """Give the callers their answers, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Call[object]]] = {}
    for call in calls:
        if call._loop is None:
            call._answer()
        else:
            by_loop.setdefault(call._loop, []).append(call)
    for loop, group in by_loop.items():
        call_on(loop, _answer_all, group)


def _answer_all(calls: Iterable[Call[object]]) -> None:
    for call in calls:
        call._answer()
