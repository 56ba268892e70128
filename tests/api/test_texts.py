"""Refusals in the words of the caller: each names the field that was sent, as it was sent, and what to send instead."""

import re
from typing import Any

import pytest

from duly import Duly
from duly.api.arguments import create_arguments
from duly.api.bodies import AcknowledgeManyBody, ApplyBody, CalendarBody, PatchBody, RunBody, ScheduleBody
from duly.api.bodies_control import BulkBody
from duly.api.bodies_keys import KeyBody
from duly.api.operations.schedules import check_schedule
from duly.api.problems import problem_of
from duly.api.reading import read
from duly.config import Settings
from duly.core.errors import DulyError, ValidationFailed
from duly.core.ids import KEY_EXPECTED

CRON = {"name": "x", "jobType": "x", "cronExpression": "0 2 * * *"}
INSTANT = "RFC 3339 text with an offset such as '2027-03-15T14:00:00Z'"
LOCAL = "RFC 3339 text, in `timezone` if it has no offset, such as '2027-03-15T14:00:00Z'"
TOO_LONG = "expected at most 316224000000 ms, about ten years"
OTHERWISE = "use enabled, or POST to /pause, /resume or /cancel below the schedule"
BY_THE_SERVER = "the server sets it; leave it out"


def refusal(body: dict[str, Any], kind: Any = ScheduleBody) -> tuple[str, str]:
    """The place and the words of the one thing that is wrong."""
    with pytest.raises(DulyError) as refused:
        create_arguments(read(kind, body), Settings())
    _, document = problem_of(refused.value)
    (error,) = document["errors"]
    assert document["detail"] == error["detail"]
    return error["pointer"], error["detail"]


@pytest.mark.parametrize(
    "field, value, detail",
    [
        ("everyMs", 10**18, f"everyMs is {10**18}; {TOO_LONG}"),
        ("everyMs", 500, "everyMs is 500 ms; expected at least 1000 ms"),
        ("everyMs", "60000", "everyMs is '60000'; expected a whole number, or null; send it without quotes"),
        ("intervalMinutes", 10**12, f"intervalMinutes is {10**12}; expected at most 5270400"),
        ("intervalMinutes", 0, "intervalMinutes is 0; expected at least 1"),
        ("onceAt", "2099-01-01", f"onceAt is '2099-01-01'; expected {LOCAL}"),
        ("onceAt", "2099-12-31T23:59:60Z", "onceAt is '2099-12-31T23:59:60Z'; expected a time up to 23:59:59"),
        ("onceAt", "2099-02-29T09:00", "onceAt is '2099-02-29T09:00'; expected a date that exists"),
        ("onceAt", 5, "onceAt is 5; expected RFC 3339 text such as '2027-03-15T14:00:00Z', or null"),
    ],
)
def test_a_timing_that_cannot_be(field: str, value: Any, detail: str) -> None:
    assert refusal({"name": "x", "jobType": "x", field: value}) == (f"/{field}", detail)


def test_a_day_is_a_number() -> None:
    told = "dayOfWeek is 'MON'; expected a whole number from 0 to 7; 0 and 7 are Sunday"
    weekly = {"dayOfWeek": "MON", "hour": 9, "minute": 0}
    assert refusal({"name": "x", "jobType": "x", "weeklyTime": weekly}) == ("/weeklyTime/dayOfWeek", told)


