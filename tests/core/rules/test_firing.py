"""Which windows become runs: the tables of the fire."""

from __future__ import annotations

from datetime import timedelta

import pytest

from duly.core.ids import window_run_id
from duly.core.policy import CatchUp, Missed, Overlap, Retry
from duly.core.rules.firing import FireRules
from duly.core.run import Hold, RunKind
from duly.core.schedule import ScheduleStatus, Target, TargetKind
from duly.core.timing import Cron, Every, Jitter, Once
from tests.acceptance.rules import rule
from tests.core.rules.making import (
    DAY,
    EVERY_SECOND,
    HOUR,
    MINUTE,
    SCHEDULE_ID,
    SECOND,
    T0,
    claimed,
    created,
    cursor_at,
    define,
    fire,
    ready,
    skips_of,
    windows_of,
)

SKIP, LATEST, ALL = Missed.SKIP, Missed.LATEST, Missed.ALL


def test_a2_fifty_ticks_inside_one_window_make_one_run():
    definition = define(EVERY_SECOND)
    cursor = created(definition, T0 - 1)
    fired = []
    for tick in range(50):
        made = fire(cursor, definition, T0 + tick * 19)
        fired += windows_of(made)
        cursor = made.cursor
    assert fired == [T0]
    assert windows_of(fire(cursor, definition, T0 + SECOND)) == [T0 + SECOND]


@pytest.mark.parametrize("parked", [{"fire_at": None}, {"fire_at": None, "status": ScheduleStatus.CANCELLED}])
def test_a8_a_parked_cursor_never_fires_though_its_window_has_come(parked):
    cursor = cursor_at(T0, **parked)
    made = fire(cursor, define(), T0 + HOUR)
    assert made.cursor is cursor
    assert (made.runs, made.skips, made.cancel_running, made.cancel_waiting) == ([], [], [], [])


@rule("A12")
def test_a12_a_cursor_that_points_at_a_used_window_moves_on():
    cursor = cursor_at(T0, window_at=T0 + 2 * MINUTE)
    made = fire(cursor, define(), T0 + 2 * MINUTE)
    assert not made.runs
    assert made.cursor.next_window_at == made.cursor.fire_at == T0 + 3 * MINUTE
    assert windows_of(fire(cursor, define(), T0 + 3 * MINUTE)) == [T0 + 3 * MINUTE]


def test_a12_a_used_last_window_ends_the_schedule():
    made = fire(cursor_at(T0, window_at=T0), define(end_at=T0 + 1), T0 + 1)
    assert made.cursor.status is ScheduleStatus.COMPLETED
    assert made.cursor.fire_at is None


def test_a_run_carries_all_that_a_store_writes():
    definition = define(retry=Retry(max_attempts=5), queue="q", priority=4, timeout_ms=9, overlap=Overlap.QUEUE)
    made = fire(cursor_at(T0, revision=3, slot=8, fired=6), definition, T0 + 5, tenant="acme")
    (run,) = made.runs
    assert run.id == window_run_id(SCHEDULE_ID, T0)
    assert (run.job, run.kind, run.window_at, run.due_at, run.fired_at) == ("job", RunKind.WINDOW, T0, T0, T0 + 5)
    assert (run.schedule_id, run.revision, run.tenant, run.slot) == (SCHEDULE_ID, 3, "acme", 8)
    assert (run.queue, run.priority, run.max_attempts, run.timeout_ms) == ("q", 4, 5, 9)
    assert (run.hold, run.lane, run.payload) == (Hold.NONE, SCHEDULE_ID, None)
    cursor = made.cursor
    assert (cursor.window_at, cursor.next_window_at, cursor.fire_at) == (T0, T0 + MINUTE, T0 + MINUTE)
    assert (cursor.status, cursor.fired, cursor.last_fired_at) == (ScheduleStatus.ACTIVE, 7, T0 + 5)
    assert (cursor.revision, cursor.slot) == (3, 8)


@pytest.mark.parametrize(
    "fields, lane",
    [
        ({}, None),
        ({"overlap": Overlap.ALLOW}, None),
        ({"overlap": Overlap.ALLOW, "max_concurrent": 2}, SCHEDULE_ID),
        ({"overlap": Overlap.CANCEL_PREVIOUS}, SCHEDULE_ID),
        ({"catch_up": CatchUp(ALL)}, SCHEDULE_ID),
    ],
)
def test_a_run_is_in_a_lane_where_runs_may_have_to_wait(fields, lane):
    definition = define(**fields)
    (run,) = fire(cursor_at(T0), definition, T0).runs
    assert run.lane == lane
    assert definition.uses_lane == (lane is not None)


