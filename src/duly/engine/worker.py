"""Claims runs in batches, only of jobs it knows and only for free places, and runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from duly.config import Settings
from duly.core.policy import Retry
from duly.core.run import Claim, Completed, Failed, Outcome, Released, Snoozed, Suspended
from duly.runtime.clock import Clock
from duly.runtime.events import Observer
from duly.runtime.tracing import Tracing
from duly.store.protocol import Claiming
from duly.store.values import Beat, Grab, Held, Settlement

from .attempt import Attempt, Stop
from .deadlines import Deadlines
from .outcomes import failure_of
from .outlets import OutsidePlaces, Trials
from .places import Places
from .registry import Handler, Mode, Registry
from .settler import Settler
from .suspects import Suspects
from .terms import retry_of, take_own_terms
from .threads import Threads

RAMP_STEP = 0.25
"""Seconds between looks for more room while claims ramp up."""

UNCLAIMED_POLLS = 2
"""For how many polls fires may take all places before a claim has to come between."""

_RELEASED = Released()
_RETRY = Retry()


class Worker:
    """The runs in the hands of one session."""

    def __init__(
        self,
        store: Claiming,
        registry: Registry,
        settings: Settings,
        clock: Clock,
        observer: Observer,
        settler: Settler,
        *,
        session: Callable[[], int | None],
        on_session_lost: Callable[[int], None],
        wake: Callable[[], None],
        ending: Callable[[], bool],
        tracing: Tracing | None = None,
    ) -> None:
        self._store = store
        self._registry = registry
        self._settings = settings
        self._clock = clock
        self._observer = observer
        self._settler = settler
        self._session = session
        self._on_session_lost = on_session_lost
        self._wake = wake
        self._ending = ending
        self._tracing = tracing
        self._threads = Threads(settings.threads)
        self._deadlines = Deadlines(clock)
        self._suspects = Suspects(clock, settings.lease)
        self._active: dict[str, Attempt] = {}
        self._doubtful: dict[str, tuple[int, float]] = {}
        ramp_up = settings.ramp_up
        self._on_loop = Places(settings.concurrency, lambda: registry.names_of(Mode.ASYNC), ramp_up)
        self._in_threads = Places(settings.threads, lambda: registry.names_of(Mode.THREAD, Mode.PROCESS), ramp_up)
        self._outside = OutsidePlaces(settings.concurrency, registry.outlets)
        self._trials = [Trials(job, outlet) for job, outlet in registry.outlets().items()]
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def active(self) -> int:
        return len(self._active)

    async def run_once(self) -> float:
        """Claim for the free places; answer the seconds to the next claim. A place that gets free wakes it earlier."""
        rest = self._settings.poll
        for places in (self._on_loop, self._in_threads, self._outside, *self._trials):
            session = self._session()
            if places.jobs and session is not None and not self._draining:
                rest = min(rest, await self._claim(session, places))
        return rest

    async def _claim(self, session: int, places: Places) -> float:
        poll, asked_at = self._settings.poll, self._clock.steady()
        if places.ramping:
            places.grow(asked_at)
            poll = min(poll, RAMP_STEP)
        if places.crowded(asked_at, poll) or self._backed_up:
            places.waiting = True
            return poll
        places.claimed_at = asked_at
        free = places.free
        places.reserved += free
        try:
            claimed = await self._store.claim_runs(
                session, jobs=sorted(places.jobs), limit=free, suspects=self._suspects.room()
            )
        finally:
            places.reserved -= free
        if not claimed.alive:
            self._on_session_lost(session)
            return poll
        for claim in claimed.claims:
            self._start(claim, session)
        places.held_back = claimed.held_back
        places.waiting = len(claimed.claims) >= free
        if places.ramping and not places.waiting:
            places.open_wide()
        if places.waiting:
            return 0 if places.roomy else poll
        if claimed.next_due_at is None:
            return poll
        passed = self._clock.steady() - asked_at
        return min(poll, max(0.0005, (claimed.next_due_at - claimed.now) / 1000 - passed))

    def freed(self, settlements: Sequence[Settlement]) -> None:
        """Ends were written: claim again if that made room, in a limited queue or behind ends that piled up.

        Only now may another suspect follow one that has ended: it could kill this process before the end is kept.
        """
        acquitted = [self._suspects.end(one.claim.id) for one in settlements if one.claim.suspect]
        if any(acquitted):
            self._wake()
        if not self._backed_up:
            self._wake_if_waiting(self._on_loop)
            self._wake_if_waiting(self._in_threads)
            self._wake_if_waiting(self._outside)
        if any(type(one.outcome) is not Completed and self._is_back_soon(one) for one in settlements):
            self._wake()
        held_back = self._on_loop.held_back | self._in_threads.held_back | self._outside.held_back
        if held_back and any(settlement.claim.queue in held_back for settlement in settlements):
            self._wake()

    def _is_back_soon(self, settlement: Settlement) -> bool:
        """Whether the run may be due again before the next poll."""
        match settlement.outcome:
            case Suspended():
                return True
            case Snoozed(for_ms):
                return for_ms < self._settings.poll * 1000
            case Failed(fatal=False, wait_ms=wait_ms):
                retry = settlement.retry
                return max(wait_ms / 1000, retry.delay * (1 - retry.jitter)) < self._settings.poll
            case _:
                return False

    @property
    def _backed_up(self) -> bool:
        """Whether so many ends wait to be written that more work would only pile up behind them."""
        return self._settler.backlog > 2 * self._settings.concurrency

    def reserve(self, most: int) -> Grab | None:
        """Offer free places to a fire, unless runs are waiting that came before; ``take`` must follow.

        A fire may be quicker than the claim of those, but not again and again: then no place is left to claim for.
        """
        places, session = self._on_loop, self._session()
        most = min(most, places.free)
        if self._draining or places.waiting or session is None or most <= 0 or not places.jobs:
            return None
        if self._clock.steady() - places.claimed_at > UNCLAIMED_POLLS * self._settings.poll:
            return None
        places.reserved += most
        return Grab(session, places.jobs, most)

    def take(self, grab: Grab, claims: Sequence[Claim]) -> None:
        """Start the runs that were born in our hands, and have the other places back."""
        self._on_loop.reserved -= grab.places
        for claim in claims:
            self._start(claim, grab.session)
        self._wake_if_waiting(self._on_loop)

    def _start(self, claim: Claim, session: int) -> None:
        handler = self._registry.get(claim.job)
        if handler is None or self._draining or self._session() != session:
            # Claimed in the same moment as the drain began, or under a lease that may be gone: give it back untried.
            self._settler.add(Settlement(claim, session, _RELEASED, _RETRY))
            return
        if claim.left_to_job:
            take_own_terms(claim, handler)
            if claim.attempt > claim.max_attempts:  # whoever gave it back did not know how often its job may be tried
                spent = Failed(f"its job allows {claim.max_attempts} attempt(s), and it was tried so often before")
                self._settler.add(Settlement(claim, session, spent, retry_of(claim, handler)))
                return
        attempt = Attempt(claim, session, handler, self._threads, self._deadlines, self._settings.result_limit)
        self._active[claim.id] = attempt
        if claim.suspect:
            self._suspects.begin(claim)
        self._places(handler).taken += 1
        if handler.outlet is not None:
            handler.outlet.taken += 1
        self._idle.clear()
        self._observer.attempt_started(claim)
        context = None if self._tracing is None else self._tracing.begin(claim)
        attempt.task = asyncio.get_running_loop().create_task(self._run(attempt), context=context)

    async def _run(self, attempt: Attempt) -> None:
        outcome: Outcome = _RELEASED
        interrupt: KeyboardInterrupt | None = None
        try:
            outcome = await attempt.run()
        except asyncio.CancelledError as error:
            if self._ending():
                raise
            outcome = failure_of(
                error, attempt.handler.around.redact
            )  # by its handler: nobody else cancels this task alone
        except KeyboardInterrupt as error:
            outcome, interrupt = failure_of(error, attempt.handler.around.redact), error
        finally:
            self._finish(attempt, outcome)
        if interrupt is not None:
            # It ends the process, which somebody starts again: an attempt that was not counted would be made for ever.
            await self._settler.drain(self._settings.heartbeat)
            raise interrupt

    def _finish(self, attempt: Attempt, outcome: Outcome) -> None:
        claim, places = attempt.claim, self._places(attempt.handler)
        self._deadlines.forget(attempt)
        places.taken -= 1
        if attempt.handler.outlet is not None:
            attempt.handler.outlet.taken -= 1
            if attempt.handler.outlet.free_again():
                self._wake()
        if self._active.get(claim.id) is attempt:
            del self._active[claim.id]
        if not self._active:
            self._idle.set()
        if self._tracing is not None:
            self._tracing.end(claim, outcome)
        self._observer.attempt_ended(claim, outcome)
        if not attempt.lost:
            self._settler.add(self._settlement(attempt, outcome))
        elif claim.suspect and self._suspects.end(claim.id):
            self._wake()
        self._wake_if_waiting(places)

    def _settlement(self, attempt: Attempt, outcome: Outcome) -> Settlement:
        claim, handler = attempt.claim, attempt.handler
        own = handler.max_interruptions
        most = self._settings.max_interruptions if own is None else own
        return Settlement(claim, attempt.session, outcome, retry_of(claim, handler), most)

    def _places(self, handler: Handler) -> Places:
        if handler.mode is Mode.OUTSIDE:
            return self._outside
        return self._on_loop if handler.mode is Mode.ASYNC else self._in_threads

    def _wake_if_waiting(self, places: Places) -> None:
        """Claim again if runs were left waiting for want of places and half of the places are free."""
        if places.waiting and places.roomy:
            places.waiting = False
            self._wake()

    def heard(self, session: int, beat: Beat) -> None:
        """Compare what the store says with what is running: pass cancels on, drop what was lost, return what leaked.

        A claim or a settle may have passed the beat on its way, so a difference counts only when it lasts: when two
        beats show it that lie some time apart.
        """
        held = {run.id: run for run in beat.held}
        doubtful: dict[str, tuple[int, float]] = {}
        for id, attempt in list(self._active.items()):
            if attempt.session != session:
                continue
            run, fence = held.pop(id, None), attempt.claim.fence
            if run is None and not self._lasts(id, fence):
                doubtful[id] = self._doubt(id, fence)
            elif run is None or run.fence != fence:
                attempt.stop(Stop.LOST)
            elif run.cancel_requested:
                attempt.stop(Stop.CANCEL)
        ending = self._settler.run_ids()
        for run in held.values():
            if run.id in ending:
                continue
            if self._lasts(run.id, run.fence):
                self._settler.add(Settlement(_leaked(run), session, _RELEASED, _RETRY))
            else:
                doubtful[run.id] = self._doubt(run.id, run.fence)
        self._doubtful = doubtful

    def _doubt(self, run_id: str, fence: int) -> tuple[int, float]:
        known = self._doubtful.get(run_id)
        return known if known is not None and known[0] == fence else (fence, self._clock.steady())

    def _lasts(self, run_id: str, fence: int) -> bool:
        return self._doubt(run_id, fence)[1] <= self._clock.steady() - self._settings.heartbeat / 2

    def lose_all(self, session: int) -> None:
        """The session is dead: its attempts can write nothing any more."""
        self._stop_all(session, Stop.LOST)

    def interrupt_all(self, session: int) -> None:
        """The store cannot be reached, and other instances may take the runs: stop them, and report it later."""
        self._stop_all(session, Stop.INTERRUPTED)

    def _stop_all(self, session: int, why: Stop) -> None:
        for attempt in list(self._active.values()):
            if attempt.session == session:
                attempt.stop(why)

    def stop_claiming(self) -> None:
        self._draining = True

    async def drain(self, grace: float) -> None:
        """Wait for running handlers up to ``grace`` seconds, then give the rest back untried, and settle everything."""
        self.stop_claiming()
        if self._active and grace > 0:
            await self._clock.wait(self._idle, grace)
        for attempt in list(self._active.values()):
            attempt.stop(Stop.SHUTDOWN)
        if self._active:
            await self._clock.wait(self._idle, self._settings.heartbeat)
        await self._settler.drain(self._settings.lease)
        self._threads.close()
        self._deadlines.close()


def _leaked(run: Held) -> Claim:
    """A claim whose answer was lost on the way: all that is known of it, and all that a release needs."""
    return Claim(
        id=run.id, job="", kind="", queue="", attempt=0, max_attempts=0, fence=run.fence, payload="", schedule_id=None,
        revision=None, window_at=None, due_at=0, fired_at=0, lane=None, timeout_ms=None, tenant="",
    )  # fmt: skip
