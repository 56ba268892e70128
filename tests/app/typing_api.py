"""Never run, only type-checked, as scripts/check does with all tests: what the public names promise."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, assert_type

import duly
from duly import CatchUp, Cron, Every, Jitter, Once, Retry, Run, RunStatus, Schedule, ScheduleStatus, Snooze
from duly.engine.middleware import CallNext

app = duly.Duly("sqlite:///duly.db", roles=("scheduler", "worker"), name="api", settings=duly.Settings(lease=30))


@app.job(
    "nightly-report",
    cron="0 2 * * *",
    timezone="America/Sao_Paulo",
    retry=Retry(max_attempts=5, backoff="fixed"),
    timeout=600,
)
async def nightly_report(run: duly.RunContext) -> None:
    assert_type(run.id, str)
    assert_type(run.attempt, int)
    assert_type(run.fence, int)
    assert_type(run.cancelled, bool)
    assert_type(run.scheduled_at, datetime)
    assert_type(run.window_key, str | None)
    await run.wait_cancelled()


@app.every("10s")
def tick(count: int = 1) -> Snooze | None:
    if count > 5:
        raise duly.Fatal("enough")
    return Snooze(minutes=5)


@app.job("send-reminder")
async def send_reminder(run: duly.RunContext, user: int, note: str = "") -> bool:
    return run.id == note and user > 0


jobs = duly.Jobs()


@jobs.cron("0 2 * * *", timezone="America/Sao_Paulo")
def clean_up(days: int) -> int:
    return days


app.include(jobs)


@app.middleware
async def timed(run: duly.RunContext, call_next: CallNext) -> Any:
    return await call_next(run)


@asynccontextmanager
async def lifespan(app: duly.Duly) -> AsyncIterator[dict[str, int]]:
    yield {"pool": 1}


other = duly.Duly(
    lifespan=lifespan, schedules=[{"key": "k", "timing": Every("1h"), "job": clean_up.bind(3)}], sync="keep_database"
)
LATER = datetime(2027, 1, 1, tzinfo=UTC)


async def use() -> None:
    async with app as running:
        assert_type(running, duly.Duly)
        made = await app.schedules.create(
            key="u42-tax", timing=Once("2027-03-15T14:00:00Z"), job="send-reminder", payload={"user": 42}
        )
        assert_type(made, Schedule)
        assert_type(made.status, ScheduleStatus)
        assert_type(await app.schedules.get("u42-tax"), Schedule | None)
        assert_type(await app.schedules.pause(made.id, reason="on leave", until=LATER), Schedule)
        assert_type(await app.schedules.trigger(made.id), Run)
        assert_type((await app.schedules.list(owner="u42")).items, list[Schedule])
        async for schedule in app.schedules.iterate(tag="x"):
            assert_type(schedule, Schedule)
        run = await app.enqueue("send-reminder", {"user": 42})
        assert_type(run, Run)
        done = await app.runs.wait(run.id, timeout=30)
        assert_type(done.status, RunStatus)
        assert_type(done.error_message, str | None)


async def edit() -> None:
    made = await app.schedules.create("k", Every("1h"), job=send_reminder.bind(user=42))
    assert_type(await app.schedules.update(made.id, if_revision=1, timing=Cron.daily("14:00"), tags=["x"]), Schedule)
    stored = await app.schedules.put("k", Every("1h"), clean_up.bind(days=3), overlap="queue")
    assert_type(stored.schedule, Schedule)
    assert_type(stored.changed, bool)
    for item in await app.schedules.preview(Every("1h"), after=LATER, count=3) + await app.schedules.upcoming("k"):
        assert_type(item.fire_at, datetime)
        assert_type(item.note, str | None)
    assert_type(await app.enqueue(send_reminder.bind(42, note="x")), Run)
    await app.schedules.update("k", colour="red")  # type: ignore[call-arg]
    await app.schedules.create("k", Every("1h"), job="x", overlap=5)  # type: ignore[arg-type]


async def look() -> None:
    page = await app.runs.list(schedule="k", job="x", tags=["a"], attributes={"n": 5}, limit=5, cursor=None)
    assert_type(page.items, list[Run])
    async for run in app.runs.iterate(schedule="k", cursor=page.next_cursor):
        assert_type(run, Run)
    assert_type((await app.calendars.list(tenant="t")).next_cursor, str | None)
    await app.runs.list(schedule_id="k")  # type: ignore[call-arg]
    await app.runs.list(limit="5")  # type: ignore[arg-type]
    app.runs.iterate(schedule_id="k")  # type: ignore[call-arg]
    await app.schedules.list(job_type="x")  # type: ignore[call-arg]
    app.sync.runs.list(schedule_id="k")  # type: ignore[call-arg]
    app.sync.webhooks.iterate(owner="ann")  # type: ignore[call-arg]


def sync() -> None:
    made = app.sync.schedules.create("k", Every("1h"), job=send_reminder.bind(user=42), tags=["x"])
    assert_type(made, Schedule)
    assert_type(app.sync.schedules.get("k"), Schedule | None)
    assert_type(app.sync.runs.wait(app.sync.enqueue("send-reminder", {"user": 42}).id, timeout=30), Run)
    for schedule in app.sync.schedules.iterate(tag="x"):
        assert_type(schedule, Schedule)
    app.sync.schedules.update("k", colour="red")  # type: ignore[call-arg]
    app.sync.enqueue("x", nope=1)  # type: ignore[call-arg]


def bind() -> None:
    send_reminder.bind()  # type: ignore[call-arg]
    send_reminder.bind(user="x")  # type: ignore[arg-type]
    send_reminder.bind(usr=5)  # type: ignore[call-arg]
    clean_up.bind(day=3)  # type: ignore[call-arg]


async def call(run: duly.RunContext) -> None:
    assert_type(await send_reminder(run, 42), bool)
    assert_type(clean_up(3), int)
    await send_reminder(run, "x")  # type: ignore[arg-type]


def pure() -> None:
    assert_type(tick(3), Snooze | None)
    assert_type(Cron("0 2 * * *", "UTC").next_after(datetime(2027, 1, 1, tzinfo=UTC)), datetime | None)
    Every("30m")
    Every(minutes=5, anchor="start", after_completion=True)
    CatchUp(max_runs=5)
    Jitter(0, 5000)
