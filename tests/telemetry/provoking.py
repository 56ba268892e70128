"""What goes wrong in a fleet, made to go wrong: each function brings one trouble about and scrapes before and after."""

from asyncio import Event
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import psycopg
from prometheus_client.parser import text_string_to_metric_families

from duly import Duly, Every, Fatal, Retry, Settings
from duly.api.health import Health, health_of
from duly.core.errors import StoreError
from duly.runtime.clock import SystemClock
from duly.store.values import LEADER, Instance
from duly.testing import ManualClock
from tests.databases import with_database
from tests.stores import UNREADABLE
from tests.targets.memory import Memory

OTHER_SESSION = 4711
LONG_MS = 10**9


class Provoked(NamedTuple):
    """What /metrics answered before the trouble and in it."""

    before: str
    after: str


class Stage:
    """An app in memory on a manual clock, and what /metrics says of it."""

    def __init__(self, targets: Mapping[str, Any] | None = None, **settings: Any) -> None:
        self.clock = ManualClock()
        self.app = Duly("sqlite:///:memory:", settings=Settings(**settings), clock=self.clock, targets=targets)
        self.health = health_of(self.app, clock=self.clock)
        self.before = ""

    async def scrape(self) -> str:
        return await scrape(self.health)

    async def provoked(self) -> Provoked:
        return Provoked(self.before, await self.scrape())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start the app, and scrape it while all is well."""
        await self.app.start()
        try:
            await self.clock.settle()
            self.before = self.before or await self.scrape()
            yield
        finally:
            await self.app.stop(grace=0)

    def execute(self, statement: str) -> list[Any]:
        """Do something behind the store's back."""
        connection = self.app._store.driver._inline._connection  # type: ignore[attr-defined]
        return list(connection.execute(statement))

    async def let_another_lead(self) -> None:
        """Another instance takes the lead and does nothing with it: it hangs, and keeps its lease."""
        other = Instance(
            session=OTHER_SESSION, name="frozen", host="h", pid=1, roles=("scheduler",), version="1", tz_version="1"
        )
        await self.app._store.open_session(other, lease_ms=LONG_MS, remote=True)
        await self.app._store.take_lease(LEADER, OTHER_SESSION, lease_ms=LONG_MS, seize=True)


async def scrape(health: Health) -> str:
    health._counted_at = float("-inf")
    return (await health.answers["/metrics"]("", "")).body.decode()


async def a_leader_that_hangs() -> Provoked:
    stage = Stage(election="database", audit_late=20)
    await stage.app.open()
    await stage.let_another_lead()
    async with stage.running():
        await stage.app.schedules.create("tick", Every(minutes=1), job="x")
        await stage.clock.advance(seconds=125)
        return await stage.provoked()


async def a_long_outage() -> Provoked:
    return await _outage(Every(hours=1), minutes=65)


async def an_outage_of_many_windows() -> Provoked:
    return await _outage(Every(minutes=1), minutes=10)


async def _outage(timing: Every, *, minutes: int) -> Provoked:
    stage = Stage()
    await stage.app.open()
    await stage.app.schedules.create("tick", timing, job="x")
    stage.before = await stage.scrape()
    stage.clock.move(minutes=minutes)
    async with stage.running():
        await stage.clock.advance(seconds=2)
        return await stage.provoked()


async def a_window_without_a_row() -> Provoked:
    return await _spoilt_history("DELETE FROM duly_history WHERE id = '{id}'")


async def a_window_with_two_rows() -> Provoked:
    return await _spoilt_history(
        "INSERT INTO duly_history (id, {columns}) SELECT '{other_id}', {columns} FROM duly_history WHERE id = '{id}'"
    )


async def _spoilt_history(statement: str) -> Provoked:
    stage = Stage()

    @stage.app.job("work")
    async def work() -> None: ...

    async with stage.running():
        await stage.app.schedules.create("tick", Every(seconds=20), job="work")
        await stage.clock.advance(seconds=58)
        run = (await stage.app.runs.list(schedule="tick")).items[-1]
        names = stage.execute("SELECT name FROM pragma_table_info('duly_history') WHERE name <> 'id'")
        columns = ", ".join(name for (name,) in names)
        stage.execute(statement.format(id=run.id, other_id=run.id[:-4] + "beef", columns=columns))
        await stage.clock.advance(seconds=125)
        return await stage.provoked()


async def jobs_that_fail() -> Provoked:
    stage = Stage()

    @stage.app.job("send")
    async def send(n: int) -> None:
        if n == 0:
            raise Fatal("no such address")

    async with stage.running():
        await stage.app.runs.enqueue_many("send", [{"n": n} for n in range(8)])
        await stage.clock.advance(seconds=2)
        return await stage.provoked()


async def a_lead_that_changes_hands() -> Provoked:
    stage = Stage(election="database")
    async with stage.running():
        for _ in range(7):
            await stage.let_another_lead()
            await stage.clock.advance(seconds=6)
            await stage.app._store.release_lease(LEADER, OTHER_SESSION)
            await stage.clock.advance(seconds=6)
        await stage.let_another_lead()
        await stage.clock.advance(seconds=15)
        return await stage.provoked()


async def a_job_that_takes_nearly_all_its_time() -> Provoked:
    stage = Stage()

    @stage.app.job("slow", timeout=10)
    async def slow() -> None:
        await stage.clock.wait(Event(), 9.5)

    async with stage.running():
        await stage.app.enqueue("slow")
        await stage.clock.advance(seconds=11)
        return await stage.provoked()


