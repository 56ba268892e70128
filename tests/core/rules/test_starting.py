"""The first cursor: where a schedule's life begins."""

from __future__ import annotations

import pytest

from duly.core.errors import MomentInPast, ValidationFailed
from duly.core.policy import CatchUp, Missed
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Cron, Every, Jitter, Once
from tests.core.rules.making import DAY, HOUR, MINUTE, SECOND, T0, created, define, fire, windows_of


@pytest.mark.parametrize(
    "timing, fields, now, first",
    [
        (Cron("* * * * *"), {}, T0, T0 + MINUTE),
        (Cron("* * * * *"), {}, T0 - 1, T0),
        (Every("10m"), {"start_at": T0}, T0, T0),
        (Every("10m"), {"start_at": T0 + 10 * MINUTE}, T0, T0 + 10 * MINUTE),
        (Every("10m"), {"start_at": T0 + 1}, T0, T0 + 10 * MINUTE),
        (Every("10m"), {"start_at": T0 - HOUR}, T0, T0 + 10 * MINUTE),
        (Every("10m"), {"end_at": T0 + 10 * MINUTE}, T0, T0 + 10 * MINUTE),
        (Every("10m", anchor="start").anchored_at(T0 + 5), {}, T0 + 5, T0 + 10 * MINUTE + 5),
        (Every("10m", anchor="start").anchored_at(T0 + 5), {"start_at": T0 + 5}, T0, T0 + 5),
        (Every("10m", after_completion=True), {}, T0 + 5, T0 + 10 * MINUTE + 5),
        (Every("10m", after_completion=True), {"start_at": T0 + HOUR}, T0, T0 + HOUR + 10 * MINUTE),
        (Once.at_instant(T0 + 1), {}, T0, T0 + 1),
    ],
)
def test_windows_count_from_creation_or_the_start(timing, fields, now, first):
    cursor = created(define(timing, **fields), now)
    assert (cursor.next_window_at, cursor.fire_at) == (first, first)
    assert (cursor.status, cursor.window_at, cursor.slot) == (ScheduleStatus.PENDING, None, 7)


def test_c6_a_nightly_job_created_in_the_morning_waits_for_the_night():
    five = T0 - 7 * HOUR
    definition = define(Cron("0 2 * * *"))
    cursor = created(definition, five)
    assert cursor.next_window_at == five + 21 * HOUR
    assert not fire(cursor, definition, five + HOUR).runs


def test_c7_a_one_shot_in_the_past_is_refused():
    with pytest.raises(MomentInPast):
        created(define(Once.at_instant(T0)))


def test_c7_a_one_shot_in_the_past_fires_at_once_when_it_may_however_old_it_is():
    definition = define(Once.at_instant(T0 - 30 * DAY, on_past="fire"), catch_up=CatchUp(Missed.SKIP))
    cursor = created(definition)
    assert (cursor.next_window_at, cursor.fire_at) == (T0 - 30 * DAY, T0)
    made = fire(cursor, definition, T0 + HOUR)
    assert windows_of(made) == [T0 - 30 * DAY]
    assert made.runs[0].due_at == T0


@pytest.mark.parametrize(
    "fields, now, first",
    [
        ({}, T0 + 5, T0),
        ({"start_at": T0}, T0 + 5, T0),
        ({"start_at": T0 + 1}, T0 + 5, T0 + HOUR),
        ({"start_at": T0 + 2 * HOUR}, T0 + 5, T0 + 2 * HOUR),
    ],
)
def test_fire_current_window_begins_with_the_window_that_is_on(fields, now, first):
    cursor = created(define(Cron("0 * * * *"), fire_current_window=True, **fields), now)
    assert (cursor.next_window_at, cursor.fire_at) == (first, max(now, first))


def test_the_current_window_fires_however_old_it_is_and_the_next_on_time():
    definition = define(Cron("0 0 1 1 *"), fire_current_window=True)
    cursor = created(definition, T0)
    made = fire(cursor, definition, T0 + 20 * SECOND)
    assert windows_of(made) == [T0 - 4 * DAY - 12 * HOUR]
    assert made.cursor.next_window_at == T0 + 360 * DAY + 12 * HOUR
    assert not fire(made.cursor, definition, T0 + 21 * SECOND).runs


def test_the_current_window_waits_for_its_jitter():
    definition = define(Cron("0 * * * *"), fire_current_window=True, jitter=Jitter(10 * MINUTE, 10 * MINUTE))
    assert created(definition, T0 + MINUTE).fire_at == T0 + 10 * MINUTE
    assert created(definition, T0 + HOUR - 1).fire_at == T0 + HOUR - 1


def test_a_paused_schedule_knows_its_next_window_but_does_not_fire():
    cursor = created(define(), paused=True)
    assert (cursor.next_window_at, cursor.fire_at) == (T0 + MINUTE, None)


@pytest.mark.parametrize(
    "timing, fields",
    [
        (Cron("* * * * *"), {"end_at": T0 + MINUTE - 1}),
        (Cron("* * * * *"), {"end_at": T0 - DAY, "fire_current_window": True}),
        (Cron("0 0 29 2 *"), {"end_at": T0 + 365 * DAY}),
        (Once.at_instant(T0 + HOUR), {"end_at": T0 + MINUTE}),
        (Once.at_instant(T0 + HOUR), {"start_at": T0 + 2 * HOUR}),
        (Every("1h", after_completion=True), {"end_at": T0 + MINUTE}),
    ],
)
def test_a_schedule_without_any_window_is_refused_in_words(timing, fields):
    with pytest.raises(ValidationFailed, match="'k': its timing has no window"):
        created(define(timing, **fields))


def test_the_fire_instant_is_jittered_below_the_next_window():
    definition = define(jitter=Jitter(10 * SECOND, 10 * MINUTE))
    cursor = created(definition)
    assert cursor.next_window_at == T0 + MINUTE
    assert cursor.fire_at == definition.fire_at(T0 + MINUTE, T0 + 2 * MINUTE)
    assert T0 + MINUTE + 10 * SECOND <= cursor.fire_at < T0 + 2 * MINUTE
