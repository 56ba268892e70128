"""The reckoning of docs/scale.md, on days small enough to reckon by hand."""

import pytest

from bench.cells.growth import sizes
from bench.scale.day import DAY, Day, databases, draw, lag_at, lags, workers


def day(**at: float) -> Day:
    fires = [0.0] * DAY
    for second, count in at.items():
        fires[int(second.removeprefix("s"))] = count
    return Day(fires, [2 * count for count in fires])


def test_what_is_due_together_is_as_late_as_it_takes_to_fire_it() -> None:
    assert lags([100, 0, 0, 10], 50) == [(2.0, 100), (0.2, 10)]
    assert lags([100, 100, 0], 50) == [(2.0, 100), (3.0, 100)]


@pytest.mark.parametrize(("share", "lag"), [(0.5, 2.0), (0.9, 2.0), (0.05, 0.2)])
def test_a_share_of_all_fires_is_below_a_lag(share: float, lag: float) -> None:
    assert lag_at(lags([100, 0, 0, 10], 50), share) == lag


def test_databases_and_workers_are_as_many_as_it_takes_and_no_more() -> None:
    herd = day(s100=1000)
    assert databases(herd, per_second=100, allowed=10) == 1
    assert databases(herd, per_second=100, allowed=1) == 10
    assert workers(herd, allowed=10, concurrency=100) == 2
    assert workers(herd, allowed=1, concurrency=100) == 20


def test_jitter_spreads_a_herd_and_loses_nobody() -> None:
    spread = day(s86390=600).spread(60)
    assert sum(spread.fires) == pytest.approx(600)
    assert max(spread.fires) == pytest.approx(10)
    assert spread.fires[10] == pytest.approx(10)  # the last herd of yesterday comes today


def test_a_drawn_day_counts_for_all_it_stands_for() -> None:
    drawn = draw(1_000_000, sample=500, seed=3)
    assert sum(drawn.fires) > 1_000_000  # frequent schedules fire often
    assert draw(2_000_000, sample=500, seed=3).fires == [2 * fires for fires in drawn.fires]


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1_000_000, [1000, 10_000, 100_000, 1_000_000]), (50_000, [1000, 10_000, 50_000]), (1000, [1000]), (10, [1000])],
)
def test_growth_is_measured_in_steps_of_ten(most: int, expected: list[int]) -> None:
    assert sizes(most) == expected
