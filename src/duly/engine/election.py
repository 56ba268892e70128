"""One leader fires, the others stand by: chosen by a lease in the store, or by Redis and then written to the store.

The term grows whenever the role changes hands, and every fire carries it: one that was begun, or woke up, under an
older term is refused by the store. So who believes to lead may be wrong, and nothing fires twice for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from duly.config import Settings
from duly.runtime.clock import Clock
from duly.runtime.events import Observer
from duly.store.protocol import Store
from duly.store.values import LEADER, Term

MARGIN = 0.1
"""The share of a lease that is left when it is no longer trusted."""

SOON = 0.05
"""Seconds to rest, at least, before a lease that runs out is asked for again."""


class Ballot(Protocol):
    """Something outside the store that says who leads."""

    async def hold(self, owner: str, ttl_ms: int) -> bool | None:
        """Take or renew; False while another one holds it, None if it cannot be asked."""
        ...

    async def release(self, owner: str) -> None:
        """Give it up, if it is ours."""
        ...

    async def close(self) -> None: ...


class Election:
    """Whether this instance leads, and under which term."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        session: Callable[[], int | None],
        *,
        name: str,
        on_gain: Callable[[], None],
        ballot: Ballot | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._observer = observer
        self._session = session
        self._name = name
        self._on_gain = on_gain
        self._ballot = ballot
        self._led: Term | None = None
        self._trusted_until = 0.0
        self._unasked = False

    @property
    def term(self) -> Term | None:
        """What a fire has to carry; None while another leads, or as soon as that may be so."""
        if self._led is None or self._led.session != self._session() or self._clock.steady() >= self._trusted_until:
            return None
        return self._led

    async def run_once(self) -> float:
        """Take or renew the lead; answer the seconds to the next try."""
        session, asked_at = self._session(), self._clock.steady()
        if session is None:
            self._lose()
            return self._settings.heartbeat
        try:
            number = await self._ask(session)
        finally:
            if self._clock.steady() >= self._trusted_until:
                self._lose()
        if number is not None:
            self._trusted_until = asked_at + self._settings.lease * (1 - MARGIN)
            self._gain(Term(session, number))
            return self._settings.heartbeat
        self._lose()
        return await self._until_free()

    async def stop(self) -> None:
        """Let another one take over at once."""
        led, self._led = self._led, None
        if led is None:
            return
        self._observer.leadership_lost(self._name, led.number)
        if self._ballot is not None:
            await self._ballot.release(str(led.session))
        await self._store.release_lease(LEADER, led.session)

    def deposed(self, term: Term) -> None:
        """The store refused a fire under this term: another one leads."""
        if self._led == term:
            self._lose()

    async def _ask(self, session: int) -> int | None:
        lease_ms = self._settings.lease_ms
        chosen = None if self._ballot is None else await self._ballot.hold(str(session), lease_ms)
        if self._ballot is not None and (chosen is None) != self._unasked:
            self._unasked = chosen is None
            self._observer.ballot_away(self._unasked)
        if chosen is False:
            return None
        # Without an answer from outside, the store's own lease goes on: whoever leads stays, and nobody else comes in.
        return await self._store.take_lease(LEADER, session, lease_ms=lease_ms, seize=chosen is True)

    async def _until_free(self) -> float:
        """Seconds until the leader's lease can run out, at most one heartbeat."""
        lease = await self._store.read_lease(LEADER)
        rest = self._settings.heartbeat
        if lease is None or self._ballot is not None:
            return rest
        return min(rest, max(SOON, (lease.expires_at - await self._store.now() + 1) / 1000))

    def _gain(self, term: Term) -> None:
        if self._led != term:
            if self._led is not None:
                self._observer.leadership_lost(self._name, self._led.number)
            self._led = term
            self._observer.leadership_gained(self._name, term.number)
            self._on_gain()

    def _lose(self) -> None:
        led, self._led = self._led, None
        if led is not None:
            self._observer.leadership_lost(self._name, led.number)