def test_defaults_come_from_the_rules_and_outside_targets_from_their_kind():
    made = fire(cursor_at(T0), define(), T0, rules=FireRules(default_max_attempts=9))
    assert made.runs[0].max_attempts == 9
    definition = define()
    topic = type(definition)(key="k", timing=definition.timing, target=Target(TargetKind.TOPIC, "a.b"))
    assert fire(cursor_at(T0), topic, T0).runs[0].job == "topic:a.b"


def test_nothing_due_sets_only_the_fire_instant_right():
    cursor = cursor_at(T0, fire_at=T0 - 5 * MINUTE, error="boom")
    made = fire(cursor, define(), T0 - 1)
    assert (made.runs, made.skips) == ([], [])
    assert made.cursor.fire_at == T0
    assert fire(made.cursor, define(), T0 - 1).cursor is made.cursor


def test_a_fire_clears_the_error_and_sees_a_window_set_aside_as_late_as_it_is():
    cursor = cursor_at(T0, fire_at=T0 + 10 * MINUTE, error="boom")
    made = fire(cursor, define(catch_up=CatchUp(SKIP)), T0 + 10 * MINUTE)
    assert windows_of(made) == [T0 + 10 * MINUTE]
    assert skips_of(made) == [("missed", T0, T0 + 9 * MINUTE, 10)]
    assert made.cursor.error is None


@pytest.mark.parametrize("late, fires", [(0, True), (9_999, True), (10_000, False)])
def test_less_than_the_grace_late_is_due_not_missed(late, fires):
    made = fire(cursor_at(T0), define(catch_up=CatchUp(SKIP)), T0 + late)
    assert windows_of(made) == ([T0] if fires else [])


def test_each_due_window_fires_when_runs_may_overlap():
    definition = define(EVERY_SECOND, overlap=Overlap.ALLOW)
    made = fire(cursor_at(T0), definition, T0 + 3_500)
    assert windows_of(made) == [T0, T0 + SECOND, T0 + 2 * SECOND, T0 + 3 * SECOND]
    assert all(run.hold == Hold.NONE for run in made.runs)
    assert made.cursor.window_at == T0 + 3 * SECOND


C1 = T0 + 10 * MINUTE - 30 * SECOND  # ten minutes' windows were missed, none is due


@pytest.mark.parametrize(
    "policy, fired, dropped",
    [
        (SKIP, [], [("missed", T0, T0 + 9 * MINUTE, 10)]),
        (LATEST, [T0 + 9 * MINUTE], [("missed", T0, T0 + 8 * MINUTE, 9)]),
        (ALL, [T0 + n * MINUTE for n in range(10)], []),
    ],
)
@pytest.mark.parametrize("overlap", list(Overlap))
def test_c1_ten_minutes_down(policy, fired, dropped, overlap):
    definition = define(catch_up=CatchUp(policy), overlap=overlap)
    made = fire(cursor_at(T0), definition, C1)
    assert windows_of(made) == fired
    assert skips_of(made) == dropped
    assert made.cursor.window_at == T0 + 9 * MINUTE
    assert made.cursor.next_window_at == T0 + 10 * MINUTE
    assert [run.hold for run in made.runs] == [Hold.NONE, *[Hold.LANE] * 9][: len(fired)]
    assert not fire(made.cursor, definition, C1).runs


def test_a_skipped_row_is_named_after_its_newest_window():
    (row,) = fire(cursor_at(T0, revision=4), define(catch_up=CatchUp(SKIP), queue="q"), C1).skips
    assert row.id == window_run_id(SCHEDULE_ID, T0 + 9 * MINUTE)
    assert (row.schedule_id, row.revision, row.job, row.queue, row.fired_at) == (SCHEDULE_ID, 4, "job", "q", C1)


