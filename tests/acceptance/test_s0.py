"""What S0, a page on scheduling workflows, promises about time; its workflows are yet to come."""

from datetime import UTC, datetime, timedelta

from duly import Cron, Every
from duly.core.instants import to_ms
from tests.acceptance.rules import rule
from tests.engine.lab import Lab

NIGHTLY = Cron("0 2 * * *", "America/Sao_Paulo")


@rule("S0.19")
def test_two_o_clock_is_local_on_both_sides_of_an_offset_change() -> None:
    """São Paulo went forward at midnight on 2018-11-04, and back on 2019-02-17."""
    hours = {
        "2018-11-03": 5, "2018-11-04": 4, "2018-11-05": 4, "2019-02-16": 4, "2019-02-17": 5, "2019-02-18": 5,
    }  # fmt: skip
    for day, hour in hours.items():
        midnight = datetime.fromisoformat(f"{day}T00:00:00+00:00")
        assert NIGHTLY.next_after(midnight) == midnight + timedelta(hours=hour), day


@rule("S0.20")
def test_the_window_is_the_newest_one_at_or_before_now() -> None:
    at = datetime(2026, 1, 5, 5, tzinfo=UTC)
    assert NIGHTLY.latest_at(at) == at
    assert NIGHTLY.latest_at(at - timedelta(milliseconds=1)) == at - timedelta(days=1)
    assert Every(milliseconds=300_000).latest_at(at + timedelta(minutes=4)) == at


@rule("S3.46", "S0.2", "S0.5", "S0.21")
async def test_a_run_is_named_after_its_schedule_and_its_window(lab: Lab) -> None:
    keys: list[str | None] = []

    @lab.job("work")
    async def work(run) -> None:
        keys.append(run.window_key)

    await lab.start()
    await lab.create("sync-inventory", Every(milliseconds=300_000))
    start = lab.clock.now()
    await lab.clock.advance(minutes=10)
    assert keys == [f"sched:sync-inventory:{start + number * 300_000}" for number in (1, 2)]
    assert all(int(str(key).rpartition(":")[2]) % 300_000 == 0 for key in keys), "counted from the epoch"
    assert start == to_ms(datetime(2026, 1, 5, tzinfo=UTC), "start")
