"""The store on SQL: every method of the protocol, bound to its program and run by the dialect's driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duly.core.errors import ConfigurationError, StoreError
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.rules.suspects import ONE, Room
from duly.core.run import Run
from duly.core.schedule import Schedule

from .driver import Driver
from .methods import changing, claiming, firing, keeping, reading, runs, schedules, sessions, settling
from .methods.definitions import Definitions
from .statements import Program, T, Transaction
from .values import (
    Beat,
    Claimed,
    Fired,
    Grab,
    Instance,
    Load,
    NewRequest,
    NewSchedule,
    Page,
    Put,
    Recovered,
    RunFilter,
    ScheduleFilter,
    Settled,
    Settlement,
    Triggered,
)


class SqlStore:
    """A ``Store`` on any driver."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.name = driver.name
        self.fires_at_once = driver.fires_at_once
        self._definitions = Definitions()
        self._advice: str | None = None
        self._closed: str | None = None

    def closed_until_open(self, advice: str) -> None:
        """Refuse calls before ``open`` and after ``close``, with this advice to whoever makes them."""
        self._advice = self._closed = advice

    async def open(self) -> None:
        await self.driver.open()
        self._closed = None

    async def close(self) -> None:
        self._closed = self._advice
        await self.driver.close()

    async def now(self) -> int:
        return await self._read(_now)

    def on_change(self, listener: Callable[[str], None]) -> None:
        self.driver.on_hint(listener)

    async def _read(self, transaction: Transaction[T]) -> T:
        if self._closed is not None:
            raise ConfigurationError(self._closed)
        return await self.driver.read(transaction)

    async def _write(self, transaction: Transaction[T]) -> T:
        if self._closed is not None:
            raise ConfigurationError(self._closed)
        try:
            return await self.driver.write(transaction)
        except StoreError:
            self._definitions.forget()
            raise

    # Schedules

    async def put_schedules(self, new: Sequence[NewSchedule], *, connection: Any = None) -> list[Put]:
        transaction = partial(schedules.put_schedules, new=new)
        if connection is not None:
            return await self.driver.write_on(connection, transaction)
        puts = await self._write(transaction)
        for put in puts:
            if isinstance(put, Schedule):  # what was only just made will often fire soon
                self._definitions.keep(put.id, put.revision, put.definition)
        self.driver.hint("schedules")
        return puts

    async def change_schedule(
        self,
        ref: str,
        change: Callable[[Schedule, int], Change | None],
        *,
        tenant: str | None = None,
        rules: FireRules = FireRules(),  # noqa: B008 - a frozen value
    ) -> Schedule | None:
        changed = await self._write(
            partial(
                changing.change_schedule,
                ref=ref,
                change=change,
                tenant=tenant,
                rules=rules,
                definitions=self._definitions,
            )
        )
        self.driver.hint("schedules")
        return changed

    async def get_schedule(self, ref: str, *, tenant: str | None = None) -> Schedule | None:
        return await self._read(lambda now: schedules.find_schedule(ref, tenant))

    async def declared_schedules(self, app: str) -> list[Schedule]:
        return await self._read(partial(reading.declared_schedules, app=app))

    async def list_schedules(self, where: ScheduleFilter, *, limit: int, after: str | None = None) -> Page[Schedule]:
        return await self._read(partial(reading.list_schedules, where=where, limit=limit, after=after))

    async def count_load(self, *, limit: int = 10_000) -> Load:
        """How much there is to do now, for whoever watches; each count stops at ``limit``."""
        return await self._read(partial(reading.count_load, limit=limit))

    async def schema_version(self) -> int:
        """The schema's number, read now: whoever gets an answer has reached the store."""
        return await self._read(reading.schema_version)

    # Firing

    async def fire_due(
        self, *, limit: int, rules: FireRules, grab: Grab | None = None, expected: tuple[float, float] | None = None
    ) -> Fired:
        fired = await self._write(
            partial(
                firing.fire_due,
                limit=limit,
                rules=rules,
                definitions=self._definitions,
                grab=grab,
                expected=expected,
            )
        )
        if fired.runs > len(fired.claims):
            self.driver.hint("runs")
        return fired

    async def set_aside_next(self, error: str) -> None:
        await self._write(partial(firing.set_aside_next, error=error))

    # Runs

    async def enqueue(self, requests: Sequence[NewRequest], *, connection: Any = None) -> list[Run]:
        transaction = partial(runs.enqueue, requests=requests)
        if connection is not None:
            return await self.driver.write_on(connection, transaction)
        made = await self._write(transaction)
        self.driver.hint("runs")
        return made

    async def trigger(
        self, ref: str, *, run_id: str, payload: str | None, force: bool, rules: FireRules, tenant: str | None = None
    ) -> Triggered | None:
        triggered = await self._write(
            partial(runs.trigger, ref=ref, run_id=run_id, payload=payload, force=force, rules=rules, tenant=tenant)
        )
        self.driver.hint("runs")
        return triggered

    async def request_cancel(self, run_id: str) -> Run | None:
        run = await self._write(partial(runs.request_cancel, run_id=run_id))
        self.driver.hint("cancels")
        return run

    async def get_run(self, run_id: str) -> Run | None:
        return await self._read(lambda now: runs.find_run(run_id))

    async def list_runs(self, where: RunFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        return await self._read(partial(runs.list_runs, where=where, limit=limit, after=after))

    # Claiming

    async def claim_runs(self, session: int, *, jobs: Sequence[str], limit: int, suspects: Room = ONE) -> Claimed:
        return await self._write(
            partial(
                claiming.claim_runs,
                session=session,
                jobs=jobs,
                limit=limit,
                suspects=suspects,
                definitions=self._definitions,
            )
        )

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        settled = await self._write(partial(settling.settle, settlements=settlements))
        if settled.released:
            self.driver.hint("runs")
        return settled

    # Sessions

    async def open_session(self, instance: Instance, *, lease_ms: int) -> int:
        return await self._write(partial(sessions.open_session, instance=instance, lease_ms=lease_ms))

    async def beat(self, session: int, *, lease_ms: int) -> Beat:
        return await self._write(partial(sessions.beat, session=session, lease_ms=lease_ms))

    def beat_sync(self, session: int, *, lease_ms: int) -> Beat:
        """The heartbeat for a thread of its own: it must go on while the event loop is blocked."""
        return self.driver.write_sync(partial(sessions.beat, session=session, lease_ms=lease_ms))

    async def close_session(self, session: int) -> int:
        return await self._write(partial(sessions.close_session, session=session, definitions=self._definitions))

    async def take_lost(self, *, limit: int, rules: FireRules) -> Recovered:
        return await self._write(partial(sessions.take_lost, limit=limit, rules=rules, definitions=self._definitions))

    async def list_instances(self) -> list[Instance]:
        return await self._read(sessions.list_instances)

    async def take_lease(self, role: str, session: int, *, lease_ms: int) -> int | None:
        return await self._write(partial(sessions.take_lease, role=role, session=session, lease_ms=lease_ms))

    # Keeping

    async def hold_unknown_jobs(self) -> Sequence[tuple[str, int]]:
        return await self._write(keeping.hold_unknown_jobs)

    async def purge_history(self, *, finished_before: int, limit: int) -> int:
        return await self._write(partial(keeping.purge_history, finished_before=finished_before, limit=limit))

    async def purge_schedules(self, *, ended_before: int, limit: int) -> int:
        return await self._write(partial(keeping.purge_schedules, ended_before=ended_before, limit=limit))

    async def release_stuck_lanes(self, *, limit: int) -> int:
        return await self._write(partial(keeping.release_stuck_lanes, limit=limit))

    async def resume_expired_pauses(self, *, limit: int) -> int:
        return await self._write(partial(keeping.resume_expired_pauses, limit=limit, definitions=self._definitions))


def _now(now: int) -> Program[int]:
    yield from ()
    return now