def test_c2_all_with_four_runs_takes_the_newest_four_oldest_first():
    now = T0 + 23 * HOUR + 30 * SECOND
    made = fire(cursor_at(T0), define(catch_up=CatchUp(ALL, max_runs=4)), now)
    assert windows_of(made) == [T0 + 23 * HOUR - n * MINUTE for n in (3, 2, 1, 0)]
    assert skips_of(made) == [("missed", T0, T0 + 23 * HOUR - 4 * MINUTE, 23 * 60 - 3)]


@pytest.mark.parametrize("policy, fired", [(SKIP, 0), (LATEST, 1), (ALL, 5)])
def test_c5_a_missed_window_older_than_max_lateness_is_reported_not_fired(policy, fired):
    definition = define(Every("1h"), catch_up=CatchUp(policy, max_lateness=timedelta(hours=5)))
    now = T0 + 2 * DAY + 30 * MINUTE
    made = fire(cursor_at(T0), definition, now)
    assert len(made.runs) == fired
    assert skips_of(made)[0] == ("too_late", T0, now - 5 * HOUR - 30 * MINUTE, 44)
    assert sum(row.windows for row in made.skips) + fired == 49


def test_c5_all_too_late_leaves_one_row():
    made = fire(cursor_at(T0), define(Cron("0 12 * * *")), T0 + DAY - 1)
    assert windows_of(made) == [T0]
    weekly = define(Cron("0 12 * * 1"), catch_up=CatchUp(max_lateness=timedelta(hours=24)))
    made = fire(cursor_at(T0), weekly, T0 + 2 * DAY)
    assert (windows_of(made), skips_of(made)) == ([], [("too_late", T0, T0, 1)])
    assert made.cursor.next_window_at == T0 + 7 * DAY
    assert made.cursor.status is ScheduleStatus.PENDING


@pytest.mark.parametrize("late", [25 * HOUR, 6 * DAY])
def test_latest_has_no_age_limit_by_default(late):
    made = fire(cursor_at(T0), define(Cron("0 12 * * 1")), T0 + late)
    assert (windows_of(made), made.skips) == ([T0], [])


def test_all_has_no_age_limit_by_default():
    made = fire(cursor_at(T0), define(Every("1h"), catch_up=CatchUp(ALL)), T0 + 30 * HOUR)
    assert windows_of(made) == [T0 + n * HOUR for n in range(31)]


def test_max_lateness_counts_to_the_millisecond():
    definition = define(Every("1h"), catch_up=CatchUp(LATEST, max_lateness=timedelta(minutes=30)))
    assert windows_of(fire(cursor_at(T0), definition, T0 + 30 * MINUTE)) == [T0]
    assert skips_of(fire(cursor_at(T0), definition, T0 + 30 * MINUTE + 1)) == [("too_late", T0, T0, 1)]
    definition = define(Every("10m"), overlap=Overlap.ALLOW, catch_up=CatchUp(ALL, max_lateness=timedelta(minutes=30)))
    made = fire(cursor_at(T0), definition, T0 + 40 * MINUTE)
    assert skips_of(made) == [("too_late", T0, T0, 1)]
    assert windows_of(made) == [T0 + late * MINUTE for late in (10, 20, 30, 40)], "the second is just not too late"


@pytest.mark.parametrize(
    "catch_up, late, fired, status, error",
    [
        (CatchUp(LATEST), 2 * HOUR, 1, ScheduleStatus.ACTIVE, None),
        (CatchUp(ALL), 2 * HOUR, 1, ScheduleStatus.ACTIVE, None),
        (CatchUp(LATEST), 400 * DAY, 1, ScheduleStatus.ACTIVE, None),
        (CatchUp(LATEST, timedelta(hours=24)), 25 * HOUR, 0, ScheduleStatus.FAILED, "too_late"),
        (CatchUp(SKIP), 2 * HOUR, 0, ScheduleStatus.FAILED, "missed"),
        (CatchUp(SKIP), SECOND, 1, ScheduleStatus.ACTIVE, None),
    ],
)
def test_c7_a_one_shot_due_during_downtime(catch_up, late, fired, status, error):
    definition = define(Once.at_instant(T0), catch_up=catch_up)
    made = fire(created(definition, T0 - HOUR), definition, T0 + late)
    assert (len(made.runs), len(made.skips), made.cursor.fired) == (fired, 1 - fired, fired)
    assert (made.cursor.next_window_at, made.cursor.fire_at, made.cursor.status) == (None, None, status)
    if error is None:
        assert made.cursor.error is None
    else:
        assert (made.cursor.error or "").startswith(f"skipped ({error}): ")


