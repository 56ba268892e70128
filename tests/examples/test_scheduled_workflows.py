"""S0's two worked examples: a nightly workflow in São Paulo, and one every five minutes."""

from datetime import UTC, datetime
from pathlib import Path

from duly import Duly, Settings
from duly.testing import ManualClock
from examples.scheduled_workflows import jobs
from tests.acceptance.rules import rule
from tests.app.conftest import until

LONG = Settings(lease=3600, heartbeat=600)
"""The clock is moved by minutes at once; no lease is to run out by that."""


@rule("S0.30")
async def test_both_run_once_per_window(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 1, 5, 4, 58, tzinfo=UTC))
    app = Duly(f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}", clock=clock, settings=LONG)
    app.include(jobs)

    async def ended(schedule: str, many: int) -> bool:
        return len((await app.runs.list(schedule=schedule, status="completed")).items) == many

    async with app:
        clock.move(minutes=3)
        await until(lambda: ended("daily-report", 1))
        await until(lambda: ended("sync-inventory", 1))
        clock.move(minutes=5)
        await until(lambda: ended("sync-inventory", 2))
        (nightly,) = (await app.runs.list(schedule="daily-report")).items
        stock = (await app.runs.list(schedule="sync-inventory")).items
        report = await app.runs.get(nightly.id)
    at = round(datetime(2026, 1, 5, 5, tzinfo=UTC).timestamp() * 1000)
    assert nightly.window_key == f"sched:daily-report:{at}"
    assert sorted(run.window_key or "" for run in stock) == [
        f"sched:sync-inventory:{at}",
        f"sched:sync-inventory:{at + 300_000}",
    ]
    assert report is not None
    assert report.result == {"mailed": "3 rows"}
