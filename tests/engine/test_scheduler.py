"""The scheduler loop: it sleeps to the exact instant, fires each window once, and one bad schedule stops no other."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from duly import CatchUp, Cron, Every, Once
from duly.config import Settings
from duly.core.errors import OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.instants import to_datetime
from duly.core.rules import editing
from duly.core.run import RunStatus
from duly.engine.jumps import JumpGuard
from duly.engine.restores import RestoreWatch
from duly.engine.scheduler import CONTENDED_REST, LONGEST_CONTENDED_REST, Scheduler
from duly.runtime.events import Observer
from duly.store.methods import firing
from duly.store.values import Fired, Tried
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.engine.lab import Lab, Recorder
from tests.store_choice import postgres_too

pytestmark = postgres_too("several instances compete")

MINUTE = timedelta(minutes=1)


def started(recorder: Recorder) -> list[str]:
    return [claim.window_key for (claim,) in recorder.all("attempt_started")]


@pytest.fixture
def lab(lab: Lab) -> Lab:
    @lab.job("work")
    async def work() -> None: ...

    return lab


@rule("S1.5")
async def test_a_window_fires_at_its_very_millisecond_without_waiting_for_a_poll(lab: Lab) -> None:
    lab.settings = Settings(poll=60)
    await lab.start()
    start = lab.clock.now()
    schedule = await lab.create("k", Once(to_datetime(start + 12_345)))
    await lab.clock.advance(milliseconds=12_344)
    assert await lab.runs() == []
    await lab.clock.advance(milliseconds=1)
    (run,) = await lab.runs(schedule)
    assert run.fired_at == run.scheduled_at == to_datetime(start + 12_345)
    assert run.status is RunStatus.COMPLETED
    assert run.started_at == run.fired_at


class Coarse(ManualClock):
    """Another clock, for which waits may end too late."""

    slack = 0.003

    def __init__(self, base: ManualClock) -> None:
        self.base = base

    def now(self) -> int:
        return self.base.now()

    def steady(self) -> float:
        return self.base.steady()

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        return await self.base.wait(event, timeout)


def note_fires(lab: Lab) -> list[tuple[int, int | None]]:
    """When the store is asked to fire from now on, and for which instant it is to wait."""
    asked: list[tuple[int, int | None]] = []
    original = lab.plain.fire_due

    async def fire_due(*, due: int | None = None, **options: Any) -> Fired:
        asked.append((lab.clock.now(), due))
        return await original(due=due, **options)

    lab.plain.fire_due = fire_due  # type: ignore[method-assign]
    return asked


async def test_where_waits_end_late_the_store_is_asked_early_and_told_what_to_wait_for(lab: Lab) -> None:
    lab.settings = Settings(poll=60)
    start = lab.clock.now()
    schedule = await lab.create("k", Once(to_datetime(start + 12_345)))
    asked = note_fires(lab)
    await lab.start(clock=Coarse(lab.clock))
    await lab.clock.advance(seconds=13)
    assert asked[:2] == [(start, None), (start + 12_342, start + 12_345)]
    (run,) = await lab.runs(schedule)
    assert run.fired_at == to_datetime(start + 12_345), "a store that does not wait is asked again, and fires in time"


async def test_a_series_of_windows_is_asked_for_so_much_early_each_time_and_never_in_vain() -> None:
    """The wait inside the store is not taken for time that has passed since its clock was read."""
    clock, late = Coarse(ManualClock()), 1
    first = clock.now() + 1000
    early: list[int] = []
    fired: list[int] = []

    class Waiting:
        """A store that waits for what is due in a moment, as the real ones do, and has a window every 100 ms."""

        fires_at_once = 1

        async def fire_due(self, *, due: int | None = None, **options: Any) -> Fired:
            early.append(0 if due is None else due - clock.now())
            if due is not None and 0 < due - clock.now() <= 6:
                clock.base.move(milliseconds=due - clock.now())
            window = first + 100 * len(fired)
            if window <= clock.now():
                fired.append(clock.now() - window)
                window += 100
            clock.base.move(milliseconds=2)
            return Fired(now=clock.now() - 2, next_fire_at=window)

    store: Any = Waiting()
    guard = JumpGuard(clock, Observer(), limit=5, hold=15)
    scheduler = Scheduler(
        store,
        Settings(),
        clock,
        Observer(),
        guard,
        RestoreWatch(store, Observer()),
        None,
        on_runs=lambda: None,
        on_cancels=lambda: None,
    )
    for _ in range(51):
        rest = await scheduler.run_once()
        clock.base.move(milliseconds=round(rest * 1000) + late)
    assert fired == [0] * 50
    assert set(early[1:]) == {2}


async def test_windows_that_follow_one_another_closely_are_not_waited_for_one_by_one(lab: Lab) -> None:
    lab.settings = Settings(poll=60)
    start = lab.clock.now()
    for number in range(5):
        await lab.create(f"k{number}", Once(to_datetime(start + 1000 + 8 * number)))
    asked = note_fires(lab)
    await lab.start(clock=Coarse(lab.clock))
    await lab.clock.advance(seconds=2)
    assert [due for _, due in asked if due is not None] == [start + 1000], "the first of them was far away"
    assert len(await lab.runs()) == 5


@rule("S3.40", "S4.45")
async def test_an_idle_scheduler_asks_once_per_poll(lab: Lab) -> None:
    await lab.start()
    before = lab.store.calls["fire_due"]
    await lab.clock.advance(minutes=1)
    assert lab.store.calls["fire_due"] - before == 60


async def test_a_new_schedule_wakes_the_scheduler_and_a_silent_one_is_found_by_the_poll(lab: Lab) -> None:
    lab.settings = Settings(poll=30)
    await lab.start()
    await lab.clock.advance(seconds=10)
    now = lab.clock.now()
    told = await lab.create("told", Once(to_datetime(now + 5000)))
    untold = await lab.create("untold", Once(to_datetime(now + 6000)), wake=False)
    await lab.clock.advance(seconds=5)
    assert [run.fired_at for run in await lab.runs(told)] == [to_datetime(now + 5000)]
    await lab.clock.advance(seconds=1)
    assert [run.fired_at for run in await lab.runs(untold)] == [to_datetime(now + 6000)], "learned on the way"
    silent = await lab.create("silent", Once(to_datetime(now + 7000)), wake=False)
    await lab.clock.advance(seconds=31)
    (run,) = await lab.runs(silent)
    assert run.fired_at - run.scheduled_at <= timedelta(seconds=30), "polling is the guarantee"


@rule("S1.1", "S1.23")
@pytest.mark.timeout(300)
async def test_thirty_days_through_the_real_engine_fire_each_window_once_through_dst(lab: Lab) -> None:
    """The oracle is another cron implementation; New York springs forward on 2026-03-08, Lord Howe back on 04-05."""
    # A day at a time passes in a few hundred steps; a poll of four hours keeps the idle ones few.
    lab.settings = Settings(poll=14_400, lease=43_200, heartbeat=14_400, retention=0)
    lab.clock.move_to("2026-03-01T00:00:00Z")
    specs = {
        "gap": ("30 2 * * *", "America/New_York"),
        "noon": ("0 12 * * *", "America/New_York"),
        "often": ("15 */4 * * *", "Europe/London"),
        "half": ("45 1 * * *", "Australia/Lord_Howe"),
        "month": ("0 0 1 * *", "UTC"),
    }
    start, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 6, tzinfo=UTC)
    schedules = {key: await lab.create(key, Cron(expr, zone)) for key, (expr, zone) in specs.items()}
    three_days = await lab.create("3d", Every(days=3))
    await lab.start()
    while lab.clock.now() < end.timestamp() * 1000:
        await lab.clock.advance(days=1)
    for key, (expr, zone) in specs.items():
        fired = [run.window_at for run in await lab.runs(schedules[key])]
        assert fired == _expected(expr, zone, start, end), key
    gap = [run.window_at for run in await lab.runs(schedules["gap"])]
    assert datetime(2026, 3, 8, 7, tzinfo=UTC) in gap, "B8: 02:30 does not exist, 03:00 EDT is next"
    every = [run.window_at for run in await lab.runs(three_days)]
    step = 3 * 86_400
    first = (int(start.timestamp()) // step + 1) * step
    assert every == [datetime.fromtimestamp(at, UTC) for at in range(first, int(end.timestamp()) + 1, step)]
    statuses = {run.status for run in await lab.runs()}
    assert statuses == {RunStatus.COMPLETED}
    assert all(run.fired_at == run.window_at for run in await lab.runs()), "each at its own instant"


def _expected(expr: str, zone: str, start: datetime, end: datetime) -> list[datetime]:
    found: list[datetime] = []
    for local in CronSim(expr, start.astimezone(ZoneInfo(zone))):
        if local.astimezone(UTC) > end:
            return found
        found.append(local.astimezone(UTC))
    return found


@rule("S1.6", "S0.11", "S0.15", "S0.22", "S4.31", "A2")
async def test_a2_fifty_ticks_inside_one_window_are_one_run_and_the_next_window_is_a_second(lab: Lab) -> None:
    lab.settings = Settings(poll=0.1)
    await lab.start()
    schedule = await lab.create("k", Every(seconds=5))
    ticks = lab.store.calls["fire_due"]
    await lab.clock.advance(seconds=5)
    assert len(await lab.runs(schedule)) == 1
    await lab.clock.advance(seconds=4.9)
    assert lab.store.calls["fire_due"] - ticks >= 50
    assert len(await lab.runs(schedule)) == 1
    await lab.clock.advance(seconds=0.1)
    assert len(await lab.runs(schedule)) == 2


@rule("S0.26", "A1")
async def test_a1_two_instances_on_one_due_window_make_one_run_without_noise(lab: Lab) -> None:
    one, two = Recorder(), Recorder()
    await lab.start(recorder=one)
    await lab.start(recorder=two)
    schedule = await lab.create("k", Every(seconds=10))
    await lab.clock.advance(seconds=100)
    assert len(await lab.runs(schedule)) == 10
    assert len(started(one)) + len(started(two)) == 10
    assert set(started(one)).isdisjoint(started(two))
    assert one.count("loop_failed") == two.count("loop_failed") == 0


async def test_a_run_that_no_place_was_kept_for_is_claimed_without_waiting_for_a_poll(lab: Lab) -> None:
    """Only a claim knows whether a limited queue has room, so what fires into one is not born in a worker's hands."""
    lab.settings = replace(lab.settings, lease=150, heartbeat=50, poll=30)
    await lab.plain.change_queue("mail", lambda queue, now: replace(queue, max_running=5))
    schedule = await lab.create("k", Every(minutes=1), queue="mail")
    await lab.clock.advance(seconds=10)
    await lab.start()
    await lab.clock.advance(seconds=50)
    (run,) = await lab.runs(schedule)
    assert (run.status, run.started_at) == (RunStatus.COMPLETED, run.scheduled_at)


