"""Short words for what the contract does with a store, so that its tests read as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import count
from typing import Any

from duly.core.errors import DulyError
from duly.core.ids import uuid7
from duly.core.policy import Backoff, Retry
from duly.core.rules import editing
from duly.core.rules.editing import Change
from duly.core.rules.firing import FireRules
from duly.core.rules.suspects import ONE, Room
from duly.core.run import Claim, Completed, Failed, Outcome, Run
from duly.core.schedule import Definition, Facts, Schedule, Target, TargetKind
from duly.core.timing import Every, Timing
from duly.store.protocol import Store
from duly.store.values import (
    Beat,
    Fired,
    Grab,
    Instance,
    NewRequest,
    NewSchedule,
    RunFilter,
    Settled,
    Settlement,
    Triggered,
)
from duly.testing.clock import ManualClock

EVERY_MINUTE = Every(minutes=1)
JOB = "work"
LEASE_MS = 15_000
PLAIN_RETRY = Retry(max_attempts=3, backoff=Backoff.FIXED, delay=5, jitter=0)

_FACTS = {field.name for field in fields(Facts)}


class Trial:
    """One store and its clock. Ids are counted, so that a failure reads the same every time."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.rules = FireRules()
        self._count = count(1)

    def id(self) -> str:
        return uuid7(self.clock.now(), next(self._count).to_bytes(10, "big"))

    def new(
        self, key: str = "report", timing: Timing = EVERY_MINUTE, *, id: str | None = None, **words: Any
    ) -> NewSchedule:
        """A schedule to be put; ``words`` are those of its facts and of its definition."""
        facts = {name: words.pop(name) for name in list(words) if name in _FACTS}
        target = words.pop("target", None) or Target(TargetKind.JOB, words.pop("job", JOB))
        return NewSchedule(
            facts=Facts(**{"id": id or self.id(), "key": key, "name": key, **facts}),
            definition=Definition(key=key, timing=timing, target=target, **words),
        )

    async def put(self, key: str = "report", timing: Timing = EVERY_MINUTE, **words: Any) -> Schedule:
        """Put one schedule that is not refused."""
        (answer,) = await self.store.put_schedules([self.new(key, timing, **words)])
        assert isinstance(answer, Schedule), answer
        return answer

    async def put_in_vain(self, key: str = "report", timing: Timing = EVERY_MINUTE, **words: Any) -> DulyError:
        """Put one schedule that is refused."""
        (answer,) = await self.store.put_schedules([self.new(key, timing, **words)])
        assert isinstance(answer, DulyError), answer
        return answer

    async def change(self, schedule: Schedule, rule: Callable[..., Change], **words: Any) -> Schedule:
        changed = await self.store.change_schedule(schedule.id, lambda found, now: rule(found, now, by="ann", **words))
        assert changed is not None
        return changed

    async def pause(self, schedule: Schedule, until: int | None = None) -> Schedule:
        return await self.change(schedule, editing.pause, reason="on leave", until=until)

    async def resume(self, schedule: Schedule, **words: Any) -> Schedule:
        return await self.change(schedule, editing.resume, **words)

    async def cancel(self, schedule: Schedule) -> Schedule:
        return await self.change(schedule, editing.cancel)

    async def delete(self, schedule: Schedule, **words: Any) -> Schedule:
        return await self.change(schedule, deleted, **words)

    async def edit(self, schedule: Schedule, **words: Any) -> Schedule:
        return await self.change(schedule, editing.edit, **words)

    async def schedule(self, ref: str | Schedule) -> Schedule:
        found = await self.store.get_schedule(ref if isinstance(ref, str) else ref.id)
        assert found is not None
        return found

    async def fire(self, limit: int = 500, grab: Grab | None = None) -> Fired:
        return await self.store.fire_due(limit=limit, rules=self.rules, grab=grab)

    async def trigger(
        self, schedule: Schedule, *, run_id: str | None = None, payload: str | None = None, force: bool = False
    ) -> Triggered:
        triggered = await self.store.trigger(
            schedule.id, run_id=run_id or self.id(), payload=payload, force=force, rules=self.rules
        )
        assert triggered is not None
        return triggered

    def request(self, job: str = JOB, *, id: str | None = None, payload: str = "{}", **words: Any) -> NewRequest:
        asked: dict[str, Any] = {"queue": "default", "max_attempts": 3} | words
        return NewRequest(id=id or self.id(), job=job, payload=payload, **asked)

    async def enqueue(self, job: str = JOB, **words: Any) -> Run:
        (run,) = await self.store.enqueue([self.request(job, **words)])
        return run

    async def run(self, run: str | Run | Claim) -> Run:
        found = await self.store.get_run(run if isinstance(run, str) else run.id)
        assert found is not None
        return found

    async def runs(self, schedule: Schedule) -> list[Run]:
        """All runs and skipped windows of a schedule, oldest first."""
        page = await self.store.list_runs(RunFilter(schedule_id=schedule.id), limit=200)
        assert page.next_cursor is None
        return page.items[::-1]

    async def statuses(self, schedule: Schedule) -> list[str]:
        return [run.status.value for run in await self.runs(schedule)]

    async def worker(
        self, *jobs: str, name: str = "worker", store: Store | None = None, session: int | None = None
    ) -> Worker:
        """A live session that knows the jobs, ``work`` if none is named."""
        worker = Worker(store or self.store, session or next(self._count), name, jobs or (JOB,))
        await worker.open()
        return worker

    async def take_lost(self) -> list[str]:
        recovered = await self.store.take_lost(limit=500, rules=self.rules)
        return list(recovered.runs)


