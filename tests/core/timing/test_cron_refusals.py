"""Refusals say which field, what was given and what was expected."""

from itertools import islice

import pytest

from duly.core.errors import CronInvalid
from duly.core.timing import Cron
from tests.acceptance.rules import rule


@rule("S4.2")
@pytest.mark.parametrize(
    "expr, message",
    [
        ("0 25 * * *", "cron field 'hour' is '25'; expected 0-23"),
        ("0 1,25 * * *", "cron field 'hour' has '25' in '1,25'; expected 0-23"),
        ("60 * * * *", "cron field 'minute' is '60'; expected 0-59"),
        ("60 0 0 * * *", "cron field 'second' is '60'; expected 0-59"),
        ("0 0 32 * *", "cron field 'day of month' is '32'; expected 1-31 or L"),
        ("0 0 1 13 *", "cron field 'month' is '13'; expected 1-12 or JAN-DEC"),
        ("0 0 * * 8", "cron field 'day of week' is '8'; expected 0-7 or SUN-SAT, also 5L or 5#2"),
        ("0 22-2 * * *", "cron field 'hour' is '22-2'; expected a range from low to high; write 22-23,0-2"),
        ("0 0 * 11-2 *", "cron field 'month' is '11-2'; expected a range from low to high; write 11-12,1-2"),
        ("0 0 * * FRI-MON", "cron field 'day of week' is 'FRI-MON'; expected a range from low to high; write 5-6,0-1"),
        ("0 0 LW * *", "cron field 'day of month' is 'LW'; expected 1-31 or L; W (the nearest or last weekday) is not"),
        ("0 0 1,15W * *", "cron field 'day of month' has '15W' in '1,15W'; expected 1-31 or L; W (the nearest or last"),
        ("0 0 L-3 * *", "cron field 'day of month' is 'L-3'; expected 1-31 or L; days before the last one are not"),
        (
            "0 0 * * FRI#L",
            "cron field 'day of week' is 'FRI#L'; expected 0-7 or SUN-SAT, also 5L or 5#2; write FRIL",
        ),
        ("@daily", "cron expression is '@daily'; expected its fields, which are '0 0 * * *'"),
        (
            "@every 5m",
            "cron expression is '@every 5m'; expected 5 or 6 fields; write it as an interval",
        ),
        (
            "@reboot",
            "cron expression is '@reboot'; expected 5 or 6 fields; run what belongs to a start",
        ),
        (
            "CRON_TZ=Europe/Berlin 0 9 * * *",
            "cron expression is 'CRON_TZ=Europe/Berlin 0 9 * * *'; expected the fields alone, '0 9 * * *'; give"
            " 'Europe/Berlin' as the timezone of the schedule",
        ),
        ("0 0 1 1 * * 2030", "cron expression '0 0 1 1 * * 2030' has 7 fields; expected 5 (minute hour day month"),
        ("*/61 * * * *", "cron field 'minute' is '*/61'; expected a step of 1-60"),
        ("0 */25 * * *", "cron field 'hour' is '*/25'; expected a step of 1-24"),
        ("0 0 * * 1/2", "cron field 'day of week' is '1/2'; expected a range before the step, such as 1-5/2"),
        ("0 0 * * mon#6", "cron field 'day of week' is 'mon#6'; expected 0-7 or SUN-SAT, also 5L or 5#2"),
        ("* * * *", "cron expression '* * * *' has 4 fields; expected 5 (minute hour day month weekday) such as '0 2"),
        ("0 0 31 2 *", "cron expression '0 0 31 2 *' never fires: month '2' has no day '31'"),
    ],
)
def test_the_message_names_field_value_and_expectation(expr, message):
    with pytest.raises(CronInvalid) as refusal:
        Cron(expr)
    assert str(refusal.value).startswith(message)


def test_the_parts_of_a_refusal_can_be_read_one_by_one():
    with pytest.raises(CronInvalid) as refusal:
        Cron("0 25 * * *")
    assert (refusal.value.field, refusal.value.got, refusal.value.expected) == ("hour", "25", "0-23")


@pytest.mark.parametrize(
    "expr",
    [
        "*" * 257 + " * * * *",
        "0 0 " + "1," * 200 + "1 * *",
        "9" * 250 + " * * * *",
        "0\u00a02 * * *",
        "0\u30002 * * *",
        "0 2 * *\n*",
        "0 2 * * *\x00",
    ],
)
def test_long_or_strange_text_is_refused_in_a_short_printable_message(expr):
    with pytest.raises(CronInvalid) as refusal:
        Cron(expr)
    assert len(str(refusal.value)) < 500
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("expr", [None, 5, b"* * * * *", ["* * * * *"], {}])
def test_what_is_not_text_is_refused(expr):
    with pytest.raises(CronInvalid, match="expected text"):
        Cron(expr)


@pytest.mark.parametrize(
    "expr",
    ["0 0 0 * *", "0 0 ?/2 * *", "0 0 *,? * *", "? * * * *", "0 0 L-3 * *", "0 0 LW * *", "0 0 * * L", "0 0 1L * *"],
)
def test_near_misses_of_the_day_fields_are_refused(expr):
    with pytest.raises(CronInvalid):
        Cron(expr)


@pytest.mark.parametrize("expr", ["0 0 30 2 1", "0 0 31 2 MON#5", "0 0 31 2,3 *", "0 0 31,L 2 *", "0 0 * 2 SUN#5"])
def test_what_fires_only_now_and_then_is_not_taken_for_never(expr):
    assert Cron(expr).next_after_ms(0) is not None


@rule("B3")
@pytest.mark.parametrize(
    "one, other",
    [
        ("*/1 * * * *", "* * * * *"),
        ("0-59 0-23 * * *", "* * * * *"),
        ("0 0 * * 1-7", "0 0 * * 0-6"),
        ("0 0 * * FRI-SUN", "0 0 * * 5,6,0"),
        ("0 0 1 jan,Feb *", "0 0 1 1-2 *"),
        ("00 02 * * *", "0 2 * * *"),
        ("5/10 * * * *", "5-59/10 * * * *"),
        ("0 0 ? * ?", "0 0 * * *"),
        ("30 2 * * *", "0 30 2 * * *"),
        ("0 0 * * 7#1", "0 0 * * SUN#1"),
        ("0 0 * * sunl", "0 0 * * 0L"),
    ],
)
def test_writing_a_field_differently_changes_nothing(one, other):
    for zone in ("UTC", "America/New_York"):
        since, until = 1_770_000_000_000, 1_780_000_000_000
        first, second = (islice(Cron(expr, zone).between_ms(since, until), 30) for expr in (one, other))
        assert list(first) == list(second)


def test_a_star_with_a_step_restricts_the_day_so_either_day_fires():
    either = Cron("0 0 */31 * 1")
    assert either.next_after_ms(0) == 4 * 86_400_000  # Monday, 5 January 1970
    assert Cron("0 0 * * 1") != either