async def test_the_end_of_a_run_lets_the_next_of_its_schedule_start_without_waiting_for_a_poll(lab: Lab) -> None:
    starts: list[int] = []

    @lab.job("long")
    async def long() -> None:
        starts.append(lab.clock.now())
        await lab.nap(90)

    lab.settings = replace(lab.settings, lease=150, heartbeat=50, poll=30)
    await lab.create("k", Every(minutes=1), job="long", overlap="queue")
    await lab.start()
    await lab.clock.advance(seconds=60 + 91)
    assert [at - starts[0] for at in starts] == [0, 90_000]


@rule("S3.41", "S0.12", "A11")
async def test_a11_an_instance_without_the_scheduler_role_never_fires(lab: Lab) -> None:
    await lab.start(roles=("worker",))
    await lab.start(roles=("api",))
    schedule = await lab.create("k", Every(seconds=10))
    await lab.clock.advance(minutes=5)
    assert await lab.runs(schedule) == []
    assert lab.store.calls["fire_due"] == 0
    await lab.start(roles=("scheduler",))
    await lab.clock.advance(seconds=20)
    assert await lab.runs(schedule) != []


@rule("S3.42")
async def test_a_full_batch_is_followed_by_the_next_at_once(lab: Lab) -> None:
    lab.settings = Settings(poll=60, fire_batch=10, concurrency=100)
    await lab.start()
    at = Once(to_datetime(lab.clock.now() + 30_000))
    for number in range(35):
        await lab.create(f"k{number}", at)
    await lab.clock.advance(seconds=30)
    runs = await lab.runs()
    assert len(runs) == 35
    assert {run.fired_at for run in runs} == {to_datetime(at.at_ms)}


