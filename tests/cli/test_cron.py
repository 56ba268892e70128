"""``duly cron``: when an expression fires, and what it means."""

import json

import pytest

from tests.acceptance.rules import rule
from tests.cli.conftest import Duly
from tests.core.timing.changes import ms

AFTER = ("--after", "2027-03-26T00:00:00Z")


def test_next_lists_windows_in_the_zone_and_in_utc(duly: Duly) -> None:
    done = duly("cron", "next", "0 9 * * 1", "--timezone", "Asia/Kolkata", "--count", "2", *AFTER)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["LOCAL", "TIME", "UTC", "FROM", "NOW"]
    assert lines[1].startswith("2027-03-29 09:00 +05:30  2027-03-29T03:30:00Z")
    assert lines[2].startswith("2027-04-05 09:00 +05:30  2027-04-05T03:30:00Z")
    assert len(lines) == 3
    assert done.stderr == ""


def test_next_says_what_a_clock_change_does_to_a_window(duly: Duly) -> None:
    done = duly("cron", "next", "30 2 * * *", "-z", "Europe/Berlin", "-n", "3", *AFTER)
    assert "02:30 does not exist that day (clocks go forward); fires at 03:00" in done.stdout


def test_next_takes_the_dst_knobs(duly: Duly) -> None:
    skipped = duly("cron", "next", "30 2 * * *", "-z", "Europe/Berlin", "-n", "3", "--dst-gap", "skip", *AFTER)
    assert "2027-03-28" not in skipped.stdout


def test_next_counts_from_a_local_time_of_the_zone(duly: Duly) -> None:
    done = duly(
        "cron", "next", "0 9 * * *", "-z", "Asia/Kolkata", "-n", "1", "--after", "2027-03-26T08:59", "-o", "name"
    )
    assert done.stdout == "2027-03-26T03:30:00Z\n"


def test_prev_lists_the_newest_first_and_counts_the_instant_itself(duly: Duly) -> None:
    done = duly("cron", "prev", "0 9 * * *", "-n", "2", "--before", "2027-03-26T09:00:00Z", "-o", "name")
    assert done.stdout.split() == ["2027-03-26T09:00:00Z", "2027-03-25T09:00:00Z"]


def test_json_is_what_a_preview_answers(duly: Duly) -> None:
    done = duly("cron", "next", "0 9 * * *", "-n", "1", *AFTER, "-o", "json")
    (item,) = json.loads(done.stdout)["items"]
    assert item == {
        "windowAt": "2027-03-26T09:00:00Z",
        "fireAt": "2027-03-26T09:00:00Z",
        "localTime": "2027-03-26T09:00:00+00:00",
        "note": None,
    }


def test_explain_says_it_in_words_with_the_changes_of_the_coming_year(duly: Duly) -> None:
    done = duly("cron", "explain", "30 2 * * *", "--timezone", "Europe/Berlin")
    assert "At 02:30 every day, Europe/Berlin." in done.stdout
    assert "clocks go forward" in done.stdout
    assert "clocks go back" in done.stdout


@pytest.mark.parametrize(
    "expression, zone, now, change",
    [
        ("0 1 * * *", "Antarctica/Troll", "2027-06-01T00:00:00Z", "01:00 comes twice that day"),  # by two hours
        ("59 2 * * *", "Antarctica/Troll", "2027-06-01T00:00:00Z", "02:59 comes twice that day"),
        ("0 1 * * *", "Antarctica/Troll", "2027-01-01T00:00:00Z", "01:00 does not exist that day"),
        ("30 1 * * *", "Australia/Lord_Howe", "2027-01-01T00:00:00Z", "01:30 comes twice that day"),  # by half an hour
        ("0 7 * * *", "Pacific/Apia", "2011-06-01T00:00:00Z", "07:00 on 2011-12-30 does not exist"),  # by a day
        ("1 3 * * *", "Pacific/Kwajalein", "1969-06-01T00:00:00Z", "03:01 comes twice that day"),  # by 23 hours
    ],
)
def test_explain_knows_changes_of_any_length(
    duly: Duly, monkeypatch: pytest.MonkeyPatch, expression: str, zone: str, now: str, change: str
) -> None:
    monkeypatch.setattr("duly.cli.cron.system_now", lambda: ms(now))
    done = duly("cron", "explain", expression, "--timezone", zone)
    assert change in done.stdout


def test_explain_of_a_dense_expression_stays_short(duly: Duly) -> None:
    done = duly("cron", "explain", "* * * * * *", "--timezone", "Europe/Berlin")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) < 12


def test_explain_answers_the_sentence_alone_by_name(duly: Duly) -> None:
    assert duly("cron", "explain", "*/5 * * * *", "-o", "name").stdout == "Every 5 minutes.\n"


@rule("S1.28")
@pytest.mark.parametrize(
    "arguments, told",
    [
        (["0 25 * * *"], "cron field 'hour' is '25'; expected 0-23"),
        (["0 9 * *"], "cron"),
        (["0 9 * * *", "-z", "europe/berlin"], "did you mean 'Europe/Berlin'?"),
        (["0 9 * * *", "--after", "tomorrow"], "--after: instant is 'tomorrow'"),
        (["0", "9", "*", "*", "*"], "quote it"),
        (["0 9 * * *", "--count", "0"], "--count"),
    ],
)
def test_a_bad_value_is_one_line_and_exit_code_2(duly: Duly, arguments: list[str], told: str) -> None:
    done = duly("cron", "next", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("duly: ")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) <= 2
