"""What S4, an article on a scheduler with friendly timings, promises about time."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from duly import Cron, Every
from tests.acceptance.rules import rule

START = datetime(2026, 3, 7, 15, tzinfo=UTC)
"""Ten in the morning in New York, the day before its clocks go forward."""


@rule("S4.3", "S4.4", "S4.5", "S4.6", "S4.10", "S4.21", "S4.46")
@pytest.mark.parametrize(
    "timing, windows",
    [
        (Cron("0 9 * * *"), ["2026-03-08T09:00", "2026-03-09T09:00"]),
        (Cron("0 9 * * 1"), ["2026-03-09T09:00", "2026-03-16T09:00"]),
        (Cron("30 14 15 * *"), ["2026-03-15T14:30", "2026-04-15T14:30"]),
        (Cron("*/30 * * * *"), ["2026-03-07T15:30", "2026-03-07T16:00"]),
        (Every(minutes=30), ["2026-03-07T15:30", "2026-03-07T16:00"]),
        (Cron.daily("14:00", "America/New_York"), ["2026-03-07T19:00", "2026-03-08T18:00"]),
    ],
    ids=repr,
)
def test_the_timings_of_the_article_mean_what_it_says(timing: Cron | Every, windows: list[str]) -> None:
    found = islice(timing.between(START, datetime(2027, 1, 1, tzinfo=UTC)), 2)
    assert [f"{window:%Y-%m-%dT%H:%M}" for window in found] == windows
