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
from duly.store.postgres.committing import Asking, Misjudged, Opening, Reading, Writing
from duly.store.postgres.connections import Connections, Lent
from duly.store.postgres.errors import Cure, around_commit, cure_for, not_begun, not_done, too_long
from duly.store.postgres.foretelling import ServerClock
from duly.store.postgres.limits import Limits
from duly.store.postgres.running import run_program
from duly.store.postgres.texts import Statement, as_statement, fill_in, load_queries, load_transactions
from duly.store.postgres.watchdog import Watch, Watchdog
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
    """Runs programs on the calling thread, each in a transaction of its own and within the limits.

    The limit of a call that had to wait for that thread counts from ``called_at``, an instant of ``steady``.
    """

    def __init__(self, connections: Connections, limits: Limits, clock: Clock | None, chance: Chance) -> None:
        schema = connections.address.schema
        texts = load_transactions(schema)
        self.statements = dict(load_queries(schema))
        self._connections = connections
        self._limits = limits
        self._clock = clock
        self._chance = chance
        self._watchdog = Watchdog()
        self._closing = Event()
        self._where = connections.address.name
        self._server_clock = ServerClock()
        self._begin_write = as_statement(texts["begin_write"], "begin_write")
        self._begin_read = as_statement(texts["begin_read"], "begin_read")
        self._set_out = as_statement(fill_in(texts["set_out"], limits.in_ms()), "set_out")

    def steady(self) -> float:
        """Seconds on the clock that limits are counted on."""
        return self._watchdog.steady()

    def write(self, transaction: Transaction[T], due: int | None = None, called_at: float | None = None) -> T:
        """Run a program and commit it; see ``Driver.write``."""

        def work(lent: Lent, guess: int | None) -> T:
            writing = Writing(lent, self._opening(self._begin_write, guess), self._where)
            value = self._run(writing, transaction, guess, due)
            writing.commit()
            return value

        return self._told_or_asked(work, called_at, asked=due is not None)

    def read(self, transaction: Transaction[T], called_at: float | None = None) -> T:
        """Run a program that only reads; it sees the database as of one moment."""

        def work(lent: Lent, guess: int | None) -> T:
            reading = Reading(lent, self._opening(self._begin_read, guess))
            value = self._run(reading, transaction, guess)
            reading.end()
            return value

        return self._told_or_asked(work, called_at)

    def _told_or_asked(
        self, work: Callable[[Lent, int | None], T], called_at: float | None, *, asked: bool = False
    ) -> T:
        """Do some work with a guess at the server's clock; if there is none, or it was wrong, ask before."""

        def tried(lent: Lent) -> T:
            guess = None if asked else self._guess()
            if guess is not None:
                try:
                    return work(lent, guess)
                except Misjudged:
                    lent.end_transaction()
                    self._server_clock.forget()
            return work(lent, None)

        return self.run(tried, self._limits.operation, called_at)

    def _run(self, asking: Asking, transaction: Transaction[T], guess: int | None, due: int | None = None) -> T:
        """Run the program of a transaction that begins with its first step, or without a guess before that.

        What a program answers or raises without a step went by the guess alone, and is not believed.
        """
        now = self._wait_for(due, asking.begin()) if guess is None else guess
        try:
            value = run_program(asking, self.statements, transaction(now // 1000))
        except Exception as error:
            if not asking.begun:
                raise Misjudged from error
            raise
        if not asking.begun:
            raise Misjudged
        return value

    def _guess(self) -> int | None:
        return self._server_clock.guess() if self._clock is None else self._clock.now() * 1000

    def _opening(self, begin: Statement, guess: int | None) -> Opening:
        checked = None if guess is None or self._clock is not None else str(guess)
        return Opening([(begin, []), (self._set_out, [checked])], self._server_clock.read)

    def run(self, work: Callable[[Lent], Answer], seconds: float, called_at: float | None = None) -> Answer:
        """Do some work on a connection in autocommit mode, anew where nothing was done and another try may help."""
        now = self.steady()
        expires_at = (now if called_at is None else called_at) + seconds
        if expires_at < now:
            raise not_begun(seconds)
        left = dict(_TRIES)
        while True:
            try:
                with self._lending(expires_at, seconds) as lent:
                    return work(lent)
            except _Again as again:
                if not left[again.cure] or self.steady() >= expires_at:
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
        watch = Watch(lent.abort, expires_at)
        try:
            with self._watchdog.watching(watch):
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

    def _wait_for(self, due: int | None, now: int) -> int:
        """What the clock shows, after a wait for what is due in a moment."""
        if self._clock is not None:
            return self._clock.now() * 1000
        if due is not None and 0 < due * 1000 - now <= _MOMENT_US:
            now += self._pass(due * 1000 - now)
        return now

    def _pass(self, microseconds: int) -> int:
        """Let time pass, and answer how much has; the server's clock, which was read before, shows at least that."""
        began = self.steady()
        self._closing.wait((microseconds + 1) / 1_000_000)
        return int((self.steady() - began) * 1_000_000)