@pytest.mark.parametrize(
    "overlap, fired, missed",
    [
        (Overlap.SKIP, [10], 10),
        (Overlap.CANCEL_PREVIOUS, [10], 10),
        (Overlap.QUEUE, [9, 10], 9),
        (Overlap.ALLOW, [9, 10], 9),
    ],
)
def test_a_due_window_is_the_catch_up_where_runs_may_not_overlap(overlap, fired, missed):
    made = fire(cursor_at(T0), define(overlap=overlap), T0 + 10 * MINUTE)
    assert windows_of(made) == [T0 + n * MINUTE for n in fired]
    assert skips_of(made) == [("missed", T0, T0 + (missed - 1) * MINUTE, missed)]


@pytest.mark.parametrize(
    "overlap, hold",
    [
        (Overlap.SKIP, Hold.LANE),
        (Overlap.QUEUE, Hold.LANE),
        (Overlap.CANCEL_PREVIOUS, Hold.LANE),
        (Overlap.ALLOW, Hold.NONE),
    ],
)
def test_with_all_missed_windows_wait_in_line_and_a_due_one_is_not_lost_to_them(overlap, hold):
    made = fire(cursor_at(T0), define(overlap=overlap, catch_up=CatchUp(ALL)), T0 + 3 * MINUTE)
    assert windows_of(made) == [T0, T0 + MINUTE, T0 + 2 * MINUTE, T0 + 3 * MINUTE]
    assert [run.hold for run in made.runs] == [Hold.NONE, Hold.LANE, Hold.LANE, hold]
    assert made.skips == []


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE])
def test_with_all_due_windows_in_line_are_the_newest_of_max_runs(overlap):
    definition = define(overlap=overlap, catch_up=CatchUp(ALL, max_runs=4))
    made = fire(cursor_at(T0), definition, T0 + HOUR)
    assert windows_of(made) == [T0 + n * MINUTE for n in (57, 58, 59, 60)]
    assert skips_of(made) == [("missed", T0, T0 + 56 * MINUTE, 57)]


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE])
def test_with_all_no_due_window_is_dropped_however_few_may_be_caught_up(overlap):
    definition = define(EVERY_SECOND, overlap=overlap, catch_up=CatchUp(ALL, max_runs=4))
    made = fire(cursor_at(T0), definition, T0 + MINUTE)
    assert windows_of(made) == [T0 + n * SECOND for n in range(51, 61)]
    assert [run.hold for run in made.runs] == [Hold.NONE] + [Hold.LANE] * 9
    assert skips_of(made) == [("missed", T0, T0 + 50 * SECOND, 51)]


def test_with_all_windows_that_are_only_late_run_one_after_another():
    made = fire(cursor_at(T0), define(EVERY_SECOND, catch_up=CatchUp(ALL)), T0 + 3 * SECOND)
    assert windows_of(made) == [T0 + n * SECOND for n in range(4)]
    assert [run.hold for run in made.runs] == [Hold.NONE, Hold.LANE, Hold.LANE, Hold.LANE]


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE])
def test_with_all_a_due_window_that_the_batch_had_no_room_for_stays_in_line(overlap):
    definition = define(EVERY_SECOND, overlap=overlap, catch_up=CatchUp(ALL))
    first = fire(cursor_at(T0), definition, T0 + 15 * SECOND, budget=6)
    then = fire(first.cursor, definition, T0 + 15 * SECOND + 5, *(run.opened() for run in first.runs))
    assert windows_of(first) + windows_of(then) == [T0 + n * SECOND for n in range(16)]
    assert {run.hold for run in then.runs} == {Hold.LANE}


@pytest.mark.parametrize("overlap, reason", [(Overlap.SKIP, "overlap"), (Overlap.QUEUE, "queue_full")])
def test_with_all_a_window_that_comes_while_others_are_caught_up_obeys_overlap(overlap, reason):
    definition = define(overlap=overlap, max_queued=1, catch_up=CatchUp(ALL))
    first = fire(cursor_at(T0), definition, T0 + 3 * MINUTE)
    then = fire(first.cursor, definition, T0 + 4 * MINUTE, *(run.opened() for run in first.runs))
    assert then.runs == []
    assert skips_of(then) == [(reason, T0 + 4 * MINUTE, T0 + 4 * MINUTE, 1)]


