"""One-shots: an instant, not a time of day."""

import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from duly.core.errors import MomentInPast, TimezoneInvalid, ValidationFailed
from duly.core.timing import Once
from tests.core.timing.changes import ms, utc

AT = "2027-03-15T14:00:00Z"


def test_there_is_one_window():
    once = Once(AT)
    assert once.at == utc(AT)
    assert once.next_after(utc(AT) - timedelta(milliseconds=1)) == utc(AT)
    assert once.next_after(utc(AT)) is None
    assert once.latest_at(utc(AT)) == utc(AT)
    assert once.latest_at(utc(AT) - timedelta(milliseconds=1)) is None
    assert list(once.between_ms(0, ms(AT))) == [ms(AT)]
    assert list(once.between_ms(ms(AT), ms(AT) + 1)) == []
    assert (once.count_between_ms(0, ms(AT)), once.count_between_ms(ms(AT), ms(AT) + 1)) == (1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "2027-03-15T14:00:00Z",
        "2027-03-15t14:00:00z",
        "2027-03-15 14:00:00Z",
        "2027-03-15T14:00Z",
        "2027-03-15T10:00:00-04:00",
        "2027-03-15T14:00:00.000000+00:00",
        "2027-03-15T14:00:00.000999999Z",
    ],
)
def test_rfc_3339_text_is_read(text):
    assert Once(text) == Once(AT)


def test_an_aware_datetime_in_any_zone_is_taken():
    assert Once(datetime(2027, 3, 15, 16, tzinfo=timezone(timedelta(hours=2)))) == Once(AT)
    assert Once(utc(AT) + timedelta(microseconds=999)).at_ms == ms(AT)


@pytest.mark.parametrize(
    "at",
    [
        datetime(2027, 3, 15),  # noqa: DTZ001
        "2027-03-15T14:00:00",
        "2027-03-15",
        "20270315T140000Z",
        "2027-03-15T14:00.5Z",
        "2027-03-15T14:00:00.Z",
        "2027-W11-1T14:00:00Z",
        "tomorrow",
        "",
        "\u0662\u0660\u0662\u0667-03-15T14:00:00Z",
        1_800_000_000,
        None,
        "Z" * 10_000,
    ],
)
def test_what_names_no_instant_is_refused(at):
    with pytest.raises(ValidationFailed, match=r"expected an aware datetime, or RFC 3339 text with an offset"):
        Once(at)


@pytest.mark.parametrize(
    "at, expected",
    [
        ("2027-02-29T00:00:00Z", "a date that exists"),
        ("2027-13-01T00:00", "a date that exists"),
        ("0000-01-01T00:00:00Z", "a date that exists"),
        ("2027-02-29T23:59:60Z", "a date that exists"),
        ("2027-06-30T23:59:60Z", "a time up to 23:59:59"),
        ("2027-03-15T14:60Z", "a time up to 23:59:59"),
        ("2027-03-15 24:00:00.5", "a time up to 23:59:59"),
        ("2027-03-15t25:00:00z", "a time up to 23:59:59"),
        ("2027-03-15T14:00:00+25:00", "an offset up to 23:59"),
        ("2027-03-15T14:00:00-14:60", "an offset up to 23:59"),
    ],
)
def test_text_that_reads_like_an_instant_is_told_what_of_it_does_not_exist(at, expected):
    for read in (Once, lambda text: Once.local(text, "UTC")):
        with pytest.raises(ValidationFailed) as refusal:
            read(at)
        assert refusal.value.message == f"instant is {at!r}; expected {expected}"


@pytest.mark.parametrize(
    "local, zone, expected",
    [
        ("2027-03-15T14:00:00", "America/New_York", "2027-03-15T18:00:00Z"),
        ("2026-03-08T02:30:00.750", "America/New_York", "2026-03-08T07:00:00Z"),  # in the gap
        ("2026-11-01T01:30:00", "America/New_York", "2026-11-01T05:30:00Z"),  # the first of two
        ("2011-12-30T12:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"),  # a day that never was
        (datetime(2027, 3, 15, 14), "UTC", AT),  # noqa: DTZ001
    ],
)
def test_a_local_time_is_placed_like_a_cron_fire(local, zone, expected):
    assert Once.local(local, zone) == Once(expected, timezone=zone)


def test_a_local_time_keeps_its_milliseconds():
    assert Once.local("2027-03-15T14:00:00.250", "UTC").at_ms == ms(AT) + 250


def test_a_local_time_with_an_offset_is_refused():
    refused: list[Any] = [AT, utc(AT), None]
    for at in refused:
        with pytest.raises(ValidationFailed, match="without an offset"):
            Once.local(at, "UTC")
    with pytest.raises(TimezoneInvalid):
        Once.local("2027-03-15T14:00:00", "EST")


def test_the_past_is_refused_unless_it_is_to_fire():
    for now in (AT, "2028-01-01T00:00:00Z"):
        with pytest.raises(MomentInPast, match="has gone by") as refusal:
            Once(AT).check_not_past(ms(now))
        assert refusal.value.code == "SCHEDULE_MOMENT_IN_PAST"
        Once(AT, on_past="fire").check_not_past(ms(now))
    Once(AT).check_not_past(ms(AT) - 1)


def test_on_past_is_one_of_two_words():
    with pytest.raises(ValidationFailed, match="'reject' or 'fire'"):
        Once(AT, on_past="ignore")  # type: ignore[arg-type]


def test_the_ends_of_the_calendar_are_kept_in():
    assert Once(datetime.max.replace(tzinfo=UTC)).at.year == 9999
    with pytest.raises(ValidationFailed, match="years 1 to 9999"):
        Once(datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))
    with pytest.raises(ValidationFailed, match=r"instant is '9999-12-31T23:59:59-05:00'; expected an instant within"):
        Once("9999-12-31T23:59:59-05:00")
    with pytest.raises(ValidationFailed):
        Once.local("9999-12-31T23:00:00", "America/New_York")


def test_one_shots_are_values():
    assert Once(AT) != Once(AT, on_past="fire")
    assert hash(Once(AT)) == hash(Once("2027-03-15T10:00:00-04:00"))
    assert pickle.loads(pickle.dumps(Once(AT))) == Once(AT)
    with pytest.raises(AttributeError):
        Once(AT).at_ms = 5  # type: ignore[misc]
