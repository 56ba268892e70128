"""What S1, a page on scheduling jobs by cron, promises; lines that older tests show are not repeated here."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from duly import Cron, Every
from duly.core.run import RunStatus
from tests.acceptance.rules import rule
from tests.engine.lab import Lab

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


@rule("S1.9", "S1.10", "S1.12", "S1.13", "S1.14", "S1.15", "S1.16", "S1.17", "S1.18")
@pytest.mark.parametrize(
    "expr, first, second",
    [
        ("* * * * *", "2026-01-05T00:01:00", "2026-01-05T00:02:00"),
        ("*/5 * * * *", "2026-01-05T00:05:00", "2026-01-05T00:10:00"),
        ("0 * * * *", "2026-01-05T01:00:00", "2026-01-05T02:00:00"),
        ("0 2 * * *", "2026-01-05T02:00:00", "2026-01-06T02:00:00"),
        ("30 8 * * 1-5", "2026-01-05T08:30:00", "2026-01-06T08:30:00"),
        ("0 0 1 * *", "2026-02-01T00:00:00", "2026-03-01T00:00:00"),
        ("*/20 * * * * *", "2026-01-05T00:00:20", "2026-01-05T00:00:40"),
    ],
)
def test_the_expressions_of_the_page_mean_what_it_says(expr: str, first: str, second: str) -> None:
    windows = islice(Cron(expr).between(MONDAY, datetime(2027, 1, 1, tzinfo=UTC)), 2)
    assert [window.isoformat() for window in windows] == [f"{first}+00:00", f"{second}+00:00"]


@rule("S1.16")
def test_weekdays_leave_the_weekend_out() -> None:
    week = Cron("30 8 * * 1-5").between(MONDAY, datetime(2026, 1, 12, tzinfo=UTC))
    assert [window.day for window in week] == [5, 6, 7, 8, 9]


@rule("S1.8")
async def test_a_job_with_a_schedule_can_still_be_enqueued_by_hand(lab: Lab) -> None:
    @lab.job("work")
    async def work() -> None: ...

    await lab.start()
    schedule = await lab.create("k", Cron("* * * * *"))
    by_hand = await lab.enqueue("work")
    await lab.clock.advance(minutes=1)
    assert {(run.kind.value, run.status) for run in await lab.runs()} == {
        ("window", RunStatus.COMPLETED),
        ("direct", RunStatus.COMPLETED),
    }
    assert (await lab.run(by_hand.id)).window_key is None
    assert len(await lab.runs(schedule)) == 1, "and is no run of the schedule"


@rule("S1.24", "S1.27", "S0.7")
async def test_without_a_word_the_zone_is_utc_and_runs_do_not_overlap(lab: Lab) -> None:
    running = most = 0

    @lab.job("work")
    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await lab.nap(25)
        running -= 1

    await lab.start()
    silent = await lab.create("silent", Cron("*/10 * * * * *"))
    assert (silent.timezone, silent.overlap) == ("UTC", "skip")
    await lab.clock.advance(minutes=2)
    assert most == 1
    await lab.create("asked", Every(seconds=10), overlap="allow")
    await lab.clock.advance(minutes=1)
    assert most > 2, "overlap is there for who asks"
