"""What every bound method uses: the driver, the definitions it has read, and the way to a transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from functools import partial
from typing import Any, Self

from duly.core.credential import Whose
from duly.core.errors import ConfigurationError, StoreError
from duly.runtime.clock import Clock
from duly.store.clash import Clash
from duly.store.driver import Driver
from duly.store.methods.definitions import Definitions
from duly.store.methods.floors import Floors
from duly.store.methods.telling import Tap, Watch
from duly.store.narrowing import narrowed
from duly.store.sealing import refuse_unknown_seals
from duly.store.statements import Program, T, Transaction
from duly.store.timing_calls import CallListener, Timed


class Bound:
    """Opens and closes the driver, and runs programs on it or on a connection that the caller owns."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.name = driver.name
        self.fires_at_once = driver.fires_at_once
        self._definitions = Definitions()
        self._floors = Floors()
        self._watch = Watch()
        self._told_listeners: list[Callable[[], None]] = []
        self._notified_listeners: list[Callable[[], None]] = []
        self._advice: str | None = None
        self._closed: str | None = None
        self._whole = self
        self._timed: Timed | None = None
        self._tells_traces = False
        self._clashing = False
        self._whose: Whose | None = None

    def seen_by(self, whose: Whose) -> Self:
        """This store as one owner sees it: what is not theirs is not there, what they make is theirs."""
        view = copy(self)
        view._whose = whose
        return view

    def closed_until_open(self, advice: str) -> None:
        """Refuse calls before ``open`` and after ``close``, with this advice to whoever makes them."""
        self._advice = self._closed = advice

    async def open(self) -> None:
        try:
            await self.driver.open()
            await self.driver.read(refuse_unknown_seals)
        except BaseException:
            await self.driver.close()
            raise
        self._closed = None

    async def close(self) -> None:
        self._closed = self._advice
        await self.driver.close()

    async def now(self) -> int:
        return await self._read(_now, engine=True)

    def on_change(self, listener: Callable[[str], None]) -> None:
        self.driver.on_hint(listener)

    def on_call(self, listener: CallListener, clock: Clock) -> None:
        """Tell a listener of every call how long it took; those on a caller's own connection are the caller's."""
        self._whole._timed = Timed(listener, clock)

    async def _read(self, transaction: Transaction[T], *, engine: bool = False) -> T:
        return await self._call("read", partial(self.driver.read, engine=engine), self._ready(transaction))

    async def _call(self, kind: str, call: Callable[[Transaction[T]], Awaitable[T]], transaction: Transaction[T]) -> T:
        timed = self._whole._timed
        return await (call(transaction) if timed is None else timed.call(kind, call, transaction))

    async def _write(self, transaction: Transaction[T], *, engine: bool = False, due: int | None = None) -> T:
        tap = Tap(self._ready(transaction), self._watch)
        write: Callable[[Transaction[T]], Awaitable[T]] = partial(self.driver.write, due=due, engine=engine)
        try:
            value = await self._call("write", write, tap)
        except Clash:
            raise
        except StoreError:
            self._definitions.forget()
            raise
        if tap.told:
            self.driver.hint("events")
            for listener in self._told_listeners:
                listener()
        if tap.notified:
            self.driver.hint("runs")
            for listener in self._notified_listeners:
                listener()
        return value

    async def _write_and_hint(self, topic: str, transaction: Transaction[T], connection: Any) -> T:
        """Write, and tell other instances; on the caller's connection nobody can be told before its commit."""
        if connection is not None:
            return await self.driver.write_on(connection, Tap(self._narrowed(transaction), self._watch))
        value = await self._write(transaction)
        self.driver.hint(topic)
        return value

    def _ready(self, transaction: Transaction[T]) -> Transaction[T]:
        closed = self._whole._closed
        if closed is not None:
            raise ConfigurationError(closed)
        return self._narrowed(transaction)

    def _narrowed(self, transaction: Transaction[T]) -> Transaction[T]:
        return transaction if self._whose is None else narrowed(transaction, self._whose)

    def _definitions_on(self, connection: Any) -> Definitions:
        """The kept definitions; none for a transaction of the caller's, whose revisions may never be committed."""
        return self._definitions if connection is None else Definitions()


def _now(now: int) -> Program[int]:
    yield from ()
    return now
