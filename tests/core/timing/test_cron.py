"""Cron by example: the scenarios B1 to B13, the knobs, and Cron as a value."""

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest

from duly.core.errors import CronInvalid, TimezoneInvalid, ValidationFailed
from duly.core.timing import Cron
from tests.acceptance.rules import rule
from tests.core.timing.changes import ms, utc

NEW_YORK = "America/New_York"
YEAR_2026 = (ms("2026-01-01T05:00:00Z"), ms("2027-01-01T05:00:00Z"))


def fires(cron, after, count):
    found, instant = [], utc(after)
    for _ in range(count):
        instant = cron.next_after(instant)
        found.append(f"{instant:%Y-%m-%dT%H:%M:%SZ}")
    return found


@rule("S1.10", "S0.17", "S0.18", "S4.2", "B1", "B2", "B3", "B4")
@pytest.mark.parametrize(
    "expr, after, expected",
    [
        ("* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"),  # B1
        ("*/15 * * * * *", "2026-01-01T00:00:01Z", "2026-01-01T00:00:15Z"),
        ("*/5 * * * *", "2026-01-01T00:05:00.500Z", "2026-01-01T00:10:00Z"),  # B2
        ("*/5 * * * *", "2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"),
        ("0-30/10 * * * *", "2026-01-01T00:20:00Z", "2026-01-01T00:30:00Z"),  # B3
        ("0 9 * * MON-FRI", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"),
        ("0 9 * * fri-sun", "2026-01-02T09:00:00Z", "2026-01-03T09:00:00Z"),
        ("0 0 * * 0", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("0 0 1 * 1", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"),  # B4
        ("0 0 1 * 1", "2026-01-26T00:00:00Z", "2026-02-01T00:00:00Z"),
        ("0 0 L * *", "2028-02-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 * * FRI#2", "2026-01-01T00:00:00Z", "2026-01-09T00:00:00Z"),
        ("0 0 * * 5L", "2026-01-01T00:00:00Z", "2026-01-30T00:00:00Z"),
        ("0 0 ? * 5L", "2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z"),
        ("59/1 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:59:00Z"),
    ],
)
def test_the_next_fire_is_strictly_after_and_on_the_grid(expr, after, expected):
    assert fires(Cron(expr), after, 1) == [expected]


@rule("S1.11", "S1.28", "S2.28", "B5")
@pytest.mark.parametrize(
    "expr", ["banana", "* * *", "* * * *", "* * * * * * *", "61 * * * *", "* * * * 8", "0 0 30 2 *", "@daily", ""]
)
def test_bad_expressions_are_refused(expr):  # B5
    with pytest.raises(CronInvalid) as refusal:
        Cron(expr)
    assert refusal.value.code == "SCHEDULE_CRON_INVALID"


@rule("S1.23", "S3.45", "S3.51", "S3.52", "S0.6", "B6", "B7", "B8", "B9", "B10", "B13")
@pytest.mark.parametrize(
    "expr, zone, after, expected",
    [
        ("30 6 * * *", NEW_YORK, "2026-01-10T00:00:00Z", ["2026-01-10T11:30:00Z"]),  # B6
        ("30 6 * * *", NEW_YORK, "2026-07-10T00:00:00Z", ["2026-07-10T10:30:00Z"]),
        ("0 0 * * *", "America/Sao_Paulo", "2026-01-10T00:00:00Z", ["2026-01-10T03:00:00Z"]),  # B7
        ("30 2 * * *", NEW_YORK, "2026-03-08T00:00:00Z", ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),  # B8
        ("30 1 * * *", NEW_YORK, "2026-11-01T00:00:00Z", ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]),  # B9
        (
            "*/30 * * * *",
            NEW_YORK,
            "2026-11-01T04:59:00Z",
            [f"2026-11-01T0{hour}:{minute}:00Z" for hour in (5, 6, 7) for minute in ("00", "30")],
        ),
        ("0 14 * * *", NEW_YORK, "2026-03-07T12:00:00Z", ["2026-03-07T19:00:00Z", "2026-03-08T18:00:00Z"]),  # B10
        # B13: Lord Howe moves its clocks by half an hour, and Samoa left out the whole of 2011-12-30.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]),
        (
            "0 12 * * *",
            "Pacific/Apia",
            "2011-12-29T08:00:00Z",
            ["2011-12-29T22:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"],
        ),
    ],
)
def test_zones_and_their_clock_changes(expr, zone, after, expected):
    assert fires(Cron(expr, zone), after, len(expected)) == expected


@pytest.mark.parametrize(
    "expr, text",
    [
        ("", "cron expression '' has 0 fields; expected 5 (minute hour day month weekday) such as '0 2 * * *'"),
        ("@Daily", "cron expression is '@Daily'; expected its fields, which are '0 0 * * *'"),
        ("@reboot", "cron expression is '@reboot'; expected 5 or 6 fields; run what belongs to a start"),
    ],
)
def test_who_gives_no_fields_is_shown_some(expr, text):
    with pytest.raises(CronInvalid) as refusal:
        Cron(expr)
    assert str(refusal.value).startswith(text)


@rule("S1.25", "S2.26", "S3.53", "B11")
@pytest.mark.parametrize("zone", ["Central Standard Time", "EST", "CST6CDT", "utc+2", "", "utc", None, 5, ["UTC"]])
def test_bad_zones_are_refused_with_an_example(zone):  # B11
    with pytest.raises(TimezoneInvalid, match=r"America/New_York"):
        Cron("0 2 * * *", zone)


@rule("S2.26", "B11")
@pytest.mark.parametrize("zone", ["UTC", "America/Chicago", "Asia/Calcutta", "America/Argentina/Ushuaia", "Etc/GMT+5"])
def test_good_zones_are_taken(zone):  # B11
    assert Cron("0 2 * * *", zone).timezone == zone


@rule("B12")
@pytest.mark.parametrize(
    "expr, zone, after, expected",
    [
        ("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),  # 2100 is no leap year
        ("0 0 29 2 *", NEW_YORK, "2026-01-01T00:00:00Z", "2028-02-29T05:00:00Z"),
        ("0 0 29 2 1", "UTC", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"),
        ("0 0 * 2 1#5", "UTC", "2026-01-01T00:00:00Z", "2044-02-29T00:00:00Z"),
        ("0 0 1 1 *", "Asia/Tokyo", "2026-01-01T00:00:00Z", "2026-12-31T15:00:00Z"),
        ("0 * 29 2 *", NEW_YORK, "2024-03-01T05:00:00Z", "2028-02-29T05:00:00Z"),
    ],
)
def test_sparse_schedules_find_their_day_over_many_years(expr, zone, after, expected):  # B12
    assert fires(Cron(expr, zone), after, 1) == [expected]
    assert Cron(expr, zone).latest_at(utc(expected) + timedelta(hours=1, days=-1)) != utc(expected)


@rule("S3.51", "B8")
@pytest.mark.parametrize(
    "knobs, expected",
    [
        ({}, ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        ({"dst_gap": "skip"}, ["2026-03-09T06:30:00Z", "2026-03-10T06:30:00Z"]),
        ({"dst_fold": "both"}, ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        ({"dst_fold": "second", "dst_gap": "skip"}, ["2026-03-09T06:30:00Z", "2026-03-10T06:30:00Z"]),
    ],
)
def test_a_time_in_the_gap_follows_its_knob(knobs, expected):
    assert fires(Cron("30 2 * * *", NEW_YORK, **knobs), "2026-03-07T12:00:00Z", 2) == expected


@rule("S3.52", "B9")
@pytest.mark.parametrize(
    "fold, expected",
    [
        ("first", ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]),
        ("second", ["2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"]),
        ("both", ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"]),
    ],
)
def test_a_time_in_the_fold_follows_its_knob(fold, expected):
    cron = Cron("30 1 * * *", NEW_YORK, dst_fold=fold)
    assert fires(cron, "2026-10-31T12:00:00Z", len(expected)) == expected
    assert cron.latest_at(utc("2026-11-01T05:45:00Z")) == utc(
        "2026-11-01T05:30:00Z" if fold != "second" else "2026-10-31T05:30:00Z"
    )


@rule("B9")
def test_an_open_hour_ignores_the_knobs():
    plain, knobs = Cron("30 * * * *", NEW_YORK), Cron("30 0-23 * * *", NEW_YORK, dst_gap="skip", dst_fold="second")
    for after in ("2026-03-08T05:00:00Z", "2026-11-01T04:00:00Z"):
        assert fires(plain, after, 5) == fires(knobs, after, 5)


def test_a_time_that_is_always_in_the_gap_and_skipped_has_no_next_fire():
    cron = Cron("30 2 * 3 0#2", NEW_YORK, dst_gap="skip")
    assert cron.next_after(utc("2026-01-01T00:00:00Z")) is None
    assert cron.latest_at(utc("2026-01-01T00:00:00Z")) == utc("2006-03-12T07:30:00Z")


@rule("S1.26", "S2.28")
def test_strict_fields_refuses_the_form_with_seconds():
    assert Cron("0 2 * * *", strict_fields=5).strict_fields == 5
    with pytest.raises(CronInvalid, match=r"has 6 fields; expected 5"):
        Cron("0 0 2 * * *", strict_fields=5)


@pytest.mark.parametrize("knob", [{"dst_gap": "no"}, {"dst_fold": "third"}, {"strict_fields": 6}, {"dst_gap": []}])
def test_unknown_knobs_are_refused_by_name(knob):
    with pytest.raises(ValidationFailed, match=next(iter(knob))):
        Cron("0 2 * * *", **knob)


def test_instants_outside_the_calendar_have_no_fires():
    cron = Cron("0 0 * * *", "Asia/Tokyo")
    for t_ms in (-(10**18), 10**18, ms("0001-01-01T00:00:00Z") - 1, ms("9999-12-31T23:59:59Z") + 1000):
        assert cron.next_after_ms(t_ms) is None
        assert cron.latest_at_ms(t_ms) is None


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", NEW_YORK, "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("expr", ["* * * * *", "0 0 * * *", "0 12 29 2 *", "59 59 23 31 12 *", "0 0 1 1 *"])
@pytest.mark.parametrize("knobs", [{}, {"dst_fold": "second"}, {"dst_fold": "both", "dst_gap": "skip"}])
def test_the_ends_of_the_calendar_are_answered_without_an_error(expr, zone, knobs):
    cron = Cron(expr, zone, **knobs)
    for edge in (datetime.min, datetime.max):  # noqa: DTZ901
        for hours in (-14, 0, 14):
            instant = edge.replace(tzinfo=timezone(timedelta(hours=hours)))
            for fire in (cron.next_after(instant), cron.latest_at(instant)):
                assert fire is None or fire.tzinfo is UTC


def test_a_naive_instant_is_refused():
    for ask in (Cron("* * * * *").next_after, Cron("* * * * *").latest_at):
        with pytest.raises(ValidationFailed, match="aware datetime"):
            ask(datetime(2026, 1, 1))  # noqa: DTZ001


def test_an_instant_in_any_zone_is_the_same_question():
    berlin = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=1)))
    assert Cron("0 * * * *").next_after(berlin) == utc("2026-01-01T01:00:00Z")


def test_between_leaves_out_the_first_end_and_keeps_the_last():
    cron = Cron("0 * * * *")
    found = list(cron.between(utc("2026-01-01T01:00:00Z"), utc("2026-01-01T03:00:00Z")))
    assert found == [utc("2026-01-01T02:00:00Z"), utc("2026-01-01T03:00:00Z")]
    assert list(cron.between_ms(ms("2026-01-01T03:00:00Z"), ms("2026-01-01T01:00:00Z"))) == []


def test_an_outage_of_years_is_counted_at_once():
    assert Cron("* * * * * *").count_between_ms(ms("2020-01-01T00:00:00Z"), ms("2030-01-01T00:00:00Z")) == 3653 * 86_400
    assert Cron("0 0 29 2 *", NEW_YORK).count_between_ms(ms("2000-01-01T00:00:00Z"), ms("2100-01-01T00:00:00Z")) == 25
    assert Cron("30 2 * * *", NEW_YORK, dst_gap="skip").count_between_ms(*YEAR_2026) == 364
    assert Cron("30 2 * * *", NEW_YORK).count_between_ms(*YEAR_2026) == 365
    assert Cron("0 * * * *", NEW_YORK).count_between_ms(*YEAR_2026) == 365 * 24
    assert Cron("* * * * *").count_between_ms(5, 4) == 0


def test_crons_are_equal_by_definition_and_frozen():
    cron = Cron("0  2 *\t* *", NEW_YORK)
    assert cron == Cron("0 2 * * *", NEW_YORK)
    assert cron is Cron("0  2 *\t* *", timezone=NEW_YORK)
    assert hash(cron) == hash(Cron("0 2 * * *", NEW_YORK))
    assert cron != Cron("0 2 * * *")
    assert cron != Cron("0 2 * * *", NEW_YORK, dst_gap="skip")
    assert cron.expr == "0 2 * * *"
    with pytest.raises(AttributeError, match="frozen"):
        cron.expr = "* * * * *"
    with pytest.raises(AttributeError, match="frozen"):
        del cron.expr


def test_crons_survive_copying_and_pickling():
    cron = Cron("0 2 * * *", NEW_YORK, dst_fold="both", strict_fields=5)
    for twin in (copy.copy(cron), copy.deepcopy(cron), pickle.loads(pickle.dumps(cron))):
        assert twin == cron
        assert twin.next_after_ms(0) == cron.next_after_ms(0)


def test_repr_shows_what_to_write():
    assert repr(Cron("0 2 * * *")) == "Cron('0 2 * * *', 'UTC')"
    assert repr(Cron("0 2 * * *", dst_gap="skip")) == "Cron('0 2 * * *', 'UTC', dst_gap='skip')"


def test_friendly_constructors_give_plain_cron():
    assert Cron.daily("14:00", NEW_YORK) == Cron("0 14 * * *", NEW_YORK)
    assert Cron.weekly("mon", "09:00", NEW_YORK) == Cron.weekly(1, "9:00", NEW_YORK) == Cron("0 9 * * 1", NEW_YORK)
    assert Cron.weekly(7, "09:05") == Cron("5 9 * * 0")
    assert Cron.monthly(15, "14:30") == Cron("30 14 15 * *")
    assert Cron.monthly("last", "14:30", dst_gap="skip") == Cron("30 14 L * *", dst_gap="skip")


@pytest.mark.parametrize(
    "time", ["24:00", "12:60", "noon", "1200", "12:5", "12:00:00", 12, None, "\u0661\u0662:\u0660\u0660"]
)
def test_a_bad_time_of_day_is_refused(time):
    with pytest.raises(ValidationFailed, match="time is"):
        Cron.daily(time)


@pytest.mark.parametrize("day", [8, -1, True, "MONDAY", "8", None, 1.0])
def test_a_bad_weekday_is_refused(day):
    with pytest.raises(ValidationFailed, match="day of week is"):
        Cron.weekly(day, "09:00")


@pytest.mark.parametrize("day", [0, 32, True, "x", "32", None])
def test_a_bad_day_of_the_month_is_refused(day):
    with pytest.raises(ValidationFailed, match="day of month is"):
        Cron.monthly(day, "09:00")
