"""Values in words: what a page says before any script has run."""

from datetime import UTC, datetime

import pytest

from duly.core.instants import to_datetime
from duly.dashboard.words import Instants, distance, nearby
from duly.testing import ManualClock

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
DISTANCES = {
    0.4: "now",
    -0.9: "now",
    1: "in 1 s",
    -59.9: "59 s ago",
    65: "in 1 min",
    -3725: "1 h 2 min ago",
    86_400: "in 1 d",
    86_700: "in 1 d 5 min",
    -90_061: "1 d 1 h ago",
}


@pytest.mark.parametrize(("seconds", "words"), DISTANCES.items())
def test_a_distance_is_told_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert distance(seconds) == words


@pytest.mark.parametrize(
    ("at", "zone", "words"),
    [
        (datetime(2026, 11, 16, 13, 5, 9, tzinfo=UTC), "Europe/Berlin", "14:05:09"),
        (datetime(2026, 11, 16, 23, 30, tzinfo=UTC), "Europe/Berlin", "Tue 17 Nov, 00:30"),
        (datetime(2027, 1, 1, 4, 0, tzinfo=UTC), "America/New_York", "Thu 31 Dec, 23:00"),
        (datetime(2027, 7, 1, 4, 0, tzinfo=UTC), "UTC", "Thu 1 Jul 2027, 04:00"),
    ],
)
def test_a_time_in_a_zone_has_no_more_of_its_date_than_is_needed(at: datetime, zone: str, words: str) -> None:
    assert nearby(at, NOON, zone) == words


def test_what_the_server_cannot_tell_stands_in_utc_and_everything_is_escaped() -> None:
    when = Instants(ManualClock(int(NOON.timestamp() * 1000))).when
    last = "9999-12-31T23:59:59.999Z"

    assert ">in 5 min</time>" in when("2026-11-16T12:05:00.000Z")
    assert ">5 min</time>" in when("2026-11-16T11:55:00.000Z", "since")
    assert ">2026-11-16 12:05:00 UTC</time>" in when("2026-11-16T12:05:00.000Z", "clock")
    assert ">2026-11-16 12:05:00 UTC</time>" in when("2026-11-16T12:05:00.000Z", "zoned", "Not/There")
    assert ">9999-12-31 23:59:59 UTC</time>" in when(last, "zoned", "Asia/Tokyo")
    assert when(None) == "–"
    assert "<i>" not in when(to_datetime(0), "clock", '"><i>')