def test_with_all_a_due_window_waits_for_no_run_that_fired_before_it_came():
    """What is still at work since then overlaps it, as on any other day; so does what somebody triggered."""
    definition = define(catch_up=CatchUp(ALL))
    long = claimed(window_at=T0 - MINUTE, due_at=T0 - MINUTE, fired_at=T0 - MINUTE)
    by_hand = claimed(kind=RunKind.MANUAL, window_at=T0 - MINUTE, due_at=T0 + SECOND, fired_at=T0 + SECOND)
    for run in (long, by_hand):
        made = fire(cursor_at(T0), definition, T0 + 2 * SECOND, run)
        assert made.runs == []
        assert skips_of(made) == [("overlap", T0, T0, 1)]


def test_with_all_missed_windows_wait_behind_what_is_open_and_cancel_nothing():
    definition = define(overlap=Overlap.CANCEL_PREVIOUS, catch_up=CatchUp(ALL))
    made = fire(cursor_at(T0), definition, C1, claimed())
    assert [run.hold for run in made.runs] == [Hold.LANE] * 10
    assert (made.cancel_running, made.cancel_waiting) == ([], [])


def test_with_all_the_line_moves_up_when_a_due_window_cancels_what_it_waited_for():
    definition = define(overlap=Overlap.CANCEL_PREVIOUS, catch_up=CatchUp(ALL))
    made = fire(cursor_at(T0), definition, T0 + 2 * MINUTE, ready("old"))
    assert made.cancel_waiting == ["old"]
    assert [run.hold for run in made.runs] == [Hold.NONE, Hold.LANE, Hold.LANE]


def test_a_cap_leaves_the_rest_due_and_loses_nothing():
    definition = define(EVERY_SECOND, catch_up=CatchUp(ALL))
    cursor, now, dropped = cursor_at(T0), T0 + HOUR, 0
    fired: list[int] = []
    for expected in (50, 50, 0):
        made = fire(cursor, definition, now, *([claimed()] if fired else []))
        assert len(made.runs) == expected
        fired += windows_of(made)
        dropped += sum(row.windows for row in made.skips)
        cursor = made.cursor
        now += 5
    assert fired == [T0 + HOUR - n * SECOND for n in range(99, -1, -1)]
    assert dropped == 3601 - 100
    assert cursor.window_at == T0 + HOUR


def test_a_budget_of_one_takes_the_missed_window_then_the_due_ones():
    definition = define(overlap=Overlap.ALLOW)
    cursor, fired = cursor_at(T0), []
    for _ in range(3):
        made = fire(cursor, definition, T0 + 10 * MINUTE, budget=1)
        fired += windows_of(made)
        cursor = made.cursor
    assert fired == [T0 + 9 * MINUTE, T0 + 10 * MINUTE]
    assert cursor.fire_at == T0 + 11 * MINUTE


def test_no_budget_changes_nothing():
    cursor = cursor_at(T0)
    assert fire(cursor, define(), T0, budget=0).cursor is cursor


def test_max_runs_counts_fired_windows_and_completes():
    definition = define(EVERY_SECOND, overlap=Overlap.ALLOW, max_runs=5)
    made = fire(cursor_at(T0, fired=3), definition, T0 + 4 * SECOND)
    assert windows_of(made) == [T0, T0 + SECOND]
    cursor = made.cursor
    assert (cursor.status, cursor.fired, cursor.fire_at) == (ScheduleStatus.COMPLETED, 5, None)
    assert (cursor.window_at, cursor.next_window_at) == (T0 + SECOND, None)
    assert fire(cursor, definition, T0 + HOUR).cursor is cursor


def test_a_skipped_window_does_not_count_towards_max_runs():
    definition = define(max_runs=1)
    made = fire(cursor_at(T0), definition, T0, claimed())
    assert (made.cursor.status, made.cursor.fired) == (ScheduleStatus.PENDING, 0)
    assert fire(made.cursor, definition, T0 + MINUTE).cursor.status is ScheduleStatus.COMPLETED


def test_a_schedule_that_already_fired_often_enough_completes_without_a_row():
    made = fire(cursor_at(T0, fired=5), define(max_runs=5, catch_up=CatchUp(ALL)), C1)
    assert made.cursor.status is ScheduleStatus.COMPLETED
    assert (made.runs, made.skips) == ([], [])


