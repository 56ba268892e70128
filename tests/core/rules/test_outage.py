"""A long outage costs no more than a short one: windows are counted, not walked through."""

from __future__ import annotations

import pytest

from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.timing import Cron, Jitter
from tests.core.rules.making import DAY, SECOND, T0, cursor_at, define, fire, windows_of


class Counted:
    """``* * * * * *`` as arithmetic, which counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def next_after_ms(self, t: int) -> int:
        self.asked += 1
        return (t // SECOND + 1) * SECOND

    def latest_at_ms(self, t: int) -> int:
        self.asked += 1
        return t // SECOND * SECOND

    def count_between_ms(self, a: int, b: int) -> int:
        self.asked += 1
        return b // SECOND - a // SECOND


@pytest.mark.parametrize("overlap", list(Overlap))
@pytest.mark.parametrize("jitter", [None, Jitter(0, 900)])
@pytest.mark.parametrize(
    "policy, max_runs, asked", [(Missed.SKIP, 100, 80), (Missed.LATEST, 100, 80), (Missed.ALL, 100, 300)]
)
def test_a_year_without_a_secondly_schedule_is_a_few_questions(policy, max_runs, asked, jitter, overlap):
    timing = Counted()
    definition = define(timing, catch_up=CatchUp(policy, max_runs=max_runs), jitter=jitter, overlap=overlap)
    now = T0 + 365 * DAY + 999
    made = fire(cursor_at(T0), definition, now)
    assert timing.asked < asked
    assert made.cursor.window_at is not None
    assert sum(row.windows for row in made.skips) + len(made.runs) == (made.cursor.window_at - T0) // SECOND + 1
    assert len(made.skips) <= 4


def test_a_year_without_the_real_secondly_cron():
    definition = define(Cron("* * * * * *"))
    made = fire(cursor_at(T0), definition, T0 + 365 * DAY)
    assert windows_of(made) == [T0 + 365 * DAY - 9 * SECOND]
    assert [(str(row.reason), row.windows) for row in made.skips] == [
        ("missed", 365 * 86_400 - 9),
        ("overlap", 9),
    ]
