"""Counting windows gives the same as walking through them, and does not take longer for more of them."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.timing import Cron, Every, Once
from duly.core.timing.pattern import Pattern
from tests.properties import examples

EXPRESSIONS = [
    "* * * * *",
    "*/7 * * * *",
    "30 2 * * *",
    "*/15 1-3 * * *",
    "0 0 29 2 *",
    "0 9 L * *",
    "15 2 * * SUN#1",
    "*/50 */20 1-3 * * *",
    "0 0-3 * * *",
]
ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/Sao_Paulo"]
DAY_MS = 86_400_000


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@settings(max_examples=examples(150))
@given(
    expr=st.sampled_from(EXPRESSIONS),
    zone=st.sampled_from(ZONES),
    gap=st.sampled_from(["fire_after", "skip"]),
    fold=st.sampled_from(["first", "second", "both"]),
    after=st.integers(ms("2010-01-01T00:00:00"), ms("2028-01-01T00:00:00")),
    span=st.integers(0, 9 * DAY_MS),
)
def test_a_count_equals_a_walk(expr: str, zone: str, gap: str, fold: str, after: int, span: int) -> None:
    cron = Cron(expr, zone, dst_gap=gap, dst_fold=fold)  # type: ignore[arg-type]
    assert cron.count_between_ms(after, after + span) == sum(1 for _ in cron.between_ms(after, after + span))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("fold", ["first", "second", "both"])
def test_a_count_over_every_change_of_two_years_equals_a_walk(zone: str, fold: str) -> None:
    cron = Cron("*/20 1-3 * * *", zone, dst_fold=fold)  # type: ignore[arg-type]
    after, until = ms("2010-06-01T00:00:00"), ms("2012-06-01T00:00:00")
    assert cron.count_between_ms(after, until) == sum(1 for _ in cron.between_ms(after, until))


def test_a_year_of_seconds_is_counted_by_its_masks() -> None:
    cron = Cron("* * * * * *", "America/New_York")
    after = ms("2026-01-01T00:00:00")
    assert cron.count_between_ms(after, ms("2027-01-01T00:00:00")) == 365 * 86_400


@pytest.mark.parametrize("expr", ["* * * * * *", "* * 1-3 * * *"])
@pytest.mark.parametrize("fold", ["first", "second", "both"])
def test_no_fire_is_walked_through_for_a_count_not_even_beside_a_change(
    expr: str, fold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cron = Cron(expr, "America/New_York", dst_fold=fold)  # type: ignore[arg-type]
    asked = 0

    def counted(self: Pattern, local: int) -> int | None:
        nonlocal asked
        asked += 1
        return first_from(self, local)

    first_from = Pattern.first_from
    monkeypatch.setattr(Pattern, "first_from", counted)
    seconds = cron.count_between_ms(ms("2007-06-01T00:00:00"), ms("2027-06-01T00:00:00"))
    assert asked < 200, "the hours beside one change have thousands"
    a_day = 86_400 if expr == "* * * * * *" else 3 * 3600
    # Each spring takes the hour from 2 to 3 out of the named ones, but for the fire after it, which is at 3 anyway.
    lost, found = (0, 0) if a_day == 86_400 else (20 * 3600, 20 * 3600 if fold == "both" else 0)
    assert seconds == 7305 * a_day - lost + found


def test_a_count_over_centuries_keeps_the_calendar() -> None:
    cron = Cron("0 0 29 2 *")
    assert cron.count_between_ms(ms("1600-01-01T00:00:00"), ms("2401-01-01T00:00:00")) == 2 * 97 + 1


@pytest.mark.parametrize(("after", "until", "count"), [(0, 0, 0), (0, 999, 0), (0, 1000, 1), (-1, 5000, 6), (10, 5, 0)])
def test_intervals_are_counted_in_closed_form(after: int, until: int, count: int) -> None:
    assert Every(seconds=1).count_between_ms(after, until) == count


def test_a_one_shot_counts_once() -> None:
    once = Once("2027-03-15T14:00:00Z")
    assert once.count_between_ms(once.at_ms - 1, once.at_ms) == 1
    assert once.count_between_ms(once.at_ms, once.at_ms + 1) == 0


STEP_MS = 50 * 365 * DAY_MS


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Africa/Casablanca", "Antarctica/Troll", "Asia/Tokyo"])
@pytest.mark.parametrize("expr", ["0 0 29 2 *", "30 2 * * *", "*/20 1-3 * * SUN#2", "0 * * * *"])
def test_a_count_of_millennia_is_the_sum_of_short_ones(expr, zone):
    cron = Cron(expr, zone)
    bounds = [*range(ms("1890-05-17T03:21:00"), ms("4300-05-17T03:21:00"), STEP_MS)]
    assert cron.count_between_ms(bounds[0], bounds[-1]) == sum(cron.count_between_ms(a, b) for a, b in pairwise(bounds))


def test_a_count_over_all_years_looks_at_a_bounded_number_of_stretches(monkeypatch):
    """Each stretch of one offset was looked at, two for each year: 3.8 s for the whole calendar."""
    cron = Cron("0 0 29 2 *", "America/New_York")
    stretch_at, looked = type(cron.zone).stretch_at, []

    def counted(self, at):
        looked.append(at)
        return stretch_at(self, at)

    monkeypatch.setattr(type(cron.zone), "stretch_at", counted)
    assert cron.count_between_ms(ms("1971-01-01T00:00:00"), ms("9998-01-01T00:00:00")) == 1947
    assert len(looked) < 4000
