"""S1's recurring jobs: upserted at start, five and six fields, missed windows by policy, and by hand."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from duly import Duly, Settings
from duly.testing import ManualClock
from examples.recurring_jobs import jobs, reported
from tests.app.conftest import until

LONG = Settings(lease=3600, heartbeat=600)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}"


def make(url: str, clock: ManualClock) -> Duly:
    app = Duly(url, clock=clock, settings=LONG)
    app.include(jobs)
    return app


async def test_they_are_stored_at_start_fire_and_run_by_hand(url: str) -> None:
    reported.clear()
    clock = ManualClock(datetime(2026, 6, 1, 11, 59, 50, tzinfo=UTC))
    app = make(url, clock)
    async with app:
        assert {schedule.key async for schedule in app.schedules.iterate()} == {"report-hourly", "heartbeat", "backup"}
        clock.move(seconds=11)
        await until(lambda: reported)
        by_hand = await app.schedules.trigger("report-hourly")
        done = await app.runs.wait(by_hand.id, timeout=20)
        assert (done.kind, done.status, len(reported)) == ("manual", "completed", 2)
        clock.move(seconds=20)

        async def beats() -> int:
            return len((await app.runs.list(schedule="heartbeat", status="completed")).items)

        async def two_beats() -> bool:
            return await beats() == 2

        await until(two_beats)


async def test_missed_mornings_are_made_up_for_in_order_and_missed_heartbeats_are_not(url: str) -> None:
    clock = ManualClock(datetime(2026, 6, 1, 20, tzinfo=UTC))
    async with make(url, clock):
        pass
    clock.move(days=3)  # Tuesday to Thursday: three mornings in Chicago
    app = make(url, clock)
    async with app:

        async def backups() -> list[object]:
            runs = (await app.runs.list(schedule="backup", status="completed")).items
            return [(await app.runs.get(run.id)).result for run in reversed(runs)]  # type: ignore[union-attr]

        async def three() -> bool:
            return len(await backups()) == 3

        await until(three)
        assert await backups() == ["copied for 02 June", "copied for 03 June", "copied for 04 June"]
        skipped = (await app.runs.list(schedule="heartbeat", status="skipped")).items
        assert sum(run.window_count or 1 for run in skipped) >= 3 * 24 * 180 - 1