async def test_of_fires_side_by_side_the_failure_of_one_does_not_hide_what_the_other_did(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.store, "fires_at_once", 2)
    lab.settings = Settings(poll=60, fire_batch=5, concurrency=100)
    await lab.start()
    at = Once(to_datetime(lab.clock.now() + 30_000))
    for number in range(20):
        await lab.create(f"k{number}", at)
    # The first batch goes alone. It is full, so the next two go side by side, and the second of them is refused.
    refused = lab.store.calls["fire_due"] + 3
    lab.store.refuse("fire_due", lambda **_: lab.store.calls["fire_due"] == refused)
    await lab.clock.advance(seconds=30)
    assert len(await lab.runs()) == 20
    assert sum(runs for runs, *_ in lab.recorder.all("windows_fired")) == 20


async def test_what_another_instance_holds_is_looked_at_again_soon(lab: Lab) -> None:
    """A due window that cannot be locked: rest a moment, then longer ones, neither spin nor wait for the poll."""
    await lab.start()
    await lab.clock.advance(milliseconds=500)
    now = lab.clock.now()
    looks: list[int] = []
    taken = 0

    async def locked(**kwargs: object) -> Fired:
        looks.append(lab.clock.now())
        return Fired(now=lab.clock.now(), windows=taken, next_fire_at=now - 5)

    def rests() -> list[int]:
        return [after - before for before, after in pairwise(looks)]

    lab.plain.fire_due = locked  # type: ignore[method-assign]
    await lab.clock.advance(seconds=2)
    least, most = round(CONTENDED_REST * 1000), round(LONGEST_CONTENDED_REST * 1000)
    assert rests()[:6] == [least, 2 * least, 4 * least, 8 * least, most, most]
    taken = 1
    await lab.clock.advance(milliseconds=most)
    looks.clear()
    await lab.clock.advance(milliseconds=100)
    assert set(rests()) == {least}, "while some are taken, the others come soon"


