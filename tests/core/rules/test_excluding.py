"""Windows on excluded dates: skipped with what excluded them, and out of every policy's way."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.calendar import DateRange, Days, MonthDay
from duly.core.instants import to_datetime, to_ms
from duly.core.policy import CatchUp, Missed, Overlap
from duly.core.rules.excluding import OWN_DATES, Exclusions, without_excluded
from duly.core.rules.missed import Dropped
from duly.core.rules.plans import skipped_row
from duly.core.run import Reason
from duly.core.schedule import ScheduleStatus
from duly.core.timing import Cron, Every, Jitter, Once
from tests.core.rules.making import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    T0,
    claimed,
    created,
    cursor_at,
    define,
    fire,
    skips_of,
    windows_of,
)
from tests.core.rules.test_exactly_once import World, definitions, expected_windows, steps
from tests.properties import examples

WEEK = CatchUp(Missed.LATEST, timedelta(days=7))
NOON = Cron("0 12 * * *")
XMAS = ("xmas", Days(yearly=(MonthDay(12, 25), MonthDay(12, 26))))


def on(*days: str) -> tuple[str, Days]:
    return "holidays", Days(tuple(map(date.fromisoformat, days)))


def at(text: str) -> int:
    return to_ms(datetime.fromisoformat(text))


def fire_without(calendar, cursor, definition, now, *open_runs, **options):
    return fire(cursor, definition, now, *open_runs, exclusions=Exclusions(definition, [calendar]), **options)


def test_an_excluded_window_is_skipped_says_by_what_and_moves_the_cursor():
    made = fire_without(on("2026-01-06"), cursor_at(T0 + DAY), define(NOON), T0 + DAY)
    assert made.runs == []
    assert [(row.reason, row.detail, row.windows) for row in made.skips] == [("excluded", "excluded by holidays", 1)]
    assert (made.cursor.window_at, made.cursor.next_window_at) == (T0 + DAY, T0 + 2 * DAY)
    assert (made.cursor.fired, made.cursor.last_fired_at) == (0, None)


def test_other_dates_fire_as_they_would_without_a_calendar():
    definition, cursor = define(NOON), cursor_at(T0 + DAY)
    assert fire_without(on("2026-01-07"), cursor, definition, T0 + DAY) == fire(cursor, definition, T0 + DAY)


def test_a_schedule_has_dates_of_its_own_and_they_come_first():
    definition = define(NOON, exclude_dates=(date(2026, 1, 6),))
    assert Exclusions(definition).excludes(T0 + DAY) == OWN_DATES
    assert Exclusions(definition, [on("2026-01-06", "2026-01-07")]).excludes(T0 + DAY) == OWN_DATES
    assert Exclusions(definition, [on("2026-01-06", "2026-01-07")]).excludes(T0 + 2 * DAY) == "holidays"


@pytest.mark.parametrize(
    "timing, window, excluded",
    [
        (Cron("0 22 * * *", "America/Sao_Paulo"), "2026-12-26T01:00:00Z", True),  # 22:00 of the 25th there
        (Cron("0 22 * * *", "America/Sao_Paulo"), "2026-12-25T01:00:00Z", False),
        (Cron("0 1 * * *", "Asia/Tokyo"), "2026-12-24T16:00:00Z", True),
        (Cron("0 0 * * *"), "2026-12-25T00:00:00Z", True),
        (Cron("0 0 * * *"), "2026-12-26T00:00:00Z", False),
        (Every("1h"), "2026-12-25T23:00:00Z", True),
        (Every("1h"), "2026-12-26T00:00:00Z", False),
        (Every("1h", timezone="America/Sao_Paulo"), "2026-12-26T02:00:00Z", True),
        (Every("1h", timezone="America/Sao_Paulo"), "2026-12-26T03:00:00Z", False),
        (Once("2026-12-25T22:00:00-03:00"), "2026-12-26T01:00:00Z", False),  # an offset is no zone
        (Once("2026-12-25T22:00:00-03:00", timezone="America/Sao_Paulo"), "2026-12-26T01:00:00Z", True),
    ],
)
def test_the_date_is_that_of_the_timings_own_zone(timing, window, excluded):
    exclusions = Exclusions(define(timing), [on("2026-12-25")])
    assert (exclusions.excludes(at(window)) is not None) == excluded


def test_a_window_moved_out_of_a_gap_has_the_date_it_fires_on():
    # On the 30th of December 2011 Samoa jumped over the date line: the 30th does not exist there.
    definition = define(Cron("0 12 * * *", "Pacific/Apia"))
    first = definition.timing.next_after_ms(at("2011-12-29T23:00:00Z"))
    assert first is not None
    assert Exclusions(definition, [on("2011-12-31")]).excludes(first) == "holidays"
    assert Exclusions(definition, [on("2011-12-30")]).excludes(first) is None


def test_a_date_that_comes_back_when_the_clocks_go_back_is_excluded_again():
    # In 2010 St. John's went back at 00:01, so that a minute of the 7th lies between two parts of the 6th.
    definition = define(Cron("* * * * *", "America/St_Johns"), catch_up=CatchUp(Missed.SKIP, timedelta(days=7)))
    first, now = at("2010-11-07T02:20:00Z"), at("2010-11-07T03:40:30Z")
    made = fire_without(on("2010-11-06"), cursor_at(first), definition, now)
    assert [(reason, windows) for reason, _, _, windows in skips_of(made)] == [
        ("excluded", 10),
        ("missed", 1),
        ("excluded", 59),
        ("missed", 11),
    ]


def test_a_one_shot_on_an_excluded_date_is_skipped_and_fails():
    definition = define(Once(to_datetime(T0 + DAY)))
    made = fire_without(on("2026-01-06"), created(definition), definition, T0 + DAY)
    assert skips_of(made) == [("excluded", T0 + DAY, T0 + DAY, 1)]
    assert (made.cursor.status, made.cursor.fire_at) == (ScheduleStatus.FAILED, None)


def test_a_late_one_shot_that_may_fire_is_excluded_by_the_date_it_was_meant_for():
    definition = define(Once(to_datetime(T0 - DAY), on_past="fire"))
    made = fire_without(on("2026-01-04"), created(definition), definition, T0)
    assert (made.runs, made.cursor.status) == ([], ScheduleStatus.FAILED)


def test_the_last_window_before_the_end_may_be_an_excluded_one():
    definition = define(NOON, end_at=T0 + DAY)
    made = fire_without(on("2026-01-06"), cursor_at(T0 + DAY), definition, T0 + DAY)
    assert (skips_of(made), made.cursor.status) == ([("excluded", T0 + DAY, T0 + DAY, 1)], ScheduleStatus.COMPLETED)


@pytest.mark.parametrize("overlap", list(Overlap))
def test_an_excluded_window_disturbs_no_open_run(overlap):
    definition = define(NOON, overlap=overlap)
    made = fire_without(on("2026-01-06"), cursor_at(T0 + DAY), definition, T0 + DAY, claimed())
    assert skips_of(made) == [("excluded", T0 + DAY, T0 + DAY, 1)]
    assert (made.cancel_running, made.cancel_waiting) == ([], [])


def test_neighbours_that_one_calendar_excludes_are_one_row_and_another_calendar_has_its_own():
    definition = define(Cron("0 */6 * * *"), exclude_dates=(date(2026, 12, 24),), catch_up=WEEK)
    start, now = at("2026-12-24T00:00:00Z"), at("2026-12-27T00:00:05Z")
    made = fire_without(XMAS, cursor_at(start), definition, now)
    assert [(row.detail, row.windows) for row in made.skips] == [
        ("excluded by its own dates", 4),
        ("excluded by xmas", 8),
    ]
    assert windows_of(made) == [at("2026-12-27T00:00:00Z")]


def test_the_latest_missed_window_is_the_latest_that_is_not_excluded():
    definition = define(NOON, catch_up=WEEK)
    made = fire_without(on("2026-01-08", "2026-01-09"), cursor_at(T0), definition, T0 + 4 * DAY + HOUR)
    assert windows_of(made) == [T0 + 2 * DAY]
    assert skips_of(made) == [
        ("missed", T0, T0 + DAY, 2),
        ("excluded", T0 + 3 * DAY, T0 + 4 * DAY, 2),
    ]
    assert made.cursor.next_window_at == T0 + 5 * DAY


def test_a_due_window_that_is_excluded_does_not_stand_in_for_a_missed_one():
    definition = define(NOON, catch_up=WEEK)
    made = fire_without(on("2026-01-07"), cursor_at(T0 + DAY), definition, T0 + 2 * DAY)
    assert windows_of(made) == [T0 + DAY]
    assert skips_of(made) == [("excluded", T0 + 2 * DAY, T0 + 2 * DAY, 1)]


def test_all_catches_up_on_the_newest_windows_that_are_not_excluded():
    catch_up = CatchUp(Missed.ALL, timedelta(days=7), max_runs=2)
    definition = define(NOON, catch_up=catch_up)
    made = fire_without(on("2026-01-07", "2026-01-08"), cursor_at(T0), definition, T0 + 4 * DAY + HOUR)
    assert windows_of(made) == [T0 + DAY, T0 + 4 * DAY]
    assert skips_of(made) == [("missed", T0, T0, 1), ("excluded", T0 + 2 * DAY, T0 + 3 * DAY, 2)]


def test_too_late_and_skipped_windows_are_parted_by_the_excluded_ones_between():
    definition = define(NOON, catch_up=CatchUp(Missed.SKIP, timedelta(days=2)))
    made = fire_without(on("2026-01-07", "2026-01-10"), cursor_at(T0), definition, T0 + 6 * DAY + HOUR)
    assert skips_of(made) == [
        ("too_late", T0, T0 + DAY, 2),
        ("excluded", T0 + 2 * DAY, T0 + 2 * DAY, 1),
        ("too_late", T0 + 3 * DAY, T0 + 4 * DAY, 2),
        ("excluded", T0 + 5 * DAY, T0 + 5 * DAY, 1),
        ("missed", T0 + 6 * DAY, T0 + 6 * DAY, 1),
    ]


def test_excluded_windows_do_not_count_as_runs():
    definition = define(NOON, max_runs=2, catch_up=CatchUp(Missed.ALL, timedelta(days=30)))
    made = fire_without(on("2026-01-05", "2026-01-07"), cursor_at(T0), definition, T0 + 9 * DAY)
    assert windows_of(made) == [T0 + DAY, T0 + 3 * DAY]
    assert made.cursor.status is ScheduleStatus.COMPLETED
    assert [row.reason for row in made.skips] == ["excluded", "excluded"]


def test_an_interval_after_completion_goes_on_when_an_excluded_window_has_passed():
    definition = define(Every("1h", after_completion=True))
    made = fire_without(on("2026-01-05"), cursor_at(T0, window_at=None), definition, T0 + 5)
    assert skips_of(made) == [("excluded", T0, T0, 1)]
    assert made.cursor.next_window_at == T0 + 5 + HOUR


def test_a_window_that_is_on_at_the_creation_is_excluded_too():
    definition = define(NOON, fire_current_window=True)
    cursor = created(definition, T0 + HOUR)
    made = fire_without(on("2026-01-05"), cursor, definition, T0 + HOUR)
    assert (made.runs, skips_of(made)) == ([], [("excluded", T0, T0, 1)])


def test_jitter_leaves_the_date_of_a_window_alone():
    late = at("2026-01-05T23:59:00Z")
    definition = define(Cron("59 23 * * *"), jitter=Jitter(10 * MINUTE, 20 * MINUTE))
    cursor = cursor_at(late, fire_at=late + 10 * MINUTE)
    made = fire_without(on("2026-01-06"), cursor, definition, late + 20 * MINUTE)
    assert windows_of(made) == [late]
    made = fire_without(on("2026-01-05"), cursor, definition, late + 20 * MINUTE)
    assert skips_of(made) == [("excluded", late, late, 1)]


def test_ten_years_of_every_second_with_holidays_are_parted_by_dates_and_dealt_with_in_parts():
    days = Days(tuple(date(2026, 1, 6) + timedelta(2 * n) for n in range(1800)))
    definition = define(Cron("* * * * * *"), catch_up=CatchUp(Missed.LATEST, timedelta(days=3650)))
    cursor, now = cursor_at(T0), T0 + 3600 * DAY
    made = fire_without(("odd", days), cursor, definition, now)
    assert len(made.skips) == 50
    assert made.runs == []
    assert made.cursor.fire_at <= now, "the rest stays due"
    assert sum(row.windows for row in made.skips) == (made.cursor.window_at - T0) // SECOND + 1


def test_a_row_of_another_reason_is_parted_from_what_is_excluded():
    definition = define(NOON)
    row = skipped_row(cursor_at(T0), definition, Dropped(Reason.PAUSED, T0, T0 + 3 * DAY, 4), T0 + 4 * DAY)
    parts = without_excluded(row, definition, Exclusions(definition, [on("2026-01-06")]))
    assert [(p.reason, p.since, p.window_at, p.windows, p.detail) for p in parts] == [
        ("paused", T0, T0, 1, None),
        ("excluded", T0 + DAY, T0 + DAY, 1, "excluded by holidays"),
        ("paused", T0 + 2 * DAY, T0 + 3 * DAY, 2, None),
    ]
    assert len({part.id for part in parts}) == 3
    assert without_excluded(row, definition, Exclusions(definition, [on("2026-02-06")])) == [row]


local_days = st.sets(st.sampled_from([date(2026, 1, 4) + timedelta(n) for n in range(6)]), max_size=4)
ranges = st.lists(
    st.builds(lambda n, more: DateRange(date(2026, 1, 3) + timedelta(n), date(2026, 1, 3) + timedelta(n + more)),
              st.integers(0, 6), st.integers(0, 2)),
    max_size=2,
)  # fmt: skip
long_pauses = st.integers(0, 30 * SECOND) | st.integers(0, HOUR) | st.integers(0, 2 * DAY)
long_steps = st.lists(st.tuples(long_pauses, st.integers(1, 60), st.integers(0, 3)), min_size=1, max_size=12)


@settings(max_examples=examples(300), deadline=None)
@given(definitions, steps | long_steps, local_days, ranges, st.booleans())
def test_every_window_is_fired_or_skipped_once_and_exactly_the_excluded_ones_say_so(
    definition, steps, own, ranges, elsewhere
):
    """Excluded windows and the others are all windows, whenever somebody looks and with whatever budget."""
    if definition.timing in (Every("1s"), Every("7s"), Cron("*/5 * * * * *")):
        definition.timing = Cron("*/20 * * * *", "Pacific/Chatham" if elsewhere else "UTC")
    definition.exclude_dates = tuple(sorted(own))
    exclusions = Exclusions(definition, [("shared", Days(ranges=tuple(ranges)))])
    world = World(definition, created(definition), exclusions=exclusions)
    now = T0
    for wait, budget, ends in steps:
        now += wait
        world.fire(now, budget)
        world.work(ends)
    while world.cursor.fire_at is not None and world.cursor.fire_at <= now:
        moved_from = world.cursor
        world.fire(now, 50)
        assert world.cursor != moved_from, "what is due has to be dealt with"
    windows = expected_windows(definition, now)
    assert sorted(world.fired + world.skipped) == windows
    assert sorted(world.excluded) == [window for window in windows if exclusions.excludes(window)]


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from(["America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "America/Havana", "Asia/Gaza"]),
    st.integers(at("2005-01-01T00:00:00Z") // 1000, at("2012-06-01T00:00:00Z") // 1000),
    st.integers(1, 400),
    st.sets(st.integers(0, 400), max_size=30),
)
def test_spans_are_what_a_walk_over_the_windows_finds_also_where_clocks_change_at_midnight(zone, start, length, days):
    definition = define(Cron("*/10 * * * *", zone), catch_up=CatchUp(Missed.SKIP, timedelta(days=3650)))
    first = definition.timing.next_after_ms(start * 1000)
    assert first is not None
    base = to_datetime(first).date()
    exclusions = Exclusions(definition, [("days", Days(tuple(base + timedelta(n) for n in days)))])
    now = first + length * HOUR
    made = fire(cursor_at(first), definition, now, exclusions=exclusions)
    for row in made.skips:
        for window in definition.timing.between_ms(row.since - 1, row.window_at):
            excluded = exclusions.excludes(window) is not None
            assert excluded == (row.reason is Reason.EXCLUDED), to_datetime(window).astimezone(UTC)
