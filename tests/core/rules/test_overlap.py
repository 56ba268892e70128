"""Overlap: D1 to D6 at the level of the rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.rules.overlap import (
    MOST_REDRIVEN,
    Admission,
    admit_manual,
    admit_redriven,
    heeds_open_runs,
    lane_release,
)
from duly.core.run import Hold, Reason, RunKind
from duly.core.timing import Cron, Jitter
from tests.core.rules.making import (
    EVERY_SECOND,
    HOUR,
    MINUTE,
    RULES,
    SECOND,
    T0,
    claimed,
    cursor_at,
    define,
    fire,
    held,
    open_run,
    ready,
    skips_of,
    windows_of,
)


def test_d1_every_window_inside_a_run_is_recorded_as_skipped_and_the_next_one_runs():
    definition, cursor = define(), cursor_at(T0)
    made = fire(cursor, definition, T0)
    assert windows_of(made) == [T0]
    for n in (1, 2):
        made = fire(made.cursor, definition, T0 + n * MINUTE, claimed())
        assert (windows_of(made), skips_of(made)) == ([], [("overlap", T0 + n * MINUTE, T0 + n * MINUTE, 1)])
    assert windows_of(fire(made.cursor, definition, T0 + 3 * MINUTE)) == [T0 + 3 * MINUTE]


@pytest.mark.parametrize("blocker", [ready(), held(), claimed(), open_run("suspended", hold=Hold.SIGNAL)])
def test_d2_any_run_that_has_not_ended_counts_as_running(blocker):
    assert not fire(cursor_at(T0), define(), T0, blocker).runs


def test_d1_skips_of_one_plan_share_a_row():
    made = fire(cursor_at(T0), define(EVERY_SECOND), T0 + 5 * SECOND)
    assert windows_of(made) == [T0]
    assert skips_of(made) == [("overlap", T0 + SECOND, T0 + 5 * SECOND, 5)]


@pytest.mark.parametrize("max_queued, open_runs, fires", [(1, 1, True), (1, 2, False), (3, 3, True), (3, 4, False)])
def test_d3_at_most_max_queued_wait(max_queued, open_runs, fires):
    definition = define(overlap=Overlap.QUEUE, max_queued=max_queued)
    waiting = [held(f"held {n}") for n in range(open_runs - 1)]
    made = fire(cursor_at(T0), definition, T0, claimed(), *waiting)
    assert [run.hold for run in made.runs] == ([Hold.LANE] if fires else [])
    assert skips_of(made) == ([] if fires else [("queue_full", T0, T0, 1)])


def test_d3_the_first_of_a_queue_goes_at_once_and_the_others_wait_in_order():
    made = fire(cursor_at(T0), define(EVERY_SECOND, overlap=Overlap.QUEUE, max_queued=2), T0 + 4 * SECOND)
    assert [run.hold for run in made.runs] == [Hold.NONE, Hold.LANE, Hold.LANE]
    assert skips_of(made) == [("queue_full", T0 + 3 * SECOND, T0 + 4 * SECOND, 2)]
    assert sorted(run.id for run in made.runs) == [run.id for run in made.runs]


@pytest.mark.parametrize("overlap", Overlap)
@pytest.mark.parametrize("missed", Missed)
@pytest.mark.parametrize("max_concurrent", [None, 2])
@pytest.mark.parametrize("late", [0, 5 * SECOND, 5 * MINUTE])
def test_only_where_open_runs_are_heeded_they_change_a_plan(overlap, missed, max_concurrent, late):
    definition = define(EVERY_SECOND, overlap=overlap, max_concurrent=max_concurrent, catch_up=CatchUp(missed))
    crowd = [claimed("c"), ready("r"), held("h"), held("i"), held("b", kind=RunKind.BACKFILL)]
    alone, among = (fire(cursor_at(T0), definition, T0 + late, *others) for others in ((), crowd))
    assert among == alone or heeds_open_runs(definition)
    assert heeds_open_runs(definition) or (overlap is Overlap.ALLOW and max_concurrent is None)


def test_a_schedule_that_allows_any_overlap_heeds_no_open_runs():
    assert not heeds_open_runs(define(overlap=Overlap.ALLOW))


GRACE_MS = RULES.grace_ms
CANCEL = define(overlap=Overlap.CANCEL_PREVIOUS)


def test_d4_a_running_run_is_asked_to_stop_and_the_new_one_waits_for_it():
    made = fire(cursor_at(T0), CANCEL, T0, claimed("old"))
    assert (made.cancel_running, made.cancel_waiting) == (["old"], [])
    assert made.runs[0].hold == Hold.LANE


def test_d4_a_newer_window_replaces_the_one_that_waits_and_asks_only_once():
    made = fire(cursor_at(T0), CANCEL, T0, claimed("old", cancel_requested=True), held("newer"))
    assert (made.cancel_running, made.cancel_waiting) == ([], ["newer"])
    assert made.runs[0].hold == Hold.LANE


def test_d4_an_unclaimed_run_ends_at_once_and_the_new_one_may_go():
    made = fire(cursor_at(T0), CANCEL, T0, ready("old"))
    assert (made.cancel_running, made.cancel_waiting) == ([], ["old"])
    assert made.runs[0].hold == Hold.NONE


def test_d4_only_the_newest_of_several_due_windows_is_born():
    definition = define(EVERY_SECOND, overlap=Overlap.CANCEL_PREVIOUS)
    made = fire(cursor_at(T0), definition, T0 + 3 * SECOND, claimed("old"), ready("next"))
    assert windows_of(made) == [T0 + 3 * SECOND]
    assert skips_of(made) == [("superseded", T0, T0 + 2 * SECOND, 3)]
    assert (made.cancel_running, made.cancel_waiting) == (["old"], ["next"])
    assert (made.runs[0].hold, made.cursor.fired) == (Hold.LANE, 1)


@pytest.mark.parametrize(
    "max_concurrent, expected", [(None, [0, 0, 0]), (1, [1, 1, 1]), (2, [0, 1, 1]), (4, [0, 0, 0])]
)
def test_d5_allow_holds_what_exceeds_max_concurrent(max_concurrent, expected):
    definition = define(EVERY_SECOND, overlap=Overlap.ALLOW, max_concurrent=max_concurrent, max_queued=3)
    made = fire(cursor_at(T0), definition, T0 + 2 * SECOND, claimed())
    assert [run.hold for run in made.runs] == expected


def test_d5_allow_holds_no_more_than_max_queued():
    definition = define(EVERY_SECOND, overlap=Overlap.ALLOW, max_concurrent=2, max_queued=1)
    made = fire(cursor_at(T0), definition, T0 + 3 * SECOND, claimed())
    assert [run.hold for run in made.runs] == [Hold.NONE, Hold.LANE]
    assert skips_of(made) == [("queue_full", T0 + 2 * SECOND, T0 + 3 * SECOND, 2)]


@pytest.mark.parametrize(
    "fields, open_runs, refused, hold",
    [
        ({}, [], None, Hold.NONE),
        ({}, [claimed()], Reason.OVERLAP, Hold.NONE),
        ({"overlap": Overlap.QUEUE}, [claimed()], None, Hold.LANE),
        ({"overlap": Overlap.QUEUE, "max_queued": 1}, [claimed(), held()], Reason.QUEUE_FULL, Hold.NONE),
        ({"overlap": Overlap.ALLOW}, [claimed()], None, Hold.NONE),
        ({"overlap": Overlap.ALLOW, "max_concurrent": 1}, [claimed()], None, Hold.LANE),
        (
            {"overlap": Overlap.ALLOW, "max_concurrent": 1, "max_queued": 1},
            [claimed(), held()],
            Reason.QUEUE_FULL,
            Hold.NONE,
        ),
        ({"overlap": Overlap.CANCEL_PREVIOUS}, [claimed()], None, Hold.LANE),
        ({"overlap": Overlap.CANCEL_PREVIOUS}, [ready()], None, Hold.NONE),
    ],
)
def test_d6_a_manual_run_obeys_the_overlap_policy(fields, open_runs, refused, hold):
    admission = admit_manual(define(**fields), open_runs, GRACE_MS)
    assert (admission.refused, admission.hold, admission.outside_lane) == (refused, hold, False)


@pytest.mark.parametrize("overlap", list(Overlap))
def test_d6_a_forced_run_waits_for_nobody_and_stops_nobody(overlap):
    admission = admit_manual(define(overlap=overlap), [claimed(), held()], GRACE_MS, force=True)
    assert (admission.refused, admission.hold, admission.outside_lane) == (None, Hold.NONE, True)
    assert (admission.cancel_running, admission.cancel_waiting) == ((), ())


def test_d6_a_manual_run_under_cancel_previous_makes_way_for_itself():
    admission = admit_manual(
        CANCEL, [claimed("a"), claimed("b", cancel_requested=True), held("c"), ready("d")], GRACE_MS
    )
    assert (admission.cancel_running, admission.cancel_waiting) == (("a",), ("c", "d"))


@pytest.mark.parametrize(
    "fields, open_runs, released",
    [
        ({"overlap": Overlap.QUEUE}, [held("b"), held("a")], ["a"]),
        ({"overlap": Overlap.QUEUE}, [held("b"), ready("a")], []),
        ({"overlap": Overlap.QUEUE}, [held("b"), claimed("a")], []),
        ({"overlap": Overlap.QUEUE}, [], []),
        ({"overlap": Overlap.CANCEL_PREVIOUS}, [held("b")], ["b"]),
        ({"overlap": Overlap.ALLOW, "max_concurrent": 3}, [held("c"), claimed("a"), held("d"), held("b")], ["b", "c"]),
        ({"overlap": Overlap.QUEUE}, [held("a", T0 + 2), held("b", T0 + 1), held("c", T0 + 3)], ["b"]),
        ({"overlap": Overlap.QUEUE}, [held("a", kind=RunKind.BACKFILL), held("b", T0 + 1)], ["b"]),
        ({"catch_up": CatchUp(Missed.ALL)}, [held("a"), held("b")], ["a"]),
        ({"overlap": Overlap.ALLOW}, [held("a", T0), claimed("b", window_at=T0 - 1)], []),
        ({"overlap": Overlap.ALLOW}, [held("b", T0), claimed("a", window_at=T0 + 1)], ["b"]),
        ({}, [held("left over from another policy")], ["left over from another policy"]),
    ],
)
def test_a_free_place_in_the_lane_goes_to_the_oldest_that_waits(fields, open_runs, released):
    assert lane_release(define(**fields), open_runs) == released


@pytest.mark.parametrize("overlap", list(Overlap))
def test_a_redriven_run_waits_where_runs_must_not_overlap_and_cancels_nobody(overlap: Overlap) -> None:
    plain = define(overlap=overlap)
    assert admit_redriven(plain, []) == Admission()
    behind = admit_redriven(plain, [ready(), claimed()])
    assert behind == (Admission() if overlap is Overlap.ALLOW else Admission(hold=Hold.LANE))
    assert admit_redriven(plain, [ready()], force=True).outside_lane


def test_a_redriven_run_waits_too_where_no_window_could_wait_any_more() -> None:
    narrow = define(overlap=Overlap.ALLOW, max_concurrent=1, max_queued=1)
    assert admit_redriven(narrow, [claimed(), held()]) == Admission(hold=Hold.LANE)
    assert admit_redriven(define(overlap=Overlap.ALLOW, max_concurrent=2), [claimed()]) == Admission()


def test_a_redriven_run_stays_dead_behind_a_thousand_others() -> None:
    many = [held(f"{n:04}") for n in range(MOST_REDRIVEN)]
    assert admit_redriven(define(), many).refused
    assert not admit_redriven(define(), many[1:]).refused
    assert not admit_redriven(define(overlap=Overlap.ALLOW), many).refused


IN_LINE = define(overlap=Overlap.CANCEL_PREVIOUS, catch_up=CatchUp(Missed.ALL))
LATE: dict[str, Any] = {"fired_at": T0 + 5 * MINUTE}


def test_nobody_cancels_a_missed_window_that_runs_or_waits_in_line():
    line = [claimed("a", **LATE), held("b", T0 + MINUTE, **LATE), held("live", T0 + 5 * MINUTE)]
    admission = admit_manual(IN_LINE, line, GRACE_MS)
    assert admission == Admission(hold=Hold.LANE, cancel_waiting=("live",))
    made = fire(cursor_at(T0 + 6 * MINUTE), IN_LINE, T0 + 6 * MINUTE, *line)
    assert (made.cancel_running, made.cancel_waiting, made.release) == ([], ["live"], ())
    assert [run.hold for run in made.runs] == [Hold.LANE]


def test_a_missed_window_that_is_tried_again_stays_in_line():
    retried = {"due_at": T0 + HOUR, **LATE}
    assert not admit_manual(IN_LINE, [open_run("a", **retried)], GRACE_MS).cancel_waiting
    jittered = replace(IN_LINE, timing=Cron("0 * * * *"), jitter=Jitter(5 * MINUTE - SECOND, 5 * MINUTE))
    assert admit_manual(jittered, [open_run("a", **retried)], GRACE_MS).cancel_waiting == ("a",), "it was on time"


@pytest.mark.parametrize(
    "definition, run",
    [
        (CANCEL, open_run("a", **LATE)),
        (IN_LINE, open_run("a", fired_at=T0 + GRACE_MS - 1)),
        (IN_LINE, open_run("a", due_at=T0 + 5 * MINUTE, **LATE)),
        (IN_LINE, open_run("a", kind=RunKind.MANUAL, **LATE)),
    ],
    ids=["another policy", "due", "made due on purpose", "manual"],
)
def test_only_a_missed_window_under_all_stays_in_line(definition, run):
    assert admit_manual(definition, [run], GRACE_MS).cancel_waiting == ("a",)


def test_the_line_moves_up_when_what_it_waited_for_is_cancelled():
    line = [ready("live"), held("b", T0 + MINUTE, **LATE), held("c", T0 + 2 * MINUTE, **LATE)]
    admission = admit_manual(IN_LINE, line, GRACE_MS)
    assert admission == Admission(hold=Hold.LANE, cancel_waiting=("live",), release=("b",))
    made = fire(cursor_at(T0 + 6 * MINUTE), IN_LINE, T0 + 6 * MINUTE, *line)
    assert (made.cancel_waiting, made.release, made.runs[0].hold) == (["live"], ("b",), Hold.LANE)
    backfill = claimed("x", kind=RunKind.BACKFILL)
    assert admit_manual(IN_LINE, [*line, backfill], GRACE_MS).release == ()
