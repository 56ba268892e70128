"""Friendly timings: exactly one way to say when."""

from typing import Any

import pytest

from duly.core.errors import CronInvalid, IntervalTooShort, TimezoneInvalid, ValidationFailed
from duly.core.timing import Cron, Every, Once, timing_from
from tests.acceptance.rules import rule
from tests.core.timing.changes import utc

BERLIN = "Europe/Berlin"


@rule("S4.7")
@pytest.mark.parametrize(
    "ways, expected",
    [
        ({"cron": "0 2 * * *"}, Cron("0 2 * * *")),
        ({"cron": "0 2 * * *", "timezone": BERLIN, "dst_gap": "skip"}, Cron("0 2 * * *", BERLIN, dst_gap="skip")),
        ({"cron": "0 2 * * *", "strict_fields": 5}, Cron("0 2 * * *", strict_fields=5)),
        ({"every": "30m"}, Every("30m")),
        ({"every": "30m", "anchor": "start"}, Every("30m", anchor="start")),
        ({"every": "PT5M", "anchor": "2026-01-01T00:00:00Z"}, Every("5m", anchor=utc("2026-01-01T00:00:00Z"))),
        ({"every_ms": 1500}, Every(milliseconds=1500)),
        ({"every_ms": 50, "minimum_ms": 50}, Every(milliseconds=50, minimum_ms=1)),
        ({"every_ms": 5000, "after_completion": True}, Every("5s", after_completion=True)),
        ({"every_ms": 5000, "timezone": BERLIN}, Every("5s", timezone=BERLIN)),
        ({"interval_minutes": 30}, Every("30m")),
        ({"daily": "14:00", "timezone": BERLIN}, Cron("0 14 * * *", BERLIN)),
        ({"daily": {"hour": 14, "minute": 0}}, Cron("0 14 * * *")),
        (
            {"daily": "14:00", "dst_fold": "both", "strict_fields": 5},
            Cron("0 14 * * *", dst_fold="both", strict_fields=5),
        ),
        ({"weekly": "MON 09:00"}, Cron("0 9 * * 1")),
        ({"weekly": ("MON", "09:00")}, Cron("0 9 * * 1")),
        ({"weekly": {"day_of_week": 1, "hour": 9, "minute": 0}}, Cron("0 9 * * 1")),
        ({"monthly": "15 14:30"}, Cron("30 14 15 * *")),
        ({"monthly": (15, "14:30")}, Cron("30 14 15 * *")),
        ({"monthly": {"day": 15, "hour": 14, "minute": 30}}, Cron("30 14 15 * *")),
        ({"monthly": {"day": "L", "hour": 0, "minute": 0}}, Cron("0 0 L * *")),
        ({"at": "2027-03-15T14:00:00Z"}, Once("2027-03-15T14:00:00Z")),
        ({"once": "2027-03-15T14:00:00+02:00", "on_past": "fire"}, Once("2027-03-15T12:00:00Z", on_past="fire")),
        ({"once": "2027-03-15T14:00:00", "timezone": BERLIN}, Once("2027-03-15T13:00:00Z", timezone=BERLIN)),
        ({"at": utc("2027-03-15T14:00:00Z")}, Once("2027-03-15T14:00:00Z")),
    ],
)
def test_one_way_gives_its_timing(ways, expected):
    assert timing_from(**ways) == expected


@rule("S0.8", "S0.9")
@pytest.mark.parametrize(
    "ways, told",
    [
        ({}, "none was given; expected exactly one of cron, every"),
        ({"cron": "0 2 * * *", "every_ms": 60_000}, "cron and every_ms were given"),
        ({"cron": "* * * * *", "daily": "14:00", "once": "x"}, "cron, daily and once were given"),
    ],
)
def test_none_or_two_are_refused_by_name(ways, told):
    with pytest.raises(ValidationFailed, match=told):
        timing_from(**ways)


@pytest.mark.parametrize(
    "ways",
    [
        {"every_ms": 5000, "dst_gap": "skip"},
        {"cron": "* * * * *", "anchor": "start"},
        {"cron": "* * * * *", "on_past": "fire"},
        {"once": "2027-03-15T14:00:00Z", "after_completion": True},
    ],
)
def test_an_option_of_another_way_is_refused(ways):
    with pytest.raises(ValidationFailed, match=r"does not go with .*; leave it out"):
        timing_from(**ways)


@pytest.mark.parametrize(
    "way", [{"cron": "* * * * *"}, {"daily": "14:00"}, {"every": "5m"}, {"once": "2027-03-15T14:00:00Z"}]
)
def test_an_option_of_another_way_that_asks_for_nothing_is_taken(way):
    plain: dict[str, Any] = {"dst_gap": "fire_after", "dst_fold": "first", "anchor": "epoch", "on_past": "reject"}
    assert timing_from(**way, **plain, after_completion=False) == timing_from(**way)
    with pytest.raises(ValidationFailed):
        timing_from(**way, **plain | {"after_completion": 0})


@pytest.mark.parametrize(
    "ways, error",
    [
        ({"cron": "banana"}, CronInvalid),
        ({"cron": ""}, CronInvalid),
        ({"cron": 5}, CronInvalid),
        ({"cron": "0 0 2 * * *", "strict_fields": 5}, CronInvalid),
        ({"cron": "0 2 * * *", "timezone": "EST"}, TimezoneInvalid),
        ({"every_ms": 5000, "timezone": "EST"}, TimezoneInvalid),
        ({"every_ms": 0}, IntervalTooShort),
        ({"every_ms": -1000}, IntervalTooShort),
        ({"every_ms": 999}, IntervalTooShort),
        ({"interval_minutes": 0}, IntervalTooShort),
        ({"every_ms": True}, ValidationFailed),
        ({"every_ms": "5000"}, ValidationFailed),
        ({"interval_minutes": 1.5}, ValidationFailed),
        ({"every": 5}, ValidationFailed),
        ({"every": "5m", "anchor": "2026-01-01T00:00:00"}, ValidationFailed),
        ({"daily": 14}, ValidationFailed),
        ({"daily": {"hour": 14}}, ValidationFailed),
        ({"daily": {"hour": 24, "minute": 0}}, ValidationFailed),
        ({"daily": {"hour": True, "minute": 0}}, ValidationFailed),
        ({"daily": {"hour": 1, "minute": 0, "second": 5}}, ValidationFailed),
        ({"weekly": "MON"}, ValidationFailed),
        ({"weekly": {"day": 1, "hour": 9, "minute": 0}}, ValidationFailed),
        ({"weekly": {"day_of_week": 8, "hour": 9, "minute": 0}}, ValidationFailed),
        ({"weekly": 5}, ValidationFailed),
        ({"monthly": {"day": 32, "hour": 9, "minute": 0}}, ValidationFailed),
        ({"monthly": (15, "14:30", 5)}, ValidationFailed),
        ({"at": "soon"}, ValidationFailed),
        ({"once": 5}, ValidationFailed),
    ],
)
def test_bad_values_are_refused_with_their_own_error(ways, error):
    with pytest.raises(error, match="expected"):
        timing_from(**ways)