@pytest.mark.parametrize(
    "field, value, detail",
    [
        ("maxRetries", -1, "maxRetries is -1; expected a whole number from 0 to 99"),
        ("maxAttempts", 0, "maxAttempts is 0; expected a whole number from 1 to 100"),
        ("timeoutSeconds", 1e308, "timeoutSeconds is 1e+308; expected a number above 0 and up to 31536000, or null"),
        ("startAt", "2099-01-01", f"startAt is '2099-01-01'; expected {INSTANT}"),
        ("endAt", "2099-02-29T00:00:00Z", "endAt is '2099-02-29T00:00:00Z'; expected a date that exists"),
        ("endAt", 5, f"endAt is 5; expected {INSTANT}, or null"),
        (
            "onPast",
            "fire",
            "onPast is 'fire'; expected nothing here, since it does not go with cronExpression; leave it out",
        ),
        (
            "afterCompletion",
            True,
            "afterCompletion is true; expected nothing here, since it does not go with cronExpression; leave it out",
        ),
        ("status", "active", f"status cannot be given here: {OTHERWISE}"),
        ("id", "x", f"id cannot be given here: {BY_THE_SERVER}"),
        ("nextFireAt", "x", f"nextFireAt cannot be given here: {BY_THE_SERVER}"),
        ("cron", "x", "'cron' is not known here; did you mean cronExpression?"),
        ("colour", "x", "'colour' is not known here; leave it out"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be(field: str, value: Any, detail: str) -> None:
    assert refusal(CRON | {field: value}) == (f"/{field}", detail)


def test_a_name_that_was_made_up_is_only_a_name() -> None:
    assert refusal(CRON | {"\\U\\1": 1})[0] == "/\\U\\1"


def test_a_place_inside_an_object() -> None:
    assert refusal(CRON | {"dst": {"gap": "x"}}) == ("/dst/gap", "gap is 'x'; expected fire_after | skip")
    told = "dst.gap is 'skip'; expected nothing here, since it does not go with everyMs; leave it out"
    assert refusal({"name": "x", "jobType": "x", "everyMs": 5000, "dst": {"gap": "skip"}}) == ("/dst/gap", told)


def test_a_key_cannot_be_changed() -> None:
    told = "key cannot be changed here: PUT makes a schedule of another key, DELETE removes this one"
    assert refusal({"key": "other"}, PatchBody) == ("/key", told)


def test_when_a_run_is_due_is_text() -> None:
    assert refusal({"jobType": "x", "runAt": 5}, RunBody) == ("/runAt", f"runAt is 5; expected {INSTANT}, or null")


LONG = "'" + "k" * 55 + "..."


@pytest.mark.parametrize(
    "kind, body, detail",
    [
        (ScheduleBody, CRON | {"key": "k" * 201}, f"key is {LONG}; expected {KEY_EXPECTED}, or null"),
        (
            ScheduleBody,
            CRON | {"calendars": ["k" * 201]},
            f"calendars[0] is {LONG}; expected the name of a calendar: {KEY_EXPECTED}",
        ),
        (
            ScheduleBody,
            CRON | {"excludeDates": ["2027-01-011"]},
            "excludeDates[0] is '2027-01-011'; expected a date such as 2026-12-25",
        ),
        (
            ScheduleBody,
            CRON | {"description": "k" * 10_001},
            f"description is {LONG}; expected text of at most 10000 characters, or null",
        ),
        (ScheduleBody, CRON | {"tags": ["a"] * 51}, "tags is a list of 51; expected a list of at most 50, or null"),
        (
            ApplyBody,
            {"schedules": [], "set": "k" * 101},
            f"set is {LONG}; expected 1 to 100 of A-Z a-z 0-9 . _ - starting with a letter or a digit, or null",
        ),
        (CalendarBody, {"yearly": ["12-255"]}, "yearly[0] is '12-255'; expected a month and a day, such as 12-25"),
        (
            CalendarBody,
            {"ranges": [{"from": "2027-01-02x", "to": "2027-01-03"}]},
            "from is '2027-01-02x'; expected a date such as 2026-12-25",
        ),
        (AcknowledgeManyBody, {"ids": ["k" * 37]}, f"ids[0] is '{'k' * 37}'; expected the id of a run"),
        (
            BulkBody,
            {"action": "pause", "ids": ["k" * 201]},
            f"ids[0] is {LONG}; expected the id or the key of a schedule",
        ),
        (BulkBody, {"action": "pause", "ids": []}, "ids is an empty list; expected a list of 1 to 1000"),
        (KeyBody, {"name": "ci", "scopes": []}, "scopes is an empty list; expected a list of 1 to 5"),
    ],
)
def test_a_bound_is_told_as_it_is(kind: Any, body: dict[str, Any], detail: str) -> None:
    assert refusal(body, kind)[1] == detail


@pytest.mark.parametrize(
    "given, zone",
    [
        ("9999-12-31T23:59:59Z", "UTC"),
        ("9999-01-01T00:00:00Z", "Asia/Kolkata"),
        ("9999-12-31T23:59:59", "UTC"),
        ("9999-12-31T23:59:59", "America/New_York"),
        ("0001-01-01T00:00:00", "Asia/Kolkata"),
        ("10000-01-01T00:00:00Z", "UTC"),
    ],
)
async def test_a_far_instant_is_told_by_its_name(given: str, zone: str) -> None:
    once = {"name": "x", "jobType": "x", "onPast": "fire", "onceAt": given, "timezone": zone}
    with pytest.raises(ValidationFailed) as refused:
        await check_schedule(Duly("sqlite:///never-opened.db"), once)
    (error,) = problem_of(refused.value)[1]["errors"]
    assert error["pointer"] == "/onceAt"
    expected = "(an instant from 1970|an instant within|RFC 3339)"
    assert re.match(rf"onceAt is '?\d{{4,5}}-\d\d-\d\dT\S+; expected {expected}", error["detail"])
