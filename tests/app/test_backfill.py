"""``app.schedules.backfill``: the windows of a past range, run now."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duly import Cron, Duly, Every, RunContext
from duly.core.errors import NotFound, ValidationFailed
from tests.app.conftest import MakeApp, until

FROM, TO = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC)


async def test_past_days_are_run_in_order_one_after_another(make_app: MakeApp) -> None:
    app = make_app()
    hour = 6 if datetime.now(UTC).hour >= 12 else 18  # never while this runs
    seen: list[tuple[datetime, object]] = []
    running: list[str] = []

    @app.job("report")
    async def report(run: RunContext, payload: object) -> None:
        assert running == []
        running.append(run.id)
        seen.append((run.scheduled_at, payload))
        running.clear()

    async with app:
        made = await app.schedules.create("daily", Cron(f"0 {hour} * * *"), job="report")
        operation = await app.schedules.backfill("daily", FROM, TO, payload={"again": 1}, by="ann")
        assert (operation.matched, operation.by) == (4, "ann")

        async def over() -> bool:
            found = await app.operations.get(operation.id)
            return found is not None and found.finished

        await until(over)
        days = [FROM + timedelta(days=n, hours=hour) for n in range(4)]
        assert seen == [(day, {"again": 1}) for day in days]
        found = await app.schedules.get("daily")
        assert found is not None
        assert (found.cursor, found.revision) == (made.cursor, 1)
        again = await app.schedules.backfill("daily", FROM, TO, id=operation.id)
        assert (again.id, again.changed, again.refused) == (operation.id, 4, 0)
        assert len((await app.runs.list()).items) == 4


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works."""
    async with make_app(roles=()) as app:
        yield app


async def test_a_dry_run_shows_the_windows_and_makes_nothing(app: Duly) -> None:
    await app.schedules.create("daily", Cron("30 2 * * *", "America/New_York"), job="report")
    windows = await app.schedules.backfill(
        "daily", datetime(2026, 3, 7, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC), dry_run=True
    )
    assert [window.local_time.isoformat() for window in windows] == [
        "2026-03-07T02:30:00-05:00",
        "2026-03-08T03:00:00-04:00",
    ]
    assert windows[1].note is not None
    assert (await app.runs.list()).items == []
    assert (await app.operations.list()).items == []


async def test_what_cannot_be_backfilled_is_refused(app: Duly) -> None:
    await app.schedules.create("often", Every("1s"), job="report")
    with pytest.raises(ValidationFailed, match="345601 windows in that range; expected at most 1000"):
        await app.schedules.backfill("often", FROM, TO)
    with pytest.raises(ValidationFailed, match="345601 windows"):
        await app.schedules.backfill("often", FROM, TO, dry_run=True)
    with pytest.raises(ValidationFailed, match="rate_per_second"):
        await app.schedules.backfill("often", TO, TO, rate_per_second=0)
    with pytest.raises(ValidationFailed, match="time zone"):
        await app.schedules.backfill("often", datetime(2026, 3, 1), TO)  # noqa: DTZ001
    with pytest.raises(NotFound):
        await app.schedules.backfill("nothing", FROM, TO)
    assert (await app.runs.list()).items == []


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_payload_that_the_job_could_not_take_is_refused_before_anything_is_made(
    make_app: MakeApp, dry_run: Any
) -> None:
    app = make_app(roles=())

    @app.job("strict")
    async def strict(user: int) -> None: ...

    async with app:
        await app.schedules.create("daily", Cron("0 6 * * *"), job="strict", payload={"user": 1})
        await app.schedules.create("told", Cron("0 6 * * *"), topic="days.passed")
        with pytest.raises(ValidationFailed, match="'user' = 'x'"):
            await app.schedules.backfill("daily", FROM, TO, payload={"user": "x"}, dry_run=dry_run)
        with pytest.raises(ValidationFailed, match="expected an object"):
            await app.schedules.backfill("told", FROM, TO, payload=[1], dry_run=dry_run)
        assert (await app.runs.list()).items == []
        assert (await app.operations.list()).items == []
