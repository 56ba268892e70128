"""Intervals: whole milliseconds from an anchor, never drifting."""

import pickle
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.errors import IntervalTooShort, ValidationFailed
from duly.core.timing import Every
from duly.core.timing.epoch import FIRST_MS, LAST_MS
from tests.acceptance.rules import rule
from tests.core.timing.changes import ms, utc

TIMES = st.integers(-(10**13), 10**13)
LENGTHS = st.integers(1000, 10**10)


@pytest.mark.parametrize(
    "every, expected",
    [
        (Every("30m"), 1_800_000),
        (Every("PT1H30M"), 5_400_000),
        (Every(minutes=30), 1_800_000),
        (Every(milliseconds=1500), 1500),
        (Every(days=1, hours=2, minutes=3, seconds=4, milliseconds=5), 93_784_005),
        (Every(timedelta(minutes=5)), 300_000),
    ],
)
def test_lengths_can_be_said_in_several_ways(every, expected):
    assert every.every_ms == expected


@rule("S0.16")
@given(LENGTHS, TIMES, TIMES)
def test_windows_are_the_anchor_and_whole_steps_from_it(every_ms, anchor, t):
    every = Every(milliseconds=every_ms, anchor="start").anchored_at(anchor)
    following, latest = every.next_after_ms(t), every.latest_at_ms(t)
    assert latest is not None
    assert following is not None
    assert latest <= t < following
    assert following - latest == every_ms
    assert (latest - anchor) % every_ms == 0
    assert every.latest_at_ms(following) == following
    assert every.next_after_ms(latest - 1) == latest


@rule("S0.13")
def test_the_epoch_is_the_anchor_unless_told_otherwise():
    assert Every(days=7).next_after(utc("2026-01-01T00:00:00Z")) == utc("2026-01-08T00:00:00Z")  # a Thursday
    assert Every(hours=24).next_after(utc("2026-01-01T12:00:00Z")) == utc("2026-01-02T00:00:00Z")
    anchored = Every(days=14, anchor=utc("2026-01-05T09:00:00+01:00"))
    assert anchored.next_after(utc("2026-01-05T08:00:00Z")) == utc("2026-01-19T08:00:00Z")
    assert anchored.latest_at(utc("2026-01-05T07:59:59Z")) == utc("2025-12-22T08:00:00Z")


def test_an_anchor_at_the_start_waits_for_it():
    every = Every("10m", anchor="start")
    for ask in (every.next_after_ms, every.latest_at_ms):
        with pytest.raises(ValidationFailed, match="anchored_at"):
            ask(0)
    started = every.anchored_at(ms("2026-01-01T00:03:00Z"))
    assert started.anchor == "start"
    assert started.next_after(utc("2026-01-01T00:03:00Z")) == utc("2026-01-01T00:13:00Z")
    assert started.latest_at(utc("2026-01-01T00:03:00Z")) == utc("2026-01-01T00:03:00Z")
    assert Every("10m").anchored_at(5) == Every("10m")


@given(LENGTHS, st.integers(0, 10**9), st.integers(0, 200))
def test_between_is_next_after_next(every_ms, after, count):
    every = Every(milliseconds=every_ms)
    until = after + every_ms * count
    found = list(every.between_ms(after, until))
    assert len(found) == count
    assert found == sorted(set(found))
    assert all(after < window <= until and window % every_ms == 0 for window in found)


@given(LENGTHS, st.integers(-(10**9), 10**9), st.integers(0, 10**6))
def test_counting_is_walking(every_ms, after, reach):
    every = Every(milliseconds=every_ms, anchor="start").anchored_at(17)
    assert every.count_between_ms(after, after + reach) == sum(1 for _ in every.between_ms(after, after + reach))


def test_between_jumps_over_years_without_walking():
    windows = Every("1s").between_ms(0, LAST_MS)
    assert next(windows) == 1000


