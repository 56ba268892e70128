"""One instance: its session, its loops and its end."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from duly.config import Settings
from duly.core.errors import StoreError
from duly.core.run import RunStatus
from duly.core.timing import tz_version
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.events import Observers
from duly.runtime.loop import Loop
from duly.runtime.tracing import Tracing
from duly.store.sql import SqlStore
from duly.store.values import Beat, Settlement
from duly.store.values import Instance as InstanceRow

from .auditor import Auditor
from .election import Ballot, Election
from .heartbeat import Heartbeat
from .janitor import Janitor
from .jumps import JumpGuard
from .recovery import Recovery
from .registry import Registry
from .restores import RestoreWatch
from .scheduler import Scheduler
from .settler import Settler
from .worker import Worker

ROLES = ("api", "scheduler", "worker")


def own_name() -> str:
    """What an instance is called that was given no name: its machine and its process."""
    return f"{platform.node()}-{os.getpid()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything an instance touches, so that a test can hand it another world."""

    store: SqlStore
    settings: Settings
    clock: Clock
    chance: Chance
    observers: Observers
    heartbeat_thread: bool = True
    ballot: Ballot | None = None
    tracing: Tracing | None = None


class Instance:
    """Runs the roles it was given until it is stopped."""

    def __init__(
        self, world: World, registry: Registry, *, roles: Sequence[str], name: str | None, version: str
    ) -> None:
        self._world = world
        self._registry = registry
        self._roles = tuple(roles)
        self._name = name or own_name()
        self._version = version
        self._session: int | None = None
        self._loops: list[Loop] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._reopening: asyncio.Task[None] | None = None
        self._ended_listeners: list[Callable[[dict[str, RunStatus]], None]] = []
        self._change_listeners: list[Callable[[str], None]] = []
        self._build()

    def _build(self) -> None:
        world = self._world
        store, settings, clock, observers = world.store, world.settings, world.clock, world.observers
        guard = self._guard = JumpGuard(clock, observers, limit=settings.jump_limit, hold=settings.lease)
        self._settler = Settler(store, clock, world.chance, observers, self._ended, self.wake_worker, self._written)
        self._worker = Worker(
            store,
            self._registry,
            settings,
            clock,
            observers,
            self._settler,
            session=self._trusted_session,
            on_session_lost=self._session_lost,
            wake=self.wake_worker,
            ending=self._ending,
            tracing=world.tracing,
        )
        self._heartbeat = Heartbeat(
            store,
            settings,
            clock,
            observers,
            session=self._session_now,
            on_beat=self._heard,
            on_distrust=self._worker.interrupt_all,
        )
        beside = self._worker if "worker" in self._roles else None
        watch = RestoreWatch(store, observers)
        self._election = None if settings.election == "none" else self._make_election()
        scheduler = Scheduler(
            store,
            settings,
            clock,
            observers,
            guard,
            watch,
            beside,
            self._election,
            on_runs=self.wake_worker,
            on_cancels=self.cancel_soon,
        )
        recovery = Recovery(store, settings, clock, observers, guard, self._registry, self.wake_worker)
        janitor = Janitor(
            store, settings, clock, observers, guard, self._session_now, watch, on_resumed=self.wake_scheduler
        )
        auditor = Auditor(store, settings, clock, observers, guard, self._session_now)
        self._auditor_loop = self._loop("auditor", auditor.run_once)
        self._scheduler_loop = self._loop("scheduler", scheduler.run_once)
        self._worker_loop = self._loop("worker", self._worker.run_once)
        self._recovery_loop = self._loop("recovery", recovery.run_once)
        self._election_loop = None if self._election is None else self._loop("election", self._election.run_once)
        self._janitor_loop = self._loop("janitor", janitor.run_once)
        self._heartbeat_loop = self._loop("heartbeat", self._heartbeat.run_once)
        self._trust_loop = self._loop("trust", self._heartbeat.watch)

    def _make_election(self) -> Election:
        world = self._world
        return Election(
            world.store,
            world.settings,
            world.clock,
            world.observers,
            self._session_now,
            name=self._name,
            on_gain=self.wake_scheduler,
            ballot=world.ballot,
        )

    @property
    def session(self) -> int | None:
        return self._session

    @property
    def active(self) -> int:
        """Attempts in execution here."""
        return self._worker.active

    def expected_now(self) -> tuple[float, float] | None:
        """Between which instants the store's clock is now if it has not leapt; None while that is not known."""
        return self._guard.expected()

    async def start(self) -> None:
        """Open a session and start the loops of this instance's roles."""
        await self._open_session()
        if "scheduler" in self._roles:
            self._loops += [self._scheduler_loop, self._recovery_loop, self._janitor_loop, self._auditor_loop]
            if self._election_loop is not None:
                self._loops.append(self._election_loop)
        if "worker" in self._roles:
            self._loops.append(self._worker_loop)
        if self._world.heartbeat_thread:
            self._heartbeat.start()
        else:
            self._loops.append(self._heartbeat_loop)
        self._loops.append(self._trust_loop)
        self._world.store.on_change(self._changed)
        self._tasks = [asyncio.create_task(loop.run(), name=f"duly-{loop.name}") for loop in self._loops]

    async def stop(self, grace: float) -> None:
        """Stop firing and claiming, finish within the grace, release the rest at once, then leave."""
        self._worker.stop_claiming()
        for loop in self._loops:
            if loop is not self._heartbeat_loop and loop is not self._trust_loop:
                loop.stop()
        await self._give_up_the_lead()
        await self._worker.drain(grace)
        # Heartbeats stop last: a handler still winding down must keep its lease.
        self._heartbeat_loop.stop()
        self._trust_loop.stop()
        await self._heartbeat.stop()
        if self._reopening is not None:
            self._reopening.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        session, self._session = self._session, None
        # A claim that was on its way has come back meanwhile. What cannot be written within a lease is lost anyway.
        drained = await self._settler.drain(self._world.settings.heartbeat)
        started = [] if drained else self._settler.abandon()
        if session is not None:
            await self._close_session(session, started)

    async def _give_up_the_lead(self) -> None:
        if self._election is not None:
            try:
                await self._election.stop()
            except StoreError as error:  # the lease runs out by itself
                self._world.observers.loop_failed("election", error)

    def wake_scheduler(self) -> None:
        self._scheduler_loop.wake()

    def many_changed(self) -> None:
        """Many schedules were changed: some may be due, some paused until before the janitor's next round."""
        self._scheduler_loop.wake()
        self._janitor_loop.wake()

    def pause_set(self, ends_at: int) -> None:
        """A pause with an end was set; one that ends after the janitor's next round is seen by that round in time."""
        world = self._world
        if ends_at - world.clock.now() < world.settings.heartbeat * 1000:
            self._janitor_loop.wake()

    def wake_worker(self) -> None:
        self._worker_loop.wake()
        for listener in self._change_listeners:
            listener("runs")

    def cancel_soon(self) -> None:
        """A cancel was asked for: learn of it now instead of at the next heartbeat."""
        for listener in self._change_listeners:
            listener("cancels")
        if self._world.heartbeat_thread:
            self._heartbeat.beat_soon()
        else:
            self._heartbeat_loop.wake()

    def on_ended(self, listener: Callable[[dict[str, RunStatus]], None]) -> None:
        self._ended_listeners.append(listener)

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call a listener with "runs" or "cancels" whenever this instance learns that there may be some."""
        self._change_listeners.append(listener)

    def _loop(self, name: str, run_once: Callable[[], Awaitable[float | None]]) -> Loop:
        world = self._world
        return Loop(name, run_once, clock=world.clock, chance=world.chance, observer=world.observers)

    def _session_now(self) -> int | None:
        return self._session

    def _trusted_session(self) -> int | None:
        """The session, as long as it can be relied on to keep what it gets."""
        return self._session if self._heartbeat.trusted else None

    def _ending(self) -> bool:
        """Whether this instance stops, or the event loop ends and cancels its loops with everything else."""
        return any(task.done() or task.cancelling() for task in self._tasks)

    def _changed(self, topic: str) -> None:
        if topic == "schedules":
            self.wake_scheduler()
        elif topic == "runs":
            self.wake_worker()
        elif topic == "leases" and self._election_loop is not None:
            self._election_loop.wake()
        elif topic == "cancels":
            self.cancel_soon()

    def _ended(self, ended: dict[str, RunStatus]) -> None:
        self._world.observers.runs_ended(ended)
        for listener in self._ended_listeners:
            listener(ended)

    def _written(self, settlements: Sequence[Settlement]) -> None:
        self._worker.freed(settlements)
        definitions = (settlement.claim.definition for settlement in settlements)
        if any(definition is not None and definition.counts_from_completion for definition in definitions):
            self.wake_scheduler()  # that end set the next window, of which nobody else tells

    def _heard(self, session: int, beat: Beat) -> None:
        if beat.alive:
            self._worker.heard(session, beat)
        else:
            self._session_lost(session)

    def _session_lost(self, session: int) -> None:
        """Declared dead: nothing this session holds can be written any more. Begin anew under another number."""
        if session != self._session:
            return
        self._session = None
        self._world.observers.session_lost(session)
        self._worker.lose_all(session)
        self._reopening = asyncio.get_running_loop().create_task(self._reopen())

    async def _reopen(self) -> None:
        """Open a session again, however often it fails: without one this instance would live on and do nothing."""
        world = self._world
        never = asyncio.Event()
        while self._session is None:
            try:
                await self._open_session()
            except Exception as error:  # noqa: BLE001 - around a loop's pass: a failed try is followed by another
                world.observers.loop_failed("session", error)
                await world.clock.wait(never, world.chance.spread(0.1, 1.0))
        self.wake_worker()

    async def _close_session(self, session: int, started: Sequence[str]) -> None:
        try:
            await self._world.store.close_session(session, started=started)
        except StoreError as error:  # the lease runs out by itself
            self._world.observers.loop_failed("session", error)

    async def _open_session(self) -> None:
        world = self._world
        row = InstanceRow(
            session=world.chance.session(),
            name=self._name,
            host=platform.node(),
            pid=os.getpid(),
            roles=self._roles,
            version=self._version,
            tz_version=tz_version(),
            jobs=tuple(sorted(self._registry.names)) if "worker" in self._roles else (),
        )
        asked_at = world.clock.steady()
        await world.store.open_session(row, lease_ms=world.settings.lease_ms)
        self._heartbeat.trust(asked_at)
        self._session = row.session
