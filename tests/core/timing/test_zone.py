"""Zones: the names that are allowed, and the offsets that were found by probing."""

import copy
import pickle
from itertools import pairwise

import pytest
import tzdata  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.errors import TimezoneInvalid
from duly.core.timing import Cron, check_zone, tz_version, zone_named
from duly.core.timing.epoch import FIRST_SECOND, LAST_SECOND
from duly.core.timing.fires import EachPass, FirstPass, SecondPass, place
from duly.core.timing.zone import _load
from tests.core.timing.changes import DAY, ZONES, changes, offset
from tests.core.timing.expressions import Meaning
from tests.core.timing.test_cron_oracle import instants
from tests.counting import at_least
from tests.properties import examples

REGIONS = st.sampled_from(ZONES[1:])


def test_the_data_is_that_of_the_package():
    assert tz_version() == tzdata.IANA_VERSION
    assert len(ZONES) > 500


@pytest.mark.parametrize(
    "name", ["UTC", "Europe/Kyiv", "Asia/Kolkata", "US/Eastern", "America/Indiana/Knox", "Etc/UTC"]
)
def test_names_and_links_are_allowed(name):
    assert check_zone(name) == name
    assert zone_named(name) is zone_named(name)


@pytest.mark.parametrize(
    "name",
    [
        "GMT",
        "Zulu",
        "EST5EDT",
        "Japan",
        "GB",
        "utc",
        " UTC",
        "Mars/Olympus",
        "posixrules",
        "../UTC",
        "A" * 5000,
        None,
        3,
        b"UTC",
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(TimezoneInvalid, match="America/New_York") as refusal:
        check_zone(name)
    assert refusal.value.code == "SCHEDULE_TIMEZONE_INVALID"
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    "given_name, meant",
    [
        ("america/new_york", "America/New_York"),
        ("utc", "UTC"),
        ("Europe/Berln", "Europe/Berlin"),
        ("America/SaoPaulo", "America/Sao_Paulo"),
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
    ],
)
def test_a_name_that_is_nearly_one_gets_a_hint(given_name, meant):
    with pytest.raises(TimezoneInvalid, match=f"did you mean '{meant}'"):
        check_zone(given_name)


@pytest.mark.parametrize("given_name", ["EST", "x", "Europe", "+01:00", "Atlantis/Poseidonis"])
def test_a_name_that_is_like_none_gets_no_hint(given_name):
    with pytest.raises(TimezoneInvalid, match=r"such as 'America/New_York'$"):
        check_zone(given_name)


def test_zones_survive_copying_and_pickling():
    zone = zone_named("Europe/Berlin")
    assert pickle.loads(pickle.dumps(zone)) is zone
    assert copy.copy(zone) is zone
    assert repr(zone) == "Zone('Europe/Berlin')"


@settings(max_examples=examples(400))
@given(REGIONS, st.integers(-3_000_000_000, 10_000_000_000))
def test_the_offset_is_that_of_zoneinfo(name, t):
    stretch = zone_named(name).stretch_at(t)
    assert stretch.start <= t < stretch.end
    assert stretch.offset == offset(name, t)


@settings(max_examples=examples(200))
@given(REGIONS, st.integers(1900, 2100))
def test_every_change_of_a_year_is_found_to_the_second(name, year):
    for change in changes(name, year):
        before, after = zone_named(name).stretch_at(change - 1), zone_named(name).stretch_at(change)
        assert before.end == after.start == change
        assert before.after == after.offset == offset(name, change)
        assert after.before == before.offset == offset(name, change - 1)


def test_the_ends_of_the_calendar_have_an_offset():
    for name in ("UTC", "Asia/Tokyo", "America/New_York", "Pacific/Apia"):
        for t in (FIRST_SECOND - DAY, FIRST_SECOND, LAST_SECOND, LAST_SECOND + DAY):
            assert abs(zone_named(name).offset_at(t)) < DAY


@pytest.mark.parametrize("fires", [FirstPass, SecondPass, EachPass])
@pytest.mark.parametrize(
    "name, year", [("America/New_York", 2026), ("Australia/Lord_Howe", 2026), ("Pacific/Apia", 2011)]
)
def test_where_a_block_ends_makes_no_difference(name, year, fires, monkeypatch):
    monkeypatch.setattr("duly.core.timing.zone._BLOCK_BITS", 11)  # 34 minutes, so that every change lies at an edge
    fold = {FirstPass: "first", SecondPass: "second", EachPass: "both"}[fires]
    meaning = Meaning("*/10 0-22 * * *", frozenset(range(0, 60, 10)), frozenset(range(23)), None, None, None)
    pattern = Cron(meaning.text).pattern
    for change in at_least(changes(name, year), 1, f"changes of {name}"):
        expected = instants(meaning, "fire_after", fold, name, change)
        near = [fire for fire in expected if abs(fire - change) < 3 * 3600]
        fresh = fires(pattern, _load.__wrapped__(name), skip_gap=False)
        for side in (-5 * DAY, 0, 5 * DAY):
            for shift in range(-7200, 7200, 1200):
                for earlier, later in pairwise(near):
                    fresh.zone.stretch_at(change + side + shift)  # what was asked before makes no difference either
                    assert fresh.next_after(earlier) == later
                    fresh.zone.stretch_at(change + side + shift)
                    assert fresh.latest_at(later - 1) == earlier


def test_many_years_of_one_zone_stay_within_bounds():
    zone = zone_named("Antarctica/Troll")
    for t in range(FIRST_SECOND, LAST_SECOND, 15 * 365 * DAY):
        assert zone.stretch_at(t).start <= t
    assert len(zone._blocks) <= 512


@settings(max_examples=examples(200))
@given(REGIONS, st.integers(0, 4_000_000_000))
def test_place_gives_back_the_local_time_or_the_end_of_its_gap(name, local):
    instant = place(zone_named(name), local)
    shown = instant + offset(name, instant)
    assert shown >= local
    if shown > local:  # in a gap: one second earlier the clock was still before it
        assert instant - 1 + offset(name, instant - 1) < local
