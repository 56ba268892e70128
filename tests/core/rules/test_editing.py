"""What people do to a schedule: pause, resume, cancel, delete, edit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.core.errors import ALREADY_CANCELLED, Conflict, MomentInPast, RevisionStale, ValidationFailed
from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.rules.editing import cancel, delete, edit, pause, pause_by_hand, resume
from duly.core.run import Reason
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Cron, Every, Jitter, Once
from tests.acceptance.rules import rule
from tests.core.rules.making import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    T0,
    created,
    cursor_at,
    define,
    fire,
    schedule_of,
    windows_of,
)

ACTIVE, COMPLETED, CANCELLED, FAILED = (
    ScheduleStatus.ACTIVE,
    ScheduleStatus.COMPLETED,
    ScheduleStatus.CANCELLED,
    ScheduleStatus.FAILED,
)
ENDED = [COMPLETED, FAILED, CANCELLED]


def active(definition=None, **cursor):
    return schedule_of(definition or define(), cursor_at(T0, status=ACTIVE, **cursor))


def paused(definition=None, **cursor):
    facts = {"paused_at": T0 - HOUR, "pause_reason": "away", "paused_until": T0, "paused_by": "ann"}
    return schedule_of(definition or define(), cursor_at(T0, **{"fire_at": None, "status": ACTIVE} | cursor), **facts)


def after(schedule, change):
    return replace(
        schedule, facts=change.facts, cursor=change.cursor, definition=change.definition or schedule.definition
    )


def test_a8_a_pause_parks_the_cursor_and_says_why():
    change = pause(active(), T0 - 5, reason="holiday", until=T0 + DAY, by="ann")
    facts = change.facts
    assert (facts.paused_at, facts.paused_until, facts.paused_by, facts.pause_reason) == (
        T0 - 5,
        T0 + DAY,
        "ann",
        "holiday",
    )
    assert (change.cursor.fire_at, change.cursor.next_window_at) == (None, T0)
    assert not fire(change.cursor, define(), T0 + HOUR).runs


def test_pausing_again_gives_the_new_reason_and_keeps_the_first_instant():
    change = pause(paused(), T0, reason="still away", by="bob")
    assert (change.facts.paused_at, change.facts.pause_reason, change.facts.paused_until) == (
        T0 - HOUR,
        "still away",
        None,
    )
    assert change.cursor == paused().cursor


def test_a_pause_cannot_end_before_it_begins():
    with pytest.raises(ValidationFailed, match="pause has gone by"):
        pause(active(), T0, reason=None, until=T0, by=None)


@pytest.mark.parametrize("status", ENDED)
def test_pausing_an_ended_schedule_changes_nothing(status):
    schedule = schedule_of(define(), cursor_at(T0, fire_at=None, status=status))
    change = pause(schedule, T0, reason="x", by=None)
    assert (change.facts, change.cursor, change.changed) == (schedule.facts, schedule.cursor, ())


@pytest.mark.parametrize("status", ENDED)
def test_a_person_is_told_that_an_ended_schedule_cannot_be_paused(status):
    """It would stay enabled and forget the reason: an answer that it is paused would not be true."""
    with pytest.raises(Conflict, match=f"is {status} and cannot be paused; create a new one"):
        pause_by_hand(schedule_of(define(), cursor_at(T0, fire_at=None, status=status)), T0, reason="x", by=None)
    assert pause_by_hand(active(), T0, reason="x", by=None) == pause(active(), T0, reason="x", by=None)


def test_c8_a_resume_continues_from_now_and_replays_nothing():
    change = resume(paused(failures=4, error="boom"), T0 + HOUR + 1, by="ann")
    facts, cursor = change.facts, change.cursor
    assert (facts.paused_at, facts.paused_until, facts.paused_by, facts.pause_reason) == (None, None, None, None)
    assert cursor.next_window_at == cursor.fire_at == T0 + HOUR + MINUTE
    assert (cursor.failures, cursor.error) == (0, None)
    made = fire(cursor, define(), T0 + HOUR + MINUTE)
    assert (windows_of(made), made.skips) == ([T0 + HOUR + MINUTE], [])


def test_a_resume_with_catch_up_leaves_the_pause_to_the_catch_up_policy():
    definition = define(catch_up=CatchUp(Missed.ALL))
    change = resume(paused(definition), T0 + 3 * MINUTE - 30 * SECOND, by=None, catch_up=True)
    assert change.cursor.next_window_at == change.cursor.fire_at == T0
    made = fire(change.cursor, definition, T0 + 3 * MINUTE - 30 * SECOND)
    assert windows_of(made) == [T0, T0 + MINUTE, T0 + 2 * MINUTE]


def test_a12_a_resume_under_a_lagging_clock_never_returns_to_a_used_window():
    change = resume(paused(window_at=T0 + 5 * MINUTE), T0 - DAY, by=None)
    assert change.cursor.next_window_at == T0 + 6 * MINUTE


def test_resuming_what_is_not_paused_changes_nothing():
    schedule = active()
    change = resume(schedule, T0 + HOUR, by=None)
    assert (change.facts, change.cursor, change.changed) == (schedule.facts, schedule.cursor, ())


@pytest.mark.parametrize("status", ENDED)
def test_an_ended_schedule_cannot_be_resumed_or_redefined(status):
    schedule = paused(status=status)
    with pytest.raises(Conflict, match=f"'k' is {status} and cannot be resumed"):
        resume(schedule, T0, by=None)
    with pytest.raises(Conflict, match="cannot be edited"):
        edit(schedule, T0, by=None, definition=define(payload="[]"))
    assert edit(schedule, T0, by=None, facts_changes={"name": "old"}).facts.name == "old"


@pytest.mark.parametrize(
    "timing, now, fields, expected",
    [
        (Once.at_instant(T0), T0 - 1, {}, (T0, T0, ACTIVE)),
        (Once.at_instant(T0), T0 + 5, {}, (None, None, FAILED)),
        (Once.at_instant(T0, on_past="fire"), T0 + 5, {}, (T0, T0 + 5, ACTIVE)),
        (Once.at_instant(T0), T0 + 5, {"next_window_at": None, "window_at": T0}, (None, None, ACTIVE)),
        (Every("1h", after_completion=True), T0 + 5, {}, (T0 + HOUR + 5, T0 + HOUR + 5, ACTIVE)),
        (Every("1h", after_completion=True), T0 - 5, {}, (T0, T0, ACTIVE)),
        (Every("1h", after_completion=True), T0 + 5, {"next_window_at": None, "window_at": T0}, (None, None, ACTIVE)),
    ],
)
def test_what_a_resume_makes_of_single_windows(timing, now, fields, expected):
    schedule = paused(define(timing), window_at=None)
    schedule = replace(schedule, cursor=replace(schedule.cursor, **fields))
    change = resume(schedule, now, by=None)
    cursor = change.cursor
    assert (cursor.next_window_at, cursor.fire_at, cursor.status) == expected
    assert (change.facts.ended_at is not None) == (change.note is not None) == cursor.status.ended


def test_a_schedule_whose_end_passed_during_the_pause_is_completed():
    change = resume(paused(define(end_at=T0 + MINUTE)), T0 + HOUR, by=None)
    assert (change.cursor.status, change.cursor.fire_at, change.facts.ended_at) == (COMPLETED, None, T0 + HOUR)


def test_a_cancel_ends_the_schedule_and_its_waiting_runs_and_running_ones_get_no_further_attempt():
    change = cancel(active(), T0, "ann")
    cursor = change.cursor
    assert (cursor.status, cursor.next_window_at, cursor.fire_at) == (CANCELLED, None, None)
    assert (change.facts.ended_at, change.reason) == (T0, Reason.SCHEDULE_CANCELLED)
    assert (change.cancel_waiting, change.cancel_running, change.last_attempt) == (True, False, True)


@pytest.mark.parametrize("status", ENDED)
def test_cancelling_what_has_ended_changes_nothing(status):
    schedule = schedule_of(define(), cursor_at(T0, fire_at=None, status=status))
    change = cancel(schedule, T0, None)
    assert (change.facts, change.cursor, change.changed) == (schedule.facts, schedule.cursor, ())
    assert (change.cancel_waiting, change.cancel_running, change.last_attempt) == (False, False, False)
    assert (change.note == ALREADY_CANCELLED) == (status is CANCELLED)


@pytest.mark.parametrize("status, expected", [(ACTIVE, CANCELLED), (COMPLETED, COMPLETED)])
@pytest.mark.parametrize("stop", [False, True])
def test_a_delete_stops_fires_and_lets_running_runs_finish_unless_told(status, expected, stop):
    change = delete(active(fired=1) if status is ACTIVE else paused(status=status), T0, "ann", stop)
    assert (change.cursor.status, change.cursor.fire_at, change.facts.ended_at) == (expected, None, T0)
    assert (change.cancel_waiting, change.cancel_running, change.last_attempt) == (True, stop, False)
    assert change.reason is Reason.SCHEDULE_DELETED


def test_a_payload_or_policy_edit_makes_a_revision_and_does_not_move_time():
    schedule = active(fire_at=T0)
    for fields in ({"payload": "[1]"}, {"overlap": Overlap.QUEUE}, {"queue": "q", "priority": 3}):
        change = edit(schedule, T0 + HOUR, by="ann", definition=define(**fields))
        assert change.definition == define(**fields)
        assert (change.facts.revision, change.cursor.revision) == (2, 2)
        assert replace(change.cursor, revision=1) == schedule.cursor
        assert set(change.changed) == set(fields)
        assert change.release_lane == ("overlap" in fields)


def test_a_payload_edit_does_not_take_back_that_the_current_window_is_due():
    definition = define(Cron("0 * * * *"), fire_current_window=True)
    schedule = schedule_of(definition, created(definition, T0 + 30 * MINUTE))
    change = edit(schedule, T0 + 30 * MINUTE, by=None, definition=replace(definition, payload="[]"))
    assert windows_of(fire(change.cursor, definition, T0 + 31 * MINUTE)) == [T0]


def test_the_same_definition_is_no_revision():
    schedule = active()
    change = edit(schedule, T0, by=None, definition=define(), facts_changes={"name": "k"})
    assert (change.definition, change.changed) == (None, ())
    assert (change.facts, change.cursor) == (schedule.facts, schedule.cursor)


def test_an_edit_of_names_and_tags_is_a_revision_that_moves_nothing():
    schedule = active()
    change = edit(schedule, T0, by=None, facts_changes={"name": "new", "tags": ("a",)})
    assert (change.facts.name, change.facts.tags, change.facts.updated_at) == ("new", ("a",), T0)
    assert (change.facts.revision, change.cursor.revision, change.definition) == (2, 2, schedule.definition)
    assert replace(change.cursor, revision=1) == schedule.cursor
    with pytest.raises(ValidationFailed, match="revision cannot be edited"):
        edit(active(), T0, by=None, facts_changes={"revision": 9})


def test_a_stale_revision_is_refused():
    with pytest.raises(RevisionStale, match="at revision 1, not 4"):
        edit(active(), T0, by=None, definition=define(payload="[]"), expected_revision=4)


@pytest.mark.parametrize(
    "new, now, expected",
    [
        (define(Every("1h")), T0 - MINUTE, T0),
        (define(Every("1h")), T0, T0 + HOUR),
        (define(start_at=T0 + DAY), T0, T0 + DAY),
        (define(Every("1h", after_completion=True)), T0 + 5, T0 + HOUR + 5),
        (define(Once.at_instant(T0 + 7)), T0, T0 + 7),
    ],
)
def test_a_new_timing_counts_from_now(new, now, expected):
    cursor = edit(active(), now, by=None, definition=new).cursor
    assert cursor.next_window_at == cursor.fire_at == expected
    cursor = edit(paused(), now, by=None, definition=new).cursor
    assert (cursor.next_window_at, cursor.fire_at) == (expected, None)


@rule("A10")
def test_a10_an_interval_changed_there_and_back_loses_and_doubles_no_window():
    one, two = define(Every("1s")), define(Every("2s"))
    schedule = schedule_of(one, created(one, T0))
    fired = []
    for tick in range(1, 41):
        made = fire(schedule.cursor, schedule.definition, T0 + tick * 250)
        fired += windows_of(made)
        schedule = replace(schedule, cursor=made.cursor)
        if tick in (10, 18):
            change = edit(schedule, T0 + tick * 250, by=None, definition=two if tick == 10 else one)
            schedule = after(schedule, change)
    assert [(window - T0) // SECOND for window in fired] == [1, 2, 4, 5, 6, 7, 8, 9, 10]


@rule("A12")
@given(st.integers(-3 * DAY, 3 * DAY), st.sampled_from([Cron("*/7 * * * *"), Every("90s"), Cron("0 2 * * *")]))
def test_a12_no_edit_under_any_clock_returns_to_a_used_window(skew, timing):
    schedule = active(window_at=T0 - 1)
    cursor = edit(schedule, T0 + skew, by=None, definition=define(timing)).cursor
    assert cursor.next_window_at is not None
    assert cursor.next_window_at > max(T0 - 1, T0 + skew)


def test_a_one_shot_cannot_be_moved_to_the_past_or_to_a_used_window():
    with pytest.raises(MomentInPast):
        edit(active(), T0, by=None, definition=define(Once.at_instant(T0 - 1)))
    with pytest.raises(MomentInPast, match="not after its newest window"):
        edit(active(), T0, by=None, definition=define(Once.at_instant(T0 - MINUTE, on_past="fire")))


def test_a_one_shot_moved_to_a_late_moment_on_purpose_fires_at_once():
    new = define(Once.at_instant(T0 - 1, on_past="fire"), catch_up=CatchUp(Missed.SKIP))
    cursor = edit(active(), T0 + HOUR, by=None, definition=new).cursor
    assert windows_of(fire(cursor, new, T0 + HOUR)) == [T0 - 1]


@pytest.mark.parametrize("old", [define(start_at=T0 + DAY), define(Once.at_instant(T0 + HOUR))])
def test_a_one_shot_before_the_start_is_refused_as_it_is_at_creation(old):
    new = define(Once.at_instant(T0 + HOUR), start_at=T0 + DAY)
    with pytest.raises(ValidationFailed, match="no window"):
        edit(schedule_of(old, created(old)), T0, by=None, definition=new)


def test_a_waiting_interval_after_completion_keeps_waiting_under_a_new_interval():
    old, new = define(Every("1h", after_completion=True)), define(Every("2h", after_completion=True))
    schedule = active(old)
    schedule = replace(schedule, cursor=replace(schedule.cursor, next_window_at=None, fire_at=None))
    cursor = edit(schedule, T0, by=None, definition=new).cursor
    assert (cursor.next_window_at, cursor.fire_at, cursor.status) == (None, None, ACTIVE)


def test_jitter_and_end_move_the_fire_instant_only():
    new = define(jitter=Jitter(5 * SECOND, 20 * SECOND))
    cursor = edit(active(), T0 - MINUTE, by=None, definition=new).cursor
    assert (cursor.next_window_at, cursor.fire_at) == (T0, new.fire_at(T0, T0 + MINUTE))
    assert edit(paused(), T0 - MINUTE, by=None, definition=new).cursor.fire_at is None


@pytest.mark.parametrize("fields, fired", [({"end_at": T0 - 1}, 0), ({"max_runs": 3}, 3)])
def test_an_edit_that_leaves_no_window_completes_the_schedule(fields, fired):
    change = edit(active(fired=fired), T0 - 5, by=None, definition=define(**fields))
    assert (change.cursor.status, change.cursor.next_window_at, change.cursor.fire_at) == (COMPLETED, None, None)
    assert change.facts.ended_at == T0 - 5


def test_an_end_that_has_gone_by_is_refused_unless_windows_from_before_it_are_left():
    for end_at in (T0 - MINUTE, T0 - 5):
        with pytest.raises(ValidationFailed, match="no window"):
            edit(active(), T0 - 5, by=None, definition=define(end_at=end_at))
    change = edit(paused(), T0 + HOUR, by=None, definition=define(end_at=T0 + MINUTE))
    assert (change.cursor.status, change.cursor.next_window_at) == (ACTIVE, T0)


def test_a_new_timing_without_any_window_is_refused():
    with pytest.raises(ValidationFailed, match="no window"):
        edit(active(), T0, by=None, definition=define(Every("1h"), end_at=T0 + 1))
