"""Never run, only type-checked, as scripts/check does with all tests: what the public names promise."""

from datetime import UTC, datetime
from typing import assert_type

import duly
from duly import CatchUp, Cron, Every, Jitter, Once, Retry, Run, RunStatus, Schedule, ScheduleStatus, Snooze

app = duly.Duly("sqlite:///duly.db", roles=("scheduler", "worker"), name="api", settings=duly.Settings(lease=30))


@app.job("nightly-report", cron="0 2 * * *", timezone="America/Sao_Paulo", retry=Retry(max_attempts=5), timeout=600)
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


def pure() -> None:
    assert_type(tick(3), Snooze | None)
    assert_type(Cron("0 2 * * *", "UTC").next_after(datetime(2027, 1, 1, tzinfo=UTC)), datetime | None)
    Every("30m")
    Every(minutes=5, anchor="start", after_completion=True)
    CatchUp(max_runs=5)
    Jitter(0, 5000)
