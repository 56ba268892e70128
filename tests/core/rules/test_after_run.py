"""What the end of a run does to its schedule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duly.core.rules.settling import PauseRequest, after_run
from duly.core.run import RunKind, RunStatus
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Every, Jitter, Once
from tests.core.rules.making import DAY, MINUTE, T0, created, cursor_at, define, fire

COMPLETED, FAILED, CANCELLED = RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED


def ended(cursor, definition, status=COMPLETED, **options: Any):
    given: dict[str, Any] = {"kind": RunKind.WINDOW, "still_open": 0, "now": T0 + 500}
    return after_run(cursor, definition, status=status, **given | options)


def fired(definition):
    return fire(created(definition, T0 - DAY), definition, T0).cursor


@pytest.mark.parametrize("status", [COMPLETED, FAILED, CANCELLED])
def test_a_recurring_schedule_goes_on_whatever_became_of_a_run(status):
    cursor, asked = ended(cursor_at(T0), define(), status)
    assert (cursor.fire_at, cursor.next_window_at, cursor.status) == (T0, T0, ScheduleStatus.PENDING)
    assert asked is None


@pytest.mark.parametrize("status", [COMPLETED, FAILED, CANCELLED])
def test_a_one_shot_ends_as_its_run_does(status):
    definition = define(Once.at_instant(T0))
    cursor = fired(definition)
    assert cursor.status is ScheduleStatus.ACTIVE
    assert ended(cursor, definition, status)[0].status.value == status.value


def test_a_manual_run_does_not_end_a_one_shot_whose_own_run_is_still_to_end():
    definition = define(Once.at_instant(T0))
    cursor = fired(definition)
    assert ended(cursor, definition, kind=RunKind.MANUAL, still_open=1)[0] is cursor


def test_a_manual_run_that_has_superseded_the_window_s_ends_the_one_shot():
    definition = define(Once.at_instant(T0))
    assert ended(fired(definition), definition, FAILED, kind=RunKind.MANUAL)[0].status is ScheduleStatus.FAILED


def test_a_manual_run_before_its_moment_does_not_end_a_one_shot():
    definition = define(Once.at_instant(T0))
    cursor = created(definition, T0 - DAY)
    assert ended(cursor, definition, kind=RunKind.MANUAL)[0] is cursor


def test_a_one_shot_with_another_moment_to_come_goes_on():
    cursor = cursor_at(T0 + DAY, status=ScheduleStatus.ACTIVE)
    assert ended(cursor, define(Once.at_instant(T0 + DAY)))[0] is cursor


@pytest.mark.parametrize("status", [COMPLETED, FAILED, CANCELLED])
def test_an_interval_after_completion_counts_from_the_end_of_the_run(status):
    definition = define(Every("10m", after_completion=True))
    cursor, _ = ended(fired(replace(definition, start_at=T0 - 10 * MINUTE)), definition, status)
    assert cursor.next_window_at == cursor.fire_at == T0 + 500 + 10 * MINUTE


@pytest.mark.parametrize(
    "fields, options, expected",
    [
        ({"jitter": Jitter(10, 10)}, {}, (T0 + 500 + MINUTE, T0 + 510 + MINUTE, "active")),
        ({}, {"paused": True}, (T0 + 500 + MINUTE, None, "active")),
        ({"end_at": T0 + MINUTE}, {}, (None, None, "completed")),
        ({"max_runs": 4}, {}, (None, None, "completed")),
        ({"max_runs": 5}, {}, (T0 + 500 + MINUTE, T0 + 500 + MINUTE, "active")),
        ({}, {"kind": RunKind.MANUAL, "still_open": 1}, (None, None, "active")),
        ({}, {"kind": RunKind.MANUAL, "still_open": 0}, (T0 + 500 + MINUTE, T0 + 500 + MINUTE, "active")),
        ({}, {"now": T0 - DAY}, (T0 + MINUTE, T0 + MINUTE, "active")),
    ],
)
def test_the_next_window_after_a_completion(fields, options, expected):
    waiting = cursor_at(T0, window_at=T0, fire_at=None, status=ScheduleStatus.ACTIVE, fired=4)
    cursor, _ = ended(
        replace(waiting, next_window_at=None), define(Every("1m", after_completion=True), **fields), **options
    )
    assert (cursor.next_window_at, cursor.fire_at, cursor.status) == expected


def test_failures_in_a_row_are_counted_and_pause_the_schedule():
    definition = define(pause_after_failures=3)
    cursor, asked = cursor_at(T0), None
    for status, failures in [(FAILED, 1), (FAILED, 2), (COMPLETED, 0), (FAILED, 1), (CANCELLED, 1), (FAILED, 2)]:
        cursor, asked = ended(cursor, definition, status)
        assert (cursor.failures, asked) == (failures, None)
    cursor, asked = ended(cursor, definition, FAILED)
    assert asked == PauseRequest("paused after 3 failed runs in a row")
    assert (cursor.failures, cursor.fire_at, cursor.next_window_at) == (3, None, T0)


def test_the_end_of_a_run_leaves_an_ended_schedule_alone():
    cursor = cursor_at(T0, fire_at=None, status=ScheduleStatus.CANCELLED)
    assert ended(cursor, define(pause_after_failures=1), FAILED) == (cursor, None)