async def test_a_window_that_comes_while_the_store_is_asked_fires_without_a_further_wait(lab: Lab) -> None:
    """The clock stands at its instant: who waited any longer would never fire it."""
    await lab.start()
    gate = lab.store.gate("fire_due")
    schedule = await lab.create("k", Once(to_datetime(lab.clock.now() + 400)))
    lab.clock.move(milliseconds=400)
    gate.set()
    await lab.clock.settle()
    (run,) = await lab.runs(schedule)
    assert run.fired_at == run.scheduled_at


async def test_a_store_that_is_away_is_asked_again_with_pauses_and_no_window_is_lost(lab: Lab) -> None:
    await lab.start()
    schedule = await lab.create("k", Every(seconds=10), catch_up="all", overlap="allow")
    lab.store.down("fire_due")
    calls = lab.store.calls["fire_due"]
    await lab.clock.advance(seconds=60)
    assert lab.store.calls["fire_due"] - calls < 60
    assert lab.recorder.count("loop_failed") > 5
    lab.store.up()
    await lab.clock.advance(seconds=10)
    runs = await lab.runs(schedule)
    first = runs[0].scheduled_at
    assert [run.scheduled_at for run in runs] == [first + number * timedelta(seconds=10) for number in range(7)]


@pytest.mark.parametrize("error", [StoreUnavailable, OutcomeUnknown])
async def test_a_broken_connection_sets_no_schedule_aside(lab: Lab, error: type[Exception]) -> None:
    """Only what the database refuses is suspicious; an answer that got lost says nothing about the batch."""
    await lab.start()
    schedule = await lab.create("k", Every(seconds=10))
    lab.store.fail("fire_due", *[error("injected") for _ in range(30)])
    await lab.clock.advance(minutes=3)
    assert lab.recorder.all("schedule_set_aside") == []
    assert lab.store.calls["set_aside"] == 0
    newest = (await lab.runs(schedule))[-1]
    assert newest.window_at == to_datetime(lab.clock.now())


async def test_an_unknown_fire_that_was_done_is_not_done_again(lab: Lab) -> None:
    """A run that was born in our hands without our knowing is found by the heartbeats and given back."""
    await lab.start()
    schedule = await lab.create("k", Every(seconds=30))
    await lab.clock.advance(seconds=29)
    lab.store.lose_answer("fire_due", *[OutcomeUnknown("injected")] * 3)
    await lab.clock.advance(seconds=66)
    runs = await lab.runs(schedule)
    assert len(runs) == 3
    assert {run.status for run in runs} == {RunStatus.COMPLETED}
    assert len(started(lab.recorder)) == 3


