"""S1's recurring jobs: upserted at start, five and six fields, missed windows by policy, and by hand."""

from typing import Any

import pytest

from duly.testing import assert_fired
from examples.recurring_jobs import app, reported


@pytest.fixture(autouse=True)
def nothing_reported() -> None:
    reported.clear()


async def test_they_are_stored_at_start_fire_and_run_by_hand(duly_travel: Any) -> None:
    async with duly_travel(app, start="2026-06-01T11:59:50Z") as clock:
        assert {schedule.key async for schedule in app.schedules.iterate()} == {"report-hourly", "heartbeat", "backup"}
        await clock.advance(seconds=31)
        assert reported == ["12:00"]
        await assert_fired(app, "heartbeat", at=["2026-06-01T12:00:00Z", "2026-06-01T12:00:20Z"])
        by_hand = await app.schedules.trigger("report-hourly")
        done = await app.runs.wait(by_hand.id, timeout=20)
        assert (done.kind, done.status, len(reported)) == ("manual", "completed", 2)


async def test_missed_mornings_are_made_up_for_in_order_and_missed_heartbeats_are_not(duly_travel: Any) -> None:
    async with duly_travel(app, start="2026-06-01T20:00:00Z") as clock:
        await clock.advance(seconds=1)
        clock.move(days=2, hours=20)  # nobody was awake: Tuesday to Thursday in Chicago
        await clock.settle()
        mornings = ["2026-06-02T08:30-05:00", "2026-06-03T08:30-05:00", "2026-06-04T08:30-05:00"]
        await assert_fired(app, "backup", at=mornings)
        runs = [run async for run in app.runs.iterate(schedule="backup")]
        started = sorted((run.started_at, run.scheduled_at) for run in runs)
        assert [window for _, window in started] == sorted(window for _, window in started)
        skipped = [run async for run in app.runs.iterate(schedule="heartbeat", status="skipped")]
        assert sum(run.window_count or 1 for run in skipped) >= 68 * 180 - 2