def test_the_last_window_before_the_end_completes_the_schedule():
    definition = define(end_at=T0 + MINUTE)
    made = fire(cursor_at(T0), definition, T0)
    assert made.cursor.status is ScheduleStatus.ACTIVE
    made = fire(made.cursor, definition, T0 + 20 * MINUTE)
    assert windows_of(made) == [T0 + MINUTE]
    assert (made.cursor.status, made.cursor.next_window_at) == (ScheduleStatus.COMPLETED, None)


def test_the_end_cuts_the_outage():
    made = fire(cursor_at(T0), define(end_at=T0 + 4 * MINUTE + 1), C1)
    assert windows_of(made) == [T0 + 4 * MINUTE]
    assert skips_of(made) == [("missed", T0, T0 + 3 * MINUTE, 4)]


def test_jitter_moves_the_fire_not_the_window():
    definition = define(jitter=Jitter(20 * SECOND, 50 * SECOND))
    fire_at = definition.fire_at(T0, T0 + MINUTE)
    cursor = cursor_at(T0, fire_at=fire_at)
    assert fire(cursor, definition, fire_at - 1).cursor is cursor
    made = fire(cursor, definition, fire_at)
    assert windows_of(made) == [T0]
    assert made.runs[0].due_at == fire_at
    assert made.cursor.fire_at == definition.fire_at(T0 + MINUTE, T0 + 2 * MINUTE)


def test_an_interval_after_completion_waits_for_the_end_of_its_run():
    definition = define(Every("10m", after_completion=True))
    made = fire(cursor_at(T0 + 7), definition, T0 + 9)
    assert windows_of(made) == [T0 + 7]
    cursor = made.cursor
    assert (cursor.next_window_at, cursor.fire_at, cursor.status) == (None, None, ScheduleStatus.ACTIVE)
    assert fire(cursor, definition, T0 + DAY).cursor is cursor


def test_an_interval_after_completion_that_was_blocked_tries_one_interval_later():
    definition = define(Every("10m", after_completion=True))
    made = fire(cursor_at(T0 + 7), definition, T0 + 9, claimed("a manual run"))
    assert skips_of(made) == [("overlap", T0 + 7, T0 + 7, 1)]
    assert made.cursor.next_window_at == made.cursor.fire_at == T0 + 10 * MINUTE + 7


def test_an_interval_after_completion_has_one_missed_window_and_goes_on_from_now():
    definition = define(Every("10m", after_completion=True), catch_up=CatchUp(SKIP))
    made = fire(cursor_at(T0), definition, T0 + HOUR)
    assert skips_of(made) == [("missed", T0, T0, 1)]
    assert made.cursor.next_window_at == T0 + HOUR + 10 * MINUTE


def test_a_window_that_new_zone_rules_no_longer_yield_still_fires():
    made = fire(cursor_at(T0 + 1, window_at=T0), define(), T0 + 2)
    assert windows_of(made) == [T0 + 1]
    assert made.cursor.next_window_at == T0 + MINUTE


def test_a_window_that_comes_as_the_one_before_is_fired_is_in_the_same_plan():
    made = fire(cursor_at(T0), define(EVERY_SECOND, overlap=Overlap.CANCEL_PREVIOUS), T0 + SECOND)
    assert windows_of(made) == [T0 + SECOND]
    assert skips_of(made) == [("superseded", T0, T0, 1)]


def test_the_current_window_counts_towards_the_budget():
    definition = define(EVERY_SECOND, overlap=Overlap.ALLOW, fire_current_window=True)
    made = fire(created(definition, T0 + 5), definition, T0 + 3 * SECOND, budget=2)
    assert windows_of(made) == [T0, T0 + SECOND]


def test_windows_that_are_not_neighbours_do_not_share_a_row():
    definition = define(EVERY_SECOND, overlap=Overlap.CANCEL_PREVIOUS, fire_current_window=True)
    made = fire(created(definition, T0 + 5), definition, T0 + MINUTE)
    assert windows_of(made) == [T0 + MINUTE]
    assert skips_of(made) == [
        ("missed", T0 + SECOND, T0 + 50 * SECOND, 50),
        ("superseded", T0, T0, 1),
        ("superseded", T0 + 51 * SECOND, T0 + 59 * SECOND, 9),
    ]