def deleted(schedule: Schedule, now: int, by: str | None, cancel_running: bool = False) -> Change:
    """The end of a schedule, and from when on it is not found any more."""
    change = editing.delete(schedule, now, by, cancel_running)
    return replace(change, facts=replace(change.facts, deleted_at=now))


class Worker:
    """A session that claims and settles."""

    def __init__(self, store: Store, session: int, name: str, jobs: Sequence[str]) -> None:
        self.store = store
        self.session = session
        self.jobs = tuple(jobs)
        self.instance = Instance(
            session=session,
            name=name,
            host="here",
            pid=1,
            roles=("worker",),
            version="0",
            tz_version="2026a",
            jobs=self.jobs,
        )

    async def open(self) -> int:
        return await self.store.open_session(self.instance, lease_ms=LEASE_MS)

    async def claim(self, limit: int = 100, suspects: Room = ONE) -> list[Claim]:
        claimed = await self.store.claim_runs(self.session, jobs=self.jobs, limit=limit, suspects=suspects)
        return list(claimed.claims)

    async def claim_one(self) -> Claim:
        """Claim the one run that is there to be claimed."""
        (claim,) = await self.claim()
        return claim

    def grab(self, places: int = 100) -> Grab:
        """What a fire beside this worker is given."""
        return Grab(self.session, frozenset(self.jobs), places)

    def ending(self, claim: Claim, outcome: Outcome, retry: Retry = PLAIN_RETRY) -> Settlement:
        return Settlement(claim, self.session, outcome, retry)

    async def settle(self, claim: Claim, outcome: Outcome, retry: Retry = PLAIN_RETRY) -> Settled:
        return await self.store.settle([self.ending(claim, outcome, retry)])

    async def complete(self, claim: Claim, result: str | None = None) -> Settled:
        return await self.settle(claim, Completed(result))

    async def fail(self, claim: Claim, error: str = "no luck", **words: Any) -> Settled:
        return await self.settle(claim, Failed(error, **words))

    async def beat(self) -> Beat:
        return await self.store.beat(self.session, lease_ms=LEASE_MS)

    async def close(self) -> int:
        return await self.store.close_session(self.session)