@pytest.mark.parametrize(
    "length", [{"milliseconds": 500}, {"seconds": 0}, {"minutes": -5}, {}, {"hours": 0, "days": 0}]
)
def test_too_short_is_refused(length):
    with pytest.raises(IntervalTooShort, match=r"expected at least 1000 ms") as refusal:
        Every(**length)
    assert refusal.value.code == "SCHEDULE_INTERVAL_TOO_SHORT"


def test_an_interval_without_a_length_is_told_how_to_give_one():
    for nothing in (Every, lambda: Every(None), lambda: Every(minutes=None)):
        with pytest.raises(IntervalTooShort) as refusal:
            nothing()
        expected = "at least 1000 ms, such as Every('30m') or Every(minutes=30)"
        assert str(refusal.value) == f"Every() has no length; expected {expected}"


def test_text_that_is_too_short_is_refused_too():
    with pytest.raises(IntervalTooShort, match="interval is 999 ms"):
        Every("999ms")
    for nothing in ("0s", "PT0S", "0.0h"):
        with pytest.raises(IntervalTooShort, match="interval is 0 ms"):
            Every(nothing)


def test_the_minimum_can_be_lowered_but_not_below_one():
    assert Every(milliseconds=50, minimum_ms=50).every_ms == 50
    with pytest.raises(IntervalTooShort):
        Every(milliseconds=0, minimum_ms=0)
    with pytest.raises(IntervalTooShort, match="at least 5000 ms"):
        Every("3s").check_minimum(5000)
    Every("5s").check_minimum(5000)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Every(milliseconds=True),
        lambda: Every(seconds=cast(Any, 1.5)),
        lambda: Every(minutes=cast(Any, "5")),
        lambda: Every(days=10**30),
        lambda: Every(days=300_000_000_000),
        lambda: Every(hours=-300_000_000_000, days=300_000_000_000),
        lambda: Every(milliseconds=10**5000),
        lambda: Every(days=4000),
        lambda: Every("5m", seconds=3),
        lambda: Every(timedelta(microseconds=1_500_500)),
        lambda: Every(cast(Any, 5)),
        lambda: Every("5m", anchor=cast(Any, "end")),
        lambda: Every("5m", anchor=datetime(2026, 1, 1)),  # noqa: DTZ001
        lambda: Every("5m", anchor=cast(Any, 5)),
        lambda: Every("5m", after_completion=cast(Any, "yes")),
    ],
)
def test_other_nonsense_is_refused(make):
    with pytest.raises(ValidationFailed, match="expected"):
        make()


def test_after_completion_counts_from_the_end_of_the_run():
    every = Every("5m", after_completion=True)
    assert every.after_completion
    assert every.after_end_ms(1234) == 301_234
    assert every.after_end_ms(LAST_MS) is None


def test_instants_outside_the_calendar_have_no_windows():
    every = Every("5m")
    for t in (FIRST_MS - 1, LAST_MS + 1, 10**20, -(10**20)):
        assert every.next_after_ms(t) is None
        assert every.latest_at_ms(t) is None
    assert every.next_after(datetime.max.replace(tzinfo=UTC)) is None
    assert every.latest_at(datetime.min.replace(tzinfo=UTC)) == datetime.min.replace(tzinfo=UTC)
    assert list(every.between_ms(LAST_MS, LAST_MS + 10**9)) == []


def test_intervals_are_values():
    anchor = datetime(2026, 1, 1, 0, 0, 0, 1500, tzinfo=UTC)
    assert Every("5m", anchor=anchor) == Every(minutes=5, anchor=anchor)
    assert Every("5m") != Every("5m", after_completion=True)
    assert hash(Every("5m")) == hash(Every(seconds=300))
    assert pickle.loads(pickle.dumps(Every("5m", anchor=anchor))) == Every("5m", anchor=anchor)
    with pytest.raises(AttributeError):
        Every("5m").every_ms = 5  # type: ignore[misc]
