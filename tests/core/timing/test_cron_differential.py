"""Cron against cronsim and croniter, where their rules are ours."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.timing import Cron
from tests.core.timing.changes import changes, tz
from tests.properties import examples

INSTANTS = st.datetimes(datetime(1975, 1, 1), datetime(2090, 1, 1)).map(  # noqa: DTZ001
    lambda naive: naive.replace(microsecond=0, tzinfo=UTC)
)


def _values(low, high, names=()):
    value = (
        st.integers(low, high).map(str)
        if not names
        else st.one_of(st.integers(low, high).map(str), st.sampled_from(names))
    )
    # Both ends differ: cronsim reads 1-1/2 as 1/2, and croniter 5-5 as every value.
    ends = st.lists(st.integers(low, high), min_size=2, max_size=2, unique=True).map(sorted)
    span = ends.map(lambda pair: f"{pair[0]}-{pair[1]}")
    spans = span | st.tuples(span, st.integers(1, high - low)).map(lambda parts: f"{parts[0]}/{parts[1]}")
    return st.lists(value | spans, min_size=1, max_size=3).map(",".join)


MINUTES = st.one_of(st.just("*"), st.integers(1, 30).map("*/{}".format), _values(0, 59))
HOURS = st.one_of(st.just("*"), st.integers(1, 12).map("*/{}".format), _values(0, 23))
DATES = st.one_of(st.just("*"), st.just("*"), _values(1, 28), st.just("L"), st.just("31"))
MONTHS = st.one_of(st.just("*"), _values(1, 12), st.sampled_from(["JAN", "jul-sep"]))
WEEKDAYS = st.one_of(st.just("*"), st.just("*"), _values(0, 6), st.sampled_from(["MON-FRI", "7", "SUN"]))
FIVE = st.tuples(MINUTES, HOURS, DATES, MONTHS, WEEKDAYS).map(" ".join).filter(lambda text: " 31 " not in text)
SIX = st.tuples(MINUTES, FIVE).map(" ".join)


@settings(max_examples=examples(250))
@given(FIVE | SIX, INSTANTS)
def test_cronsim_agrees_in_utc(expr, instant):
    assert Cron(expr).next_after(instant) == next(CronSim(expr, instant))
    just_after = instant + timedelta(seconds=1)
    assert Cron(expr).latest_at(instant) == next(CronSim(expr, just_after, reverse=True))


@settings(max_examples=examples(150))
@given(FIVE, INSTANTS)
def test_croniter_agrees_in_utc(expr, instant):
    assert Cron(expr).next_after(instant) == croniter(expr, instant).get_next(datetime)
    just_after = instant + timedelta(seconds=1)
    assert Cron(expr).latest_at(instant) == croniter(expr, just_after).get_prev(datetime)


@settings(max_examples=examples(100))
@given(
    st.sampled_from(["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut"]),
    st.integers(2000, 2030),
    st.integers(0, 59),
    st.integers(0, 23),
    st.integers(-72, 72),
    st.data(),
)
def test_cronsim_agrees_on_named_hours_in_zones(name, year, minute, hour, shift, data):
    found = changes(name, year)
    if not found:
        return
    change = data.draw(st.sampled_from(found))
    t = datetime.fromtimestamp(change + shift * 3600, tz(name))
    expr = f"{minute} {hour} * * *"
    theirs = (fire.astimezone(UTC) for fire in CronSim(expr, t))
    later = next(fire for fire in theirs if fire > t)  # in a fold cronsim may answer an instant that has gone by
    assert Cron(expr, name).next_after(t) == later


@pytest.mark.parametrize("name", ["America/New_York", "Europe/London", "Asia/Kolkata"])
def test_a_year_of_mornings_is_the_same_year_for_zoneinfo(name):
    zone = ZoneInfo(name)
    year = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    mornings = [fire.astimezone(zone) for fire in Cron("30 9 * * *", name).between(*year)]
    assert len(mornings) == 365
    assert {(local.hour, local.minute) for local in mornings} == {(9, 30)}
