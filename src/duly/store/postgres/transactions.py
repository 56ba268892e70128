"""Transactions of our own: begin, run the program, commit; try again where nothing was done and it may help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import TypeVar, assert_never

import psycopg

from duly.core.errors import StoreError, ValidationFailed
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.postgres.committing import Write
from duly.store.postgres.connections import Connections, Lent
from duly.store.postgres.errors import Cure, around_commit, cure_for, not_done, too_long
from duly.store.postgres.limits import Limits
from duly.store.postgres.running import run_program
from duly.store.postgres.texts import fill_in, load_queries, load_transactions
from duly.store.postgres.watchdog import Watchdog
from duly.store.statements import T, Transaction

_TRIES = {Cure.WAIT: 3, Cure.RECONNECT: 1, Cure.STOP_PREPARING: 1}
_FIRST_WAIT_S = 0.02
_MOMENT_US = 6000
"""An instant that is no further away is waited for with the transaction begun; it holds no lock yet."""

Answer = TypeVar("Answer")


class _Again(Exception):
    """Nothing was done; another try may succeed."""

    def __init__(self, error: StoreError, cure: Cure) -> None:
        super().__init__(str(error))
        self.error = error
        self.cure = cure


class Transactions:
    """Runs programs on the calling thread, each in a transaction of its own and within the limits."""

    def __init__(self, connections: Connections, limits: Limits, clock: Clock | None, chance: Chance) -> None:
        texts = load_transactions()
        self.statements = dict(load_queries())
        self._connections = connections
        self._limits = limits
        self._clock = clock
        self._chance = chance
        self._watchdog = Watchdog()
        self._closing = Event()
        self._where = connections.address.name
        self._begin_write = fill_in(texts["begin_write"], limits.in_ms())
        self._begin_read = fill_in(texts["begin_read"], limits.in_ms())

    def write(self, transaction: Transaction[T], due: int | None = None) -> T:
        """Run a program and commit it; see ``Driver.write``."""

        def work(lent: Lent) -> T:
            now = self._begin(lent, self._begin_write, due)
            write = Write(lent, self._where)
            value = run_program(write, self.statements, transaction(now))
            write.commit()
            return value

        return self.run(work, self._limits.operation)

    def read(self, transaction: Transaction[T]) -> T:
        """Run a program that only reads; it sees the database as of one moment."""

        def work(lent: Lent) -> T:
            now = self._begin(lent, self._begin_read)
            value = run_program(lent.wire, self.statements, transaction(now))
            lent.wire.run(b"COMMIT")
            return value

        return self.run(work, self._limits.operation)

    def run(self, work: Callable[[Lent], Answer], seconds: float) -> Answer:
        """Do some work on a connection in autocommit mode, anew where nothing was done and another try may help."""
        expires_at = self._watchdog.steady() + seconds
        left = dict(_TRIES)
        while True:
            try:
                with self._lending(expires_at, seconds) as lent:
                    return work(lent)
            except _Again as again:
                if not left[again.cure] or self._watchdog.steady() >= expires_at:
                    raise again.error from again.__cause__
                left[again.cure] -= 1
                self._apply(again.cure, left[again.cure])

    def close(self) -> None:
        self._closing.set()
        self._watchdog.close()

    @contextmanager
    def _lending(self, expires_at: float, seconds: float) -> Iterator[Lent]:
        """Lend a connection that is ended from outside when the time is up; turn every error into one of ours."""
        lent = self._connections.take()
        try:
            with self._watchdog.watching(lent.abort, expires_at) as watch:
                try:
                    yield lent
                except psycopg.Error as error:
                    raise self._judge(error, lent, seconds if watch.expired else None) from error
                except UnicodeEncodeError as error:
                    raise ValidationFailed(f"text cannot be stored as UTF-8: {error.reason}") from error
                finally:
                    lent.end_transaction()
        finally:
            if watch.expired:
                lent.close()
            self._connections.give_back(lent)

    def _judge(self, error: psycopg.Error, lent: Lent, expired_after: float | None) -> Exception:
        broken = lent.broken or expired_after is not None
        if broken:
            self._connections.forget_idle()
        if lent.committing:
            return around_commit(error, self._where, broken=broken)
        if expired_after is not None:
            return too_long(self._where, expired_after)
        cure = cure_for(error, broken=broken)
        ours = not_done(error, self._where)
        return ours if cure is Cure.NOTHING else _Again(ours, cure)

    def _apply(self, cure: Cure, left: int) -> None:
        match cure:
            case Cure.RECONNECT:
                self._connections.forget_idle()
            case Cure.STOP_PREPARING:
                self._connections.stop_preparing()
            case Cure.WAIT:
                self._closing.wait(self._chance.spread(0, _FIRST_WAIT_S * 2 ** (_TRIES[cure] - left)))
            case Cure.NOTHING:
                pass
            case _:
                assert_never(cure)

    def _begin(self, lent: Lent, text: bytes, due: int | None = None) -> int:
        """Start the transaction, set its limits and read the store's clock, in one round trip; wait for what is due."""
        answer = lent.wire.run(text).get_value(0, 0)
        if self._clock is not None:
            return self._clock.now()
        now = int(answer or 0)
        if due is not None and 0 < due * 1000 - now <= _MOMENT_US:
            now += self._pass(due * 1000 - now)
        return now // 1000

    def _pass(self, microseconds: int) -> int:
        """Let time pass, and answer how much has; the server's clock, which was read before, shows at least that."""
        began = self._watchdog.steady()
        self._closing.wait((microseconds + 1) / 1_000_000)
        return int((self._watchdog.steady() - began) * 1_000_000)
