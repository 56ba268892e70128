"""Which dates a calendar holds."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.calendar import DateRange, Days, MonthDay

CHRISTMAS = MonthDay(12, 25)
LEAP_DAY = MonthDay(2, 29)
dates = st.dates(date(2020, 1, 1), date(2029, 12, 31))
spans = st.builds(lambda first, more: DateRange(first, first + timedelta(more)), dates, st.integers(0, 400))


@pytest.mark.parametrize(
    "days, inside, outside",
    [
        (Days((date(2026, 12, 25),)), ["2026-12-25"], ["2025-12-25", "2026-12-24", "2026-12-26"]),
        (Days(yearly=(CHRISTMAS,)), ["2026-12-25", "2099-12-25"], ["2026-12-24", "2026-11-25"]),
        (Days(yearly=(LEAP_DAY,)), ["2028-02-29"], ["2027-02-28", "2027-03-01"]),
        (
            Days(ranges=(DateRange(date(2026, 12, 24), date(2027, 1, 2)),)),
            ["2026-12-24", "2026-12-31", "2027-01-02"],
            ["2026-12-23", "2027-01-03", "2027-12-25"],
        ),
        (Days(), [], ["2026-12-25"]),
    ],
)
def test_a_date_is_in_the_set_or_not(days, inside, outside):
    assert all(days.holds(date.fromisoformat(day).toordinal()) for day in inside)
    assert not any(days.holds(date.fromisoformat(day).toordinal()) for day in outside)


@given(st.lists(dates, max_size=5), st.lists(spans, max_size=6), st.lists(dates, max_size=3), dates)
def test_ranges_that_touch_or_overlap_hold_what_each_of_them_holds(single, ranges, yearly, day):
    days = Days(tuple(single), tuple(ranges), tuple(MonthDay(one.month, one.day) for one in yearly))
    held = (
        day in single
        or any(first <= day <= last for first, last in ranges)
        or any((one.month, one.day) == (day.month, day.day) for one in yearly)
    )
    assert days.holds(day.toordinal()) == held


def test_the_ends_of_the_calendar_are_no_trap():
    days = Days(yearly=(CHRISTMAS,))
    assert not days.holds(0)
    assert not days.holds(date.max.toordinal() + 1)


def test_what_people_wrote_reads_as_they_wrote_it():
    assert str(CHRISTMAS) == "12-25"
    assert str(DateRange(date(2026, 12, 24), date(2027, 1, 2))) == "2026-12-24..2027-01-02"