async def test_a_batch_that_the_database_refuses_is_halved_and_only_the_bad_one_is_put_off(lab: Lab) -> None:
    lab.settings = Settings(fire_batch=64, concurrency=100)
    now = lab.clock.now()
    schedules = [await lab.create(f"k{number}", Once(to_datetime(now + 1000 + number))) for number in range(20)]
    bad = schedules[13]

    async def fire_due(*, limit: int, **options: Any) -> Fired:
        """The database refuses any batch that holds the bad schedule."""
        now = to_datetime(lab.clock.now())
        current = [await lab.plain.get_schedule(schedule.id) for schedule in schedules]
        due = [s for s in current if s is not None and s.next_fire_at is not None and s.next_fire_at <= now]
        if bad.id in [s.id for s in due[:limit]]:
            tried = [Tried(s.id, s.cursor.fire_at) for s in due[:limit] if s.cursor.fire_at is not None]
            raise StoreError("value too long for type", tried=tried)
        return await original(limit=limit, **options)

    original = lab.plain.fire_due
    lab.plain.fire_due = fire_due  # type: ignore[method-assign]
    await lab.start()
    await lab.clock.advance(seconds=3)
    fired = {run.schedule_id for run in await lab.runs()}
    assert fired == {s.id for s in schedules if s is not bad}, "every other schedule fired, none waited for the bad one"
    aside = await lab.plain.get_schedule(bad.id)
    assert aside is not None
    assert "too long" in (aside.last_error or "")
    assert [id for id, _ in lab.recorder.all("schedule_set_aside")] == [bad.id]
    lab.plain.fire_due = original  # type: ignore[method-assign]
    await lab.clock.advance(seconds=60)
    (run,) = await lab.runs(bad)
    assert run.status is RunStatus.COMPLETED, "it stayed due and fired when the fault was gone"


@rule("S4.22", "A7")
async def test_a7_a_schedule_that_cannot_be_planned_never_stops_another(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lab.start()
    bad = await lab.create("bad", Every(seconds=10))
    good = await lab.create("good", Every(seconds=10))
    plan = vars(firing)["plan"]

    def planning(cursor, *args, **kwargs):
        if cursor.schedule_id == bad.id:
            raise ZeroDivisionError("a corrupt row")
        return plan(cursor, *args, **kwargs)

    monkeypatch.setattr(firing, "plan", planning)
    await lab.clock.advance(seconds=50)
    assert len(await lab.runs(good)) == 5
    assert await lab.runs(bad) == []
    (told,) = set(lab.recorder.all("schedule_set_aside"))
    assert told == (bad.id, "ZeroDivisionError: a corrupt row")
    monkeypatch.undo()
    await lab.clock.advance(seconds=60)
    late = await lab.runs(bad)
    assert late, "set aside, never dropped"
    assert all(run.status in (RunStatus.COMPLETED, RunStatus.SKIPPED) for run in late)
    assert sum(run.window_count or 1 for run in late) == 11, "each of its windows is a run or counted in a skipped row"


@rule("S1.7", "S3.10", "C1", "C2")
async def test_c1_downtime_of_ten_minutes_follows_each_policy(lab: Lab) -> None:
    policies = {policy: await lab.create(policy, Cron("* * * * *"), catch_up=policy, overlap="allow") for policy in
                ("latest", "skip", "all")}  # fmt: skip
    four = await lab.create("four", Cron("* * * * *"), catch_up=CatchUp("all", max_runs=4))
    lab.clock.move(minutes=10, seconds=30)
    await lab.start()
    await lab.clock.advance(seconds=5)
    start = datetime(2026, 1, 5, tzinfo=UTC)

    async def fired(schedule) -> list[datetime]:
        return [run.scheduled_at for run in await lab.runs(schedule) if run.status is RunStatus.COMPLETED]

    assert await fired(policies["latest"]) == [start + 10 * MINUTE]
    assert await fired(policies["skip"]) == []
    assert await fired(policies["all"]) == [start + number * MINUTE for number in range(1, 11)]
    assert await fired(four) == [start + number * MINUTE for number in range(7, 11)], "C2"
    for schedule, dropped in ((policies["latest"], 9), (policies["skip"], 10), (four, 6)):
        (row,) = [run for run in await lab.runs(schedule) if run.status is RunStatus.SKIPPED]
        assert (row.reason, row.window_count, row.since) == ("missed", dropped, start + MINUTE)


@rule("A8", "C8")
async def test_c8_a_paused_hour_is_not_replayed_and_a8_a_paused_schedule_never_fires(lab: Lab) -> None:
    await lab.start()
    schedule = await lab.create("k", Every(seconds=10))
    await lab.clock.advance(seconds=10)
    await lab.plain.change_schedule("k", partial(editing.pause, reason="on leave", until=None, by=None))
    await lab.clock.advance(minutes=5)
    assert len(await lab.runs(schedule)) == 1
    await lab.plain.change_schedule("k", partial(editing.resume, by=None))
    await lab.clock.advance(seconds=10)
    runs = await lab.runs(schedule)
    first, second = [run.scheduled_at for run in runs]
    assert second - first == timedelta(minutes=5, seconds=10)
