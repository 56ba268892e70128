"""Words for people: what a timing does, and what the clocks did to a window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.timing import Cron, Every, Once, dst_note, explain
from tests.core.timing.changes import ms, utc
from tests.core.timing.expressions import meanings

NEW_YORK = "America/New_York"


@pytest.mark.parametrize(
    "expr, words",
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("0 * * * *", "Every hour"),
        ("0 */2 * * *", "Every 2 hours"),
        ("30 * * * *", "At minute 30 past the hour"),
        ("5,35 * * * *", "At minutes 5 and 35 past the hour"),
        ("*/7 * * * *", "At every 7th minute from 0 to 56 past the hour"),
        ("0 2 * * *", "At 02:00 every day"),
        ("0 8,12,18 * * *", "At 08:00, 12:00 and 18:00 every day"),
        ("0 9-17 * * *", "Every hour from 09:00 to 17:00"),
        ("0 0,3,4,5,9,13,22 * * 1", "At 00:00, 03:00, 04:00, 05:00, 09:00, 13:00 and 22:00 on Monday"),
        ("*/15 9-17 * * MON-FRI", "Every 15 minutes from 09:00 to 17:59 on Monday to Friday"),
        ("*/15 9-11,14-17 * * *", "Every 15 minutes from 09:00 to 11:59 and 14:00 to 17:59"),
        ("* 2 * * *", "Every minute from 02:00 to 02:59"),
        ("30 8 * * 1-5", "At 08:30 on Monday to Friday"),
        ("30 8 * * 1,3", "At 08:30 on Monday and Wednesday"),
        ("0 0 * * SAT,SUN", "At 00:00 on Saturday and Sunday"),
        ("0 0 * * FRI-SUN", "At 00:00 on Friday to Sunday"),
        ("0 9 * * FRI#2", "At 09:00 on the second Friday of the month"),
        ("0 9 * * 5L", "At 09:00 on the last Friday of the month"),
        ("0 0 L * *", "At 00:00 on the last day of the month"),
        ("0 0 1 * *", "At 00:00 on day 1 of the month"),
        ("0 0 1,15,L * *", "At 00:00 on days 1 and 15 of the month and the last day of the month"),
        ("0 0 1-7 * *", "At 00:00 on days 1 to 7 of the month"),
        ("0 0 */2 * *", "At 00:00 on every 2nd day from 1 to 31 of the month"),
        ("0 0 1 * 1", "At 00:00 on day 1 of the month or on Monday"),
        ("0 0 1 * 0-6", "At 00:00 on day 1 of the month or on every day of the week"),
        ("0 0 29 2 *", "At 00:00 on day 29 of the month in February"),
        ("0 0 * 1,3-5 *", "At 00:00 every day in January and March to May"),
        ("* * * * MON", "Every minute on Monday"),
        ("* * * * * *", "Every second"),
        ("*/20 * * * * *", "Every 20 seconds"),
        ("30 0 2 * * *", "At 02:00:30 every day"),
        ("* * * 1 *", "Every minute in January"),
        ("0 */2 * JUN-AUG *", "Every 2 hours in June to August"),
        ("15,45 * * * * *", "At seconds 15 and 45 of every minute"),
        ("1-10 * 9 * * *", "At seconds 1 to 10 of every minute from 09:00 to 09:59"),
        ("*/30 */5 * * * *", "Every 30 seconds of every 5th minute"),
        ("*/30 1,2 4-8 * * *", "Every 30 seconds of minutes 1 to 2 from 04:00 to 08:59"),
    ],
)
def test_cron_in_words(expr, words):
    assert explain(Cron(expr)) == words


def test_a_zone_is_named_when_it_is_not_utc():
    assert explain(Cron("0 2 * * *", "America/Sao_Paulo")) == "At 02:00 every day, America/Sao_Paulo"


@pytest.mark.parametrize(
    "timing, words",
    [
        (Every("5m"), "Every 5 minutes"),
        (Every("1m"), "Every minute"),
        (Every("1h30m"), "Every 1 hour 30 minutes"),
        (Every("24h"), "Every 24 hours"),
        (Every("P7D"), "Every 7 days"),
        (Every(milliseconds=1500), "Every 1 second 500 milliseconds"),
        (Every("5m", anchor="start"), "Every 5 minutes, counted from the start"),
        (Every("5m", anchor="start").anchored_at(0), "Every 5 minutes, counted from 1970-01-01 00:00:00 UTC"),
        (Every("5m", anchor=utc("2026-01-05T09:00:00Z")), "Every 5 minutes, counted from 2026-01-05 09:00:00 UTC"),
        (Every("90s", after_completion=True), "1 minute 30 seconds after the end of each run"),
        (Once("2027-03-15T14:00:00+01:00"), "Once, at 2027-03-15 13:00:00 UTC"),
        (Once("2027-03-15T14:00:00.5Z", timezone=NEW_YORK), "Once, at 2027-03-15 10:00:00.500 America/New_York"),
        (Once("9999-12-31T23:59:59Z", timezone="Asia/Tokyo"), "Once, at 9999-12-31 23:59:59 UTC"),
    ],
)
def test_other_timings_in_words(timing, words):
    assert explain(timing) == words


@given(meanings(), st.sampled_from(["", "0 ", "*/7 ", "1,2,5 "]))
def test_every_expression_has_words(meaning, seconds):
    words = explain(Cron(seconds + meaning.text))
    assert words[0].isupper()
    assert "  " not in words


@pytest.mark.parametrize(
    "cron, window, note",
    [
        (
            Cron("30 2 * * *", NEW_YORK),
            "2026-03-08T07:00:00Z",
            "02:30 does not exist that day (clocks go forward); fires at 03:00",
        ),
        (
            Cron("0 2,3 * * *", NEW_YORK),
            "2026-03-08T07:00:00Z",
            "02:00 does not exist that day (clocks go forward); fires at 03:00, together with the fire of that time",
        ),
        (
            Cron("0 12 * * *", "Pacific/Apia"),
            "2011-12-30T10:00:00Z",
            "12:00 on 2011-12-30 does not exist (clocks go forward); fires at 00:00 on 2011-12-31",
        ),
        (
            Cron("30 1 * * *", NEW_YORK),
            "2026-11-01T05:30:00Z",
            "01:30 comes twice that day (clocks go back); fires at the first only",
        ),
        (
            Cron("30 30 1 * * *", NEW_YORK, dst_fold="second"),
            "2026-11-01T06:30:30Z",
            "01:30:30 comes twice that day (clocks go back); fires at the second only",
        ),
        (
            Cron("30 1 * * *", NEW_YORK, dst_fold="both"),
            "2026-11-01T05:30:00Z",
            "01:30 comes twice that day (clocks go back); this is the first time",
        ),
        (
            Cron("30 * * * *", NEW_YORK),
            "2026-11-01T06:30:00Z",
            "01:30 comes twice that day (clocks go back); this is the second time",
        ),
        (
            Once("2026-11-01T05:30:00Z", timezone=NEW_YORK),
            "2026-11-01T05:30:00Z",
            "01:30 comes twice that day (clocks go back); this is the first time",
        ),
        (Once("2026-11-02T05:30:00Z", timezone=NEW_YORK), "2026-11-02T05:30:00Z", None),
        (Once("2026-11-01T05:30:00Z"), "2026-11-01T05:30:00Z", None),
        (Cron("30 2 * * *", NEW_YORK), "2026-03-09T06:30:00Z", None),
        (Cron("0 3 * * *", NEW_YORK), "2026-03-08T07:00:00Z", None),
        (Cron("0 * * * *", NEW_YORK), "2026-03-08T07:00:00Z", None),
        (Cron("0 3 * * *", NEW_YORK, dst_gap="skip"), "2026-03-08T07:00:00Z", None),
        (Cron("30 2 * * *"), "2026-03-08T02:30:00Z", None),
    ],
)
def test_a_window_that_the_clocks_moved_has_a_note(cron, window, note):
    assert cron.latest_at_ms(ms(window)) == ms(window)
    assert dst_note(cron, ms(window)) == note
