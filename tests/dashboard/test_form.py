"""The form of a schedule: fields become a body, a schedule becomes fields, errors find their field."""

from typing import Any

import pytest

from duly.api.operations import schedules
from duly.app import Duly
from duly.dashboard.form import Wrong, _shown_timing, body_of, changes_of, place, preview_of, values_of
from tests.dashboard.bodies import BODIES


@pytest.fixture(params=[name for name in BODIES if name != "elsewhere"])
async def shown(request: pytest.FixtureRequest, app: Duly) -> dict[str, Any]:
    """A schedule as the API answers it."""
    return dict(await schedules.create_schedule(app, BODIES[request.param]))


TIMINGS: list[tuple[dict[str, str], dict[str, Any]]] = [
    (
        {"when": "cron", "cronExpression": "0 2 * * *", "dst/gap": "skip"},
        {"cronExpression": "0 2 * * *", "dst": {"gap": "skip"}},
    ),
    ({"when": "every", "everyMs": "1.5", "everyMs/unit": "hours"}, {"everyMs": 5_400_000}),
    ({"when": "every", "everyMs": "soon"}, {"everyMs": "soon"}),
    ({"when": "daily", "dailyTime": "09:05"}, {"dailyTime": {"hour": 9, "minute": 5}}),
    (
        {"when": "weekly", "weeklyTime": "09:05", "weeklyTime/dayOfWeek": "5"},
        {"weeklyTime": {"hour": 9, "minute": 5, "dayOfWeek": 5}},
    ),
    (
        {"when": "monthly", "monthlyTime": "09:05", "monthlyTime/day": "31"},
        {"monthlyTime": {"hour": 9, "minute": 5, "day": 31}},
    ),
    (
        {"when": "once", "onceAt": "2027-03-15T14:00", "onPast": "fire"},
        {"onceAt": "2027-03-15T14:00", "onPast": "fire"},
    ),
]


def body(values: dict[str, str]) -> dict[str, Any]:
    wrong = Wrong()
    made = body_of({"aimed": "report", **values}, wrong)
    assert not wrong
    return made


@pytest.mark.parametrize("values, expected", TIMINGS)
def test_each_way_to_say_when_becomes_its_field(values: dict[str, str], expected: dict[str, Any]):
    assert body(values) == {**expected, "jobType": "report"}


def test_only_the_chosen_way_counts():
    assert body({"when": "daily", "dailyTime": "09:00", "cronExpression": "* * * * *", "onPast": "fire"}) == {
        "dailyTime": {"hour": 9, "minute": 0},
        "jobType": "report",
    }


def test_numbers_lists_and_json_are_read_and_empty_fields_left_out():
    made = body(
        {
            "cronExpression": "0 2 * * *",
            "tags": "a, b c",
            "maxAttempts": "5",
            "retryPolicy/jitter": "0.5",
            "jitter/minMs": "0",
            "jitter/maxMs": "x",
            "jobPayload": '{"user": 42}',
            "timeoutSeconds": "none",
            "queue": "  ",
            "paused": "on",
        }
    )
    assert made == {
        "cronExpression": "0 2 * * *",
        "jobType": "report",
        "tags": ["a", "b", "c"],
        "maxAttempts": 5,
        "retryPolicy": {"jitter": 0.5},
        "jitter": {"minMs": 0, "maxMs": "x"},
        "jobPayload": {"user": 42},
        "timeoutSeconds": None,
        "enabled": False,
    }


@pytest.mark.parametrize(
    "values, field",
    [
        ({"jobPayload": "{"}, "jobPayload"),
        ({"jobPayload": "[" * 100_000}, "jobPayload"),
        ({"when": "daily", "dailyTime": "nine"}, "dailyTime"),
        ({"aim": "target", "aimed": "nowhere"}, "aimed"),
    ],
)
def test_what_cannot_become_a_body_is_told_beside_its_field(values: dict[str, str], field: str):
    wrong = Wrong()
    body_of(values, wrong)
    assert wrong.at(field)
    assert "expected" in wrong.at(field)[0]


@pytest.mark.parametrize("values", [{"when": "never"}, {"aim": "moon"}])
def test_a_choice_that_there_is_not_is_refused(values: dict[str, str]):
    wrong = Wrong()
    body_of(values, wrong)
    assert wrong.others


def test_an_error_finds_the_nearest_field_and_the_rest_is_told_above():
    wrong = Wrong()
    errors = [
        {"pointer": "/dailyTime/hour", "detail": "hour"},
        {"pointer": "/jobType", "detail": "job"},
        {"pointer": "/retryPolicy/delaySeconds", "detail": "delay"},
        {"pointer": "", "detail": "all of it"},
        {"detail": "nowhere"},
    ]
    place(errors, ["dailyTime", "aimed", "retryPolicy/delaySeconds"], wrong)
    assert wrong.fields == {"dailyTime": ["hour"], "aimed": ["job"], "retryPolicy/delaySeconds": ["delay"]}
    assert wrong.others == ["all of it", "nowhere"]


def test_an_edit_changes_what_was_changed_and_no_more():
    before = {"cronExpression": "0 2 * * *", "timezone": "UTC", "jobType": "a", "tags": ["x"], "timeoutSeconds": None}
    assert changes_of(before, before) == {}
    assert changes_of(before, {**before, "jobType": "b"}) == {"jobType": "b"}
    assert changes_of(before, {**before, "timezone": "Europe/Berlin"}) == {
        "timezone": "Europe/Berlin",
        "cronExpression": "0 2 * * *",
    }
    emptied = {"everyMs": 60_000, "timezone": "UTC", "jobType": "a"}
    assert changes_of(before, emptied) == {
        "cronExpression": None,
        "everyMs": 60_000,
        "tags": None,
        "timeoutSeconds": 3600,
    }


def test_a_preview_asks_for_the_timing_only():
    asked = {
        "cronExpression": "0 2 * * *",
        "jobType": "a",
        "jitter": {"minMs": 0, "maxMs": 5},
        "metadata": {"tenantId": "t"},
    }
    assert preview_of(asked) == {"cronExpression": "0 2 * * *", "jitter": {"minMs": 0, "maxMs": 5}, "tenantId": "t"}


def test_a_schedule_shown_in_a_form_and_sent_back_is_the_same(shown: dict[str, Any]):
    values = values_of(shown)
    wrong = Wrong()
    again = body_of(values, wrong)
    assert not wrong
    again.pop("onceAt", None)  # it is shown as the wall clock has it
    for name, value in again.items():
        if isinstance(value, dict) and name != "jobPayload":
            assert {inner: shown[name][inner] for inner in value} == value
        else:
            assert shown[name] == value


def test_an_instant_is_shown_as_the_wall_clock_of_its_zone_has_it():
    shown = {"scheduleType": "once", "onceAt": "2099-07-15T12:00:00Z", "timezone": "Europe/Berlin", "onPast": "reject",
             "dst": None}  # fmt: skip
    assert _shown_timing(shown)["onceAt"] == "2099-07-15T14:00:00"


def test_an_edited_target_says_what_went_so_that_the_secret_that_is_not_shown_stays() -> None:
    before = {"target": {"kind": "webhook", "url": "https://example.com/a", "format": "raw", "headers": {"x": "1"}}}
    after = {"target": {"kind": "webhook", "url": "https://example.com/b", "headers": {"y": "2"}}}
    told = {"url": "https://example.com/b", "format": None, "headers": {"x": None, "y": "2"}}
    assert changes_of(before, after) == {"target": told}
    assert changes_of(before, {"jobType": "x"}) == {"jobType": "x", "target": None}
