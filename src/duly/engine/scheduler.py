"""Fires due windows: sleeps to the exact instant, wakes on change, polls as the guarantee."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from duly.config import Settings
from duly.core.errors import OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.run import Claim
from duly.runtime.clock import Clock
from duly.runtime.events import Observer
from duly.store.protocol import Store
from duly.store.values import Fired, Grab, Tried

from .election import Election
from .jumps import JumpGuard
from .restores import RestoreWatch

CONTENDED_REST = 0.02
LONGEST_CONTENDED_REST = 0.25
LEAST_BATCH = 100
RUSH = 0.01
"""Where windows follow one another within so many seconds, they gather in batches instead of each being met exactly."""


class Awaited(NamedTuple):
    """The next window: its instant, and the moment of the steady clock at which the store's clock shows it."""

    instant: int
    moment: float


class Grabbing(Protocol):
    """The worker of the same instance: its free places save the claim of a run that was only just fired."""

    def reserve(self, most: int) -> Grab | None: ...

    def take(self, grab: Grab, claims: Sequence[Claim]) -> None: ...


class Scheduler:
    """Turns due windows into runs, a batch per transaction."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        guard: JumpGuard,
        watch: RestoreWatch,
        worker: Grabbing | None,
        election: Election | None = None,
        *,
        on_runs: Callable[[], None],
        on_cancels: Callable[[], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._rules = settings.fire_rules
        self._clock = clock
        self._observer = observer
        self._guard = guard
        self._watch = watch
        self._worker = worker
        self._election = election
        self._on_runs = on_runs
        self._on_cancels = on_cancels
        self._limit = settings.fire_batch
        self._full = False
        self._contended = 0.0
        self._awaited: Awaited | None = None

    async def run_once(self) -> float:
        """Fire up to one batch of due windows; answer the seconds until the next is due, at most one poll."""
        held = self._guard.held_for()
        if held > 0:
            return min(held, self._settings.poll)
        if self._election is not None and self._election.term is None:
            return self._settings.poll  # another one leads; it is woken when that ends
        asked_at = self._clock.steady()
        awaited, self._awaited = self._awaited, None
        try:
            await self._watch.look_if_doubted()
            fired = await self._fire_all(None if awaited is None else awaited.instant)
        except (StoreUnavailable, OutcomeUnknown):
            self._watch.doubt()
            raise  # it says nothing about the batch: any of it may fire on the next try
        except StoreError as error:
            await self._isolate(error)
            return 0
        self._limit = min(self._settings.fire_batch, self._limit * 2)
        if self._guard.saw(fired.now, asked_at):
            return self._settings.poll
        self._tell(fired)
        if fired.more:
            return 0
        if awaited is not None and fired.now >= awaited.instant:  # the store has waited for it: its clock was read then
            asked_at = max(asked_at, awaited.moment)
        return self._rest(fired, asked_at)

    async def _fire_all(self, due: int | None) -> Fired:
        """Fire one batch; while batches are full, as many side by side as the store can use."""
        if not self._full or self._store.fires_at_once == 1:
            fired = await self._fire(due=due)
        else:
            fired = together(await self._fire_abreast(self._store.fires_at_once))
        self._full = fired.more
        return fired

    async def _fire_abreast(self, abreast: int) -> list[Fired]:
        """Fire batches side by side, and wait for all: where one fails, what the others did is told before."""
        ends = await asyncio.gather(*(self._fire(abreast) for _ in range(abreast)), return_exceptions=True)
        done = [end for end in ends if isinstance(end, Fired)]
        for end in ends:
            if isinstance(end, BaseException):
                for fired in done:
                    self._tell(fired)
                raise end
        return done

    def _tell(self, fired: Fired) -> None:
        """Tell observers what was fired, and the worker if there is something to claim."""
        if fired.windows:
            self._observer.windows_fired(fired.runs, fired.skipped, fired.duplicates, fired.lateness_ms)
        if fired.skips:
            self._observer.windows_skipped(fired.skips)
        if fired.runs > len(fired.claims):
            self._on_runs()
        if fired.cancels:
            self._on_cancels()
        for aside in fired.set_aside:
            self._observer.schedule_set_aside(aside.schedule_id, aside.error)

    async def _fire(self, abreast: int = 1, due: int | None = None) -> Fired:
        """Fire, and let the worker beside us have what it can start at once."""
        expected = self._guard.expected()
        term = None if self._election is None else self._election.term
        if self._election is not None and term is None:
            return Fired(now=await self._store.now())
        fire_due = partial(self._store.fire_due, rules=self._rules, expected=expected, term=term, due=due)
        fired = await self._fire_with(fire_due, max(1, self._limit // abreast))
        if fired.deposed and self._election is not None and term is not None:
            self._election.deposed(term)
        return fired

    async def _fire_with(self, fire_due: Callable[..., Awaitable[Fired]], most: int) -> Fired:
        grab = None if self._worker is None else self._worker.reserve(most)
        if self._worker is None or grab is None:
            return await fire_due(limit=self._limit)
        claims: Sequence[Claim] = ()
        try:
            fired = await fire_due(limit=min(self._limit, max(grab.places, LEAST_BATCH)), grab=grab)
            claims = fired.claims
        finally:
            self._worker.take(grab, claims)
        return fired

    def _rest(self, fired: Fired, asked_at: float) -> float:
        """How long nothing is due. A wait may end too late, so it ends early, and the store waits for the instant."""
        now, next_fire_at = fired.now, fired.next_fire_at
        rested, self._contended = self._contended, 0.0
        if next_fire_at is None:
            return self._settings.poll
        if next_fire_at <= now:  # due, but not taken: another instance holds it, longer than usual if again and again
            again = not (fired.windows or fired.set_aside)
            self._contended = min(LONGEST_CONTENDED_REST, max(CONTENDED_REST, rested * 2 if again else 0.0))
            return self._contended
        moment = asked_at + (next_fire_at - now) / 1000
        rest = moment - self._clock.steady()
        if rest <= 0:  # it has come while the store was asked
            return 0
        if self._clock.slack and rest > RUSH:
            self._awaited = Awaited(next_fire_at, moment)
            rest -= self._clock.slack
        return min(self._settings.poll, max(0.0005, rest))

    async def _isolate(self, error: StoreError) -> None:
        """The database refused the batch: halve it until the one bad window stands alone, then put that one off."""
        tried: Sequence[Tried] = error.details.get("tried", ())
        if len(tried) == 1:
            if await self._store.set_aside(tried[0], str(error)):
                self._observer.schedule_set_aside(tried[0].schedule_id, str(error))
            self._limit = self._settings.fire_batch
        elif self._limit > 1:
            self._limit //= 2
        else:
            raise error  # no window was in hand, so none is to blame


def together(batches: Sequence[Fired]) -> Fired:
    """What several fires side by side did, as one."""
    last = batches[-1]
    return Fired(
        now=last.now,
        windows=sum(fired.windows for fired in batches),
        runs=sum(fired.runs for fired in batches),
        skipped=sum(fired.skipped for fired in batches),
        duplicates=sum(fired.duplicates for fired in batches),
        cancels=sum(fired.cancels for fired in batches),
        claims=[claim for fired in batches for claim in fired.claims],
        lateness_ms=[late for fired in batches for late in fired.lateness_ms],
        skips=[skip for fired in batches for skip in fired.skips],
        set_aside=[aside for fired in batches for aside in fired.set_aside],
        next_fire_at=min((f.next_fire_at for f in batches if f.next_fire_at is not None), default=None),
        more=any(fired.more for fired in batches),
    )