async def too_few_workers() -> Provoked:
    stage = Stage(concurrency=1)

    @stage.app.job("long")
    async def long() -> None:
        await stage.clock.wait(Event(), 3000)

    async with stage.running():
        await stage.app.runs.enqueue_many("long", [{} for _ in range(600)])
        await stage.clock.advance(seconds=2)
        return await stage.provoked()


async def a_job_that_nobody_has() -> Provoked:
    stage = Stage()
    async with stage.running():
        await stage.app.enqueue("nobody-has-this")
        await stage.clock.advance(seconds=30)
        return await stage.provoked()


async def a_schedule_that_cannot_be_read() -> Provoked:
    stage = Stage()
    await stage.app.open()
    schedule = await stage.app.schedules.create("tick", Every(seconds=10), job="x")
    stage.execute(f"UPDATE duly_revisions SET body = '{UNREADABLE}' WHERE schedule_id = '{schedule.id}'")
    stage.app._store._definitions.forget()
    async with stage.running():
        await stage.clock.advance(seconds=11)
        return await stage.provoked()


async def deliveries_that_nobody_takes() -> Provoked:
    stage = Stage()

    @stage.app.job("deliver")
    async def deliver() -> None: ...

    async with stage.running():
        await stage.app.queues.pause("target:shop")
        await stage.app.enqueue("deliver", queue="target:shop")
        await stage.clock.advance(seconds=310)
        return await stage.provoked()


async def a_target_that_is_away() -> Provoked:
    shop = Memory()
    shop.up = False
    stage = Stage(targets={"shop": shop.make()})
    async with stage.running():
        retry = Retry(max_attempts=50, backoff="fixed", delay=1, jitter=0)
        await stage.app.schedules.create("order", Every(days=1), target={"kind": "queue", "name": "shop"}, retry=retry)
        await stage.app.schedules.trigger("order")
        await stage.clock.advance(seconds=10)
        return await stage.provoked()


async def a_switch_that_is_off() -> Provoked:
    stage = Stage()
    async with stage.running():
        await stage.app.firing.pause(reason="a fire")
        await stage.clock.advance(seconds=1)
        return await stage.provoked()


async def a_database_that_is_gone(url: str) -> Provoked:
    """PostgreSQL lets nobody into the database any more, and throws out who was in."""
    app = Duly(url)
    health = health_of(app)
    await app.open()
    before = await scrape(health)
    name = url.rpartition("/")[2]
    with psycopg.connect(with_database(url, "postgres"), autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            for _ in range(10):
                try:
                    await app.schedules.get("nothing")
                except StoreError:
                    continue
            return Provoked(before, await scrape(health))
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
            await app.close()


class _Slow(SystemClock):
    """A machine whose clock is five seconds behind."""

    def now(self) -> int:
        return super().now() - 5000


async def a_machine_with_a_wrong_clock(url: str) -> Provoked:
    clock = _Slow()
    app = Duly(url, settings=Settings(heartbeat=0.1), clock=clock)
    health = health_of(app)
    before = await scrape(health)
    async with app:
        for _ in range(1200):
            after = await scrape(health)
            if value_of(after, "duly_clock_offset_seconds") > 4:
                break
            await clock.wait(Event(), 0.05)
    return Provoked(before, after)


def value_of(text: str, name: str, **labels: str) -> float:
    """One sample of a scrape."""
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return float(sample.value)
    raise AssertionError(f"{name}{labels} was not scraped")


class Signs(NamedTuple):
    """What a trouble is known by: the alerts that it raises, and a number that grows."""

    alerts: tuple[str, ...]
    metric: str
    labels: Mapping[str, str] = MappingProxyType({})


TROUBLES: dict[Callable[..., Awaitable[Provoked]], Signs] = {
    a_leader_that_hangs: Signs(("DulyScheduleNotFired", "DulyEvaluationLag"), "duly_due_oldest_seconds"),
    a_long_outage: Signs(("DulyEvaluationLag",), "duly_schedule_lag_seconds_sum"),
    an_outage_of_many_windows: Signs(("DulyWindowsMissed",), "duly_skipped_windows_total", {"reason": "missed"}),
    a_window_with_two_rows: Signs(("DulyDoubleFire",), "duly_audit_findings_total", {"fault": "doubled"}),
    a_window_without_a_row: Signs(("DulyAuditFinding",), "duly_audit_findings_total", {"fault": "missed"}),
    jobs_that_fail: Signs(("DulyRunsFailing",), "duly_runs_total", {"outcome": "failed"}),
    a_lead_that_changes_hands: Signs(("DulyLeaderFlapping", "DulyNoLeader"), "duly_leader_changes_total"),
    a_job_that_takes_nearly_all_its_time: Signs(("DulyRunsNearTimeout",), "duly_run_timeout_ratio_sum"),
    too_few_workers: Signs(("DulyQueueDeep",), "duly_queue_depth", {"state": "ready"}),
    a_job_that_nobody_has: Signs(("DulyJobUnknown",), "duly_queue_depth", {"state": "unknown_job"}),
    a_schedule_that_cannot_be_read: Signs(("DulyScheduleSetAside",), "duly_schedules_set_aside_total"),
    deliveries_that_nobody_takes: Signs(("DulyOutboxOld",), "duly_outbox_oldest_seconds"),
    a_target_that_is_away: Signs(("DulyTargetAway",), "duly_target_away", {"target": "shop"}),
    a_switch_that_is_off: Signs(("DulyFiringPaused",), "duly_firing_paused"),
    a_database_that_is_gone: Signs(("DulyStoreErrors",), "duly_store_errors_total", {"kind": "unavailable"}),
    a_machine_with_a_wrong_clock: Signs(("DulyClockSkewed",), "duly_clock_offset_seconds"),
}
