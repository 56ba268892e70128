"""Sessions and housekeeping, bound to their programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from duly.core.policy import Retry
from duly.core.rules.firing import FireRules
from duly.core.run import RunStatus
from duly.store.methods import keeping, lanes, sessions, topics
from duly.store.values import NO_RETRIES, Beat, Instance, Lease, Recovered

from .base import Bound


class BoundSessions(Bound):
    """``protocol.Sessions`` on a driver."""

    async def open_session(self, instance: Instance, *, lease_ms: int, remote: bool = False) -> int:
        opening = partial(sessions.open_session, instance=instance, lease_ms=lease_ms)
        if remote:
            return await self._write(opening, engine=True)
        self.driver.presence.enter(instance.session)
        try:
            return await self._write(opening, engine=True)
        except BaseException:
            self.driver.presence.leave(instance.session)
            raise

    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        beat = partial(sessions.beat, session=session, lease_ms=lease_ms, skew_ms=skew_ms)
        return await self._write(beat, engine=True)

    def beat_sync(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        """The heartbeat for a thread of its own: it must go on while the event loop is blocked."""
        return self.driver.write_sync(partial(sessions.beat, session=session, lease_ms=lease_ms, skew_ms=skew_ms))

    async def close_session(self, session: int, *, started: Collection[str] = ()) -> int:
        closing = partial(
            sessions.close_session, session=session, definitions=self._definitions, started=frozenset(started)
        )
        released = await self._write(closing, engine=True)
        self.driver.presence.leave(session)
        if released:
            self.driver.hint("runs")
        return released

    async def take_lost(
        self,
        *,
        limit: int,
        rules: FireRules,
        retries: Mapping[str, Retry] = NO_RETRIES,
        expected: tuple[float, float] | None = None,
    ) -> Recovered:
        gone = self.driver.presence.dead()
        taken = await self._write(
            partial(
                sessions.take_lost,
                limit=limit,
                rules=rules,
                retries=retries,
                definitions=self._definitions,
                gone=gone,
                expected=expected,
            ),
            engine=True,
        )
        if not taken.leapt:
            self.driver.presence.forget(gone)
        if taken.runs:
            self.driver.hint("runs")
        return taken

    async def list_instances(self) -> list[Instance]:
        return await self._read(sessions.list_instances)

    async def take_lease(self, role: str, session: int, *, lease_ms: int, seize: bool = False) -> int | None:
        taking = partial(sessions.take_lease, role=role, session=session, lease_ms=lease_ms, seize=seize)
        return await self._write(taking, engine=True)

    async def read_lease(self, role: str) -> Lease | None:
        return await self._read(partial(sessions.read_lease, role=role), engine=True)

    async def release_lease(self, role: str, session: int) -> None:
        await self._write(partial(sessions.release_lease, role=role, session=session), engine=True)
        self.driver.hint("leases")


class BoundKeeping(Bound):
    """``protocol.Keeping`` on a driver."""

    async def any_open(self) -> bool:
        return await self._read(keeping.any_open)

    async def hold_unknown_jobs(self) -> Sequence[tuple[str, int]]:
        return await self._write(keeping.hold_unknown_jobs)

    async def end_unheard_topics(self, *, patience_ms: int, limit: int) -> Sequence[tuple[str, str]]:
        return await self._write(partial(topics.end_unheard_topics, patience_ms=patience_ms, limit=limit))

    async def purge_surplus(self, status: RunStatus, *, keep: int, limit: int) -> int:
        return await self._write(partial(keeping.purge_surplus, status=status, keep=keep, limit=limit))

    async def purge_history(
        self, *, finished_before: int, limit: int, statuses: Sequence[RunStatus] | None = None
    ) -> int:
        return await self._write(
            partial(keeping.purge_history, finished_before=finished_before, limit=limit, statuses=statuses)
        )

    async def purge_instances(self, *, ended_before: int, limit: int) -> int:
        return await self._write(partial(sessions.purge_instances, ended_before=ended_before, limit=limit))

    async def purge_schedules(self, *, ended_before: int, limit: int) -> int:
        return await self._write(partial(keeping.purge_schedules, ended_before=ended_before, limit=limit))

    async def release_stuck_lanes(self, *, limit: int) -> int:
        return await self._write(partial(keeping.release_stuck_lanes, limit=limit))

    async def resume_expired_pauses(self, *, limit: int) -> int:
        return await self._write(partial(keeping.resume_expired_pauses, limit=limit))

    async def next_pause_end(self) -> int | None:
        return await self._read(keeping.next_pause_end)

    async def purge_keys(self, *, limit: int) -> int:
        return await self._write(partial(lanes.purge_keys, limit=limit))
