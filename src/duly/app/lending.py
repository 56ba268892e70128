"""Runs for workers that have no store, only a way to ask: they claim, beat and report, and their session is their own.

Nothing of them is kept here. Their sessions are sessions like any other in the store: whichever process they ask next
knows them, and a worker that dies is noticed by its lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from duly.config import Settings
from duly.core.errors import LeaseLost
from duly.core.policy import Retry
from duly.core.rules.suspects import Room
from duly.core.run import Outcome, Released, RunStatus
from duly.core.timing import tz_version
from duly.engine.registry import Registry
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.store.protocol import Store
from duly.store.values import Beat, Claimed, Instance, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What a worker says of itself when it comes."""

    jobs: tuple[str, ...]
    name: str
    host: str
    pid: int
    version: str


class Lending:
    """Hands out runs, and takes back how they ended."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        registry: Registry,
        clock: Clock,
        chance: Chance,
        *,
        on_ended: Callable[[Mapping[str, RunStatus]], None],
    ) -> None:
        self._store = store
        self._settings = settings
        self._registry = registry
        self._clock = clock
        self._chance = chance
        self._on_ended = on_ended
        self._waiting: dict[asyncio.Event, set[str]] = {}

    def changed(self, topic: str) -> None:
        """Wake those who wait: there may be runs to claim, or some were cancelled."""
        for event, topics in self._waiting.items():
            topics.add(topic)
            event.set()

    async def open(self, worker: Worker) -> int:
        """Begin a session for a worker, and answer its number."""
        row = Instance(
            session=self._chance.session(),
            name=worker.name,
            host=worker.host,
            pid=worker.pid,
            roles=("worker",),
            version=worker.version,
            tz_version=tz_version(),
            jobs=worker.jobs,
        )
        await self._store.open_session(row, lease_ms=self._settings.lease_ms, remote=True)
        return row.session

    async def claim(
        self,
        session: int,
        *,
        jobs: Sequence[str],
        limit: int,
        wait: float = 0,
        queues: Sequence[str] | None = None,
        suspects: Room,
    ) -> Claimed:
        """Give the session up to ``limit`` runs; where there are none, wait up to ``wait`` seconds for some.

        It is a sign of life: the session's lease is extended, also while it waits.
        """
        over_at = self._clock.steady() + wait
        rung = asyncio.Event()
        self._waiting[rung] = set()
        try:
            while True:
                rung.clear()
                await self.beat(session)
                asked_at = self._clock.steady()
                asking = self._store.claim_runs(session, jobs=jobs, limit=limit, queues=queues, suspects=suspects)
                claimed = await self._unless_cancelled(session, asyncio.ensure_future(asking))
                if not claimed.alive:
                    raise _session_lost(session)
                left = over_at - self._clock.steady()
                if claimed.claims or left <= 0:
                    return claimed
                await self._clock.wait(rung, min(left, self._rest(claimed, asked_at)))
        finally:
            del self._waiting[rung]

    async def _unless_cancelled(self, session: int, asking: asyncio.Future[Claimed]) -> Claimed:
        """The answer of a claim; what it took for a worker that left meanwhile is given back."""
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            reports = [Report(claim.id, claim.fence, Released()) for claim in (await asking).claims]
            if reports:
                await self._store.settle_reported(session, reports, rules=self._settings.fire_rules)
                self.changed("runs")
            raise

    async def wait(self, session: int, seconds: float) -> set[str]:
        """Wait until there may be something new for the session, and answer what: "runs", "cancels", or nothing."""
        await self.beat(session)
        rung, topics = asyncio.Event(), set[str]()
        self._waiting[rung] = topics
        try:
            await self._clock.wait(rung, seconds)
        finally:
            del self._waiting[rung]
        return topics

    async def beat(self, session: int) -> Beat:
        """Extend the session's lease, and answer what it holds."""
        beat = await self._store.beat(session, lease_ms=self._settings.lease_ms)
        if not beat.alive:
            raise _session_lost(session)
        return beat

    async def report(
        self,
        session: int,
        run_id: str,
        fence: int,
        outcome: Outcome,
        retry: Retry | None = None,
        max_attempts: int | None = None,
    ) -> RunStatus:
        """Keep how an attempt ended, and answer what that made of the run; ``LeaseLost`` if it is not its any more."""
        retries = {handler.name: handler.retry for handler in self._registry if handler.retry is not None}
        settled = await self._store.settle_reported(
            session,
            [Report(run_id, fence, outcome, retry, max_attempts)],
            rules=self._settings.fire_rules,
            retries=retries,
        )
        if settled.lost:
            raise LeaseLost(
                f"run {run_id} with fence {fence} is not in the hands of session {session} (any more): nothing was"
                " changed; drop what was done for it",
                run_id=run_id,
            )
        self.changed("runs")
        self._on_ended(settled.ended)
        if run_id in settled.ended:
            return settled.ended[run_id]
        run = await self._store.get_run(run_id)
        return RunStatus.PENDING if run is None else run.status

    async def answer(self, run_id: str, fence: int, outcome: Outcome | None) -> RunStatus:
        """Keep what the receiver of a delivered run says: that it has begun (None), or how it ended.

        Answers what that made of the run; ``LeaseLost`` if the fence is not that of a run whose answer is awaited.
        """
        ended: dict[str, RunStatus] = {}
        if outcome is None:
            lost = not await self._store.begin_answer(run_id, fence)
        else:
            retries = {handler.name: handler.retry for handler in self._registry if handler.retry is not None}
            settled = await self._store.settle_answer(
                run_id, fence, outcome, rules=self._settings.fire_rules, retries=retries
            )
            lost, ended = bool(settled.lost), settled.ended
        if lost:
            raise LeaseLost(
                f"run {run_id} awaits no answer with fence {fence}: it was answered before, its time was over, or it"
                " was sent anew; nothing was changed",
                run_id=run_id,
            )
        self.changed("runs")
        self._on_ended(ended)
        run = await self._store.get_run(run_id)
        return RunStatus.PENDING if run is None else run.status

    async def close(self, session: int) -> int:
        """End the session: what it holds goes to others at once; answer how many runs. Twice is fine."""
        released = await self._store.close_session(session)
        if released:
            self.changed("runs")
        return released

    def _rest(self, claimed: Claimed, asked_at: float) -> float:
        """Seconds until another look is worth it; a wake-up comes earlier."""
        poll = self._settings.poll
        if claimed.next_due_at is None:
            return poll
        passed = self._clock.steady() - asked_at
        return min(poll, max(0.0005, (claimed.next_due_at - claimed.now) / 1000 - passed))


def _session_lost(session: int) -> LeaseLost:
    return LeaseLost(
        f"there is no session {session} (any more): its runs went to others; claim without a session to begin anew"
    )
