"""A window that has come and that its jitter still delays: whatever is done to its schedule, it is not lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.policy import CatchUp, Missed
from duly.core.rules.editing import Change, cancel, delete, edit, pause, resume
from duly.core.rules.replacing import reschedule
from duly.core.rules.windows import fire_instant
from duly.core.run import SkippedWindows
from duly.core.schedule import Schedule
from duly.core.timing import Cron, Every, Jitter, Once
from tests.core.rules.making import (
    DAY,
    HOUR,
    MINUTE,
    SCHEDULE_ID,
    SECOND,
    T0,
    created,
    define,
    fire,
    schedule_of,
    windows_of,
)
from tests.properties import examples

DAILY = define(Cron("0 12 * * *"), jitter=Jitter(10 * MINUTE, 20 * MINUTE), catch_up=CatchUp(Missed.SKIP))
FIRES_AT = fire_instant(DAILY, T0)
LATER = T0 + MINUTE  # the window of T0 has come, its fire has not


def delayed(definition=DAILY):
    return schedule_of(definition, created(definition, T0 - MINUTE))


def changed(schedule, change):
    return replace(
        schedule, facts=change.facts, cursor=change.cursor, definition=change.definition or schedule.definition
    )


def paused_and_resumed(schedule, paused_at, resumed_at):
    schedule = changed(schedule, pause(schedule, paused_at, reason="x", by=None))
    change = resume(schedule, resumed_at, by=None)
    return changed(schedule, change), change.skips


def rows(skips):
    return [(str(row.reason), row.since, row.window_at, row.windows) for row in skips]


def test_it_outlives_a_pause_that_ends_before_its_fire():
    resumed, skips = paused_and_resumed(delayed(), LATER, LATER + SECOND)
    assert (resumed.cursor.next_window_at, resumed.cursor.fire_at, skips) == (T0, FIRES_AT, [])


def test_it_fires_at_the_resume_if_its_instant_passed_during_the_pause():
    resumed, skips = paused_and_resumed(delayed(), LATER, T0 + HOUR)
    assert (resumed.cursor.fire_at, skips) == (T0 + HOUR, [])
    assert windows_of(fire(resumed.cursor, DAILY, T0 + HOUR)) == [T0]


def test_it_is_skipped_by_a_pause_that_lasts_over_the_next_window():
    resumed, skips = paused_and_resumed(delayed(), LATER, T0 + DAY + HOUR)
    assert (resumed.cursor.next_window_at, rows(skips)) == (T0 + 2 * DAY, [("paused", T0, T0, 1)])


def test_it_is_kept_and_what_was_due_before_it_is_skipped():
    schedule = delayed()
    resumed, skips = paused_and_resumed(schedule, LATER + 2 * DAY, LATER + 2 * DAY + SECOND)
    assert resumed.cursor.next_window_at == T0 + 2 * DAY
    assert rows(skips) == [("paused", T0, T0 + DAY, 2)]


def test_of_an_interval_that_counts_from_completion_it_is_kept_however_long_the_pause():
    definition = replace(DAILY, timing=Every("1h", after_completion=True))
    schedule = delayed(definition)
    window = schedule.cursor.next_window_at
    resumed, skips = paused_and_resumed(schedule, window + 1, window + DAY)
    assert (resumed.cursor.next_window_at, resumed.cursor.fire_at, skips) == (window, window + DAY, [])


@pytest.mark.parametrize("timing", [Cron("0 18 * * *"), Cron("0 12 * * MON-FRI"), Every("6h")])
def test_it_fires_after_an_edit_whose_timing_goes_on_from_it(timing):
    new = replace(DAILY, timing=timing)
    change = edit(delayed(), LATER, by=None, definition=new)
    assert (change.cursor.next_window_at, change.skips) == (T0, [])
    assert change.cursor.fire_at is not None
    assert change.cursor.fire_at > LATER
    made = fire(change.cursor, new, change.cursor.fire_at)
    assert windows_of(made) == [T0]
    assert made.cursor.next_window_at == new.timing.next_after_ms(T0)


def test_an_edit_that_takes_its_delay_away_makes_it_due_and_not_late():
    new = replace(DAILY, timing=Cron("0 18 * * *"), jitter=None)
    change = edit(delayed(), T0 + 9 * MINUTE, by=None, definition=new)
    assert windows_of(fire(change.cursor, new, T0 + 9 * MINUTE)) == [T0]


@pytest.mark.parametrize(
    "fields",
    [
        {"timing": Cron("*/30 * * * * *")},
        {"timing": Every("1h", after_completion=True)},
        {"timing": Once.at_instant(T0 + HOUR), "jitter": None},
        {"start_at": T0 + HOUR},
    ],
)
def test_an_edit_that_cannot_go_on_from_it_skips_it(fields):
    change = edit(delayed(), LATER, by=None, definition=replace(DAILY, **fields))
    assert change.cursor.next_window_at is None or change.cursor.next_window_at > LATER
    assert rows(change.skips) == [("missed", T0, T0, 1)]


@pytest.mark.parametrize("end, reason", [(cancel, "schedule_cancelled"), (delete, "schedule_deleted")])
def test_the_end_of_its_schedule_skips_it(end, reason):
    assert rows(end(delayed(), LATER, None).skips) == [(reason, T0, T0, 1)]
    assert end(delayed(), T0 - 1, None).skips == []


def test_a_reschedule_skips_it():
    moved = reschedule(delayed(), LATER, id=SCHEDULE_ID[:-1] + "2", timing=Cron("0 18 * * *"), by=None)
    assert rows(moved.change.skips) == [("schedule_cancelled", T0, T0, 1)]


@dataclass
class World:
    """One schedule, what became of its windows, and which windows it had while it was enabled."""

    schedule: Schedule
    now: int = T0
    enabled_since: int | None = T0
    had: list[int] = field(default_factory=list)
    dealt_with: list[int] = field(default_factory=list)

    def wait(self, milliseconds: int) -> None:
        self.now += milliseconds

    def fire(self) -> None:
        cursor = self.schedule.cursor
        while cursor.fire_at is not None and cursor.fire_at <= self.now:
            made = fire(cursor, self.schedule.definition, self.now)
            assert made.cursor != cursor
            self.dealt_with += windows_of(made)
            self.cover(made.skips)
            cursor = made.cursor
        self.schedule = replace(self.schedule, cursor=cursor)

    def edit(self, timing: Cron | Every, jitter: Jitter | None, fires_first: bool) -> None:
        if fires_first:
            self.fire()
        self.close()
        definition = replace(self.schedule.definition, timing=timing, jitter=jitter)
        self.take(edit(self.schedule, self.now, by=None, definition=definition))

    def pause(self) -> None:
        self.close()
        self.enabled_since = None
        self.take(pause(self.schedule, self.now, reason=None, by=None))

    def resume(self) -> None:
        if self.enabled_since is None:
            self.enabled_since = self.now
            self.take(resume(self.schedule, self.now, by=None))

    def close(self) -> None:
        """Note the windows of the timing so far, asked of the timing alone."""
        if self.enabled_since is not None:
            self.had += self.schedule.definition.timing.between_ms(self.enabled_since, self.now)
            self.enabled_since = self.now

    def take(self, change: Change) -> None:
        self.cover(change.skips)
        self.schedule = changed(self.schedule, change)

    def cover(self, skips: Sequence[SkippedWindows]) -> None:
        for row in skips:
            covered = [row.since, *self.schedule.definition.timing.between_ms(row.since, row.window_at)]
            assert (len(covered), covered[-1]) == (row.windows, row.window_at)
            self.dealt_with += covered


timings = st.sampled_from(
    [Every("7s"), Every("90s"), Cron("* * * * *"), Cron("*/10 * * * * *"), Cron("*/5 * * * *"), Cron("3,50 * * * * *")]
)
jitters = st.none() | st.builds(
    lambda low, more: Jitter(low, low + more), st.integers(0, 40_000), st.integers(0, 200_000)
)
waits = st.integers(0, 9 * SECOND) | st.integers(0, 4 * MINUTE)
acts = st.one_of(
    st.just(World.fire),
    st.just(World.pause),
    st.just(World.resume),
    st.builds(lambda *words: partial(World.edit, timing=words[0], jitter=words[1], fires_first=words[2]),
              timings, jitters, st.booleans()),
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(timings, jitters, st.sampled_from(Missed), st.lists(st.tuples(waits, acts), max_size=12))
def test_every_window_of_an_enabled_schedule_is_fired_or_skipped_once_through_edits_and_pauses(
    timing, jitter, missed, steps
):
    definition = define(timing, jitter=jitter, catch_up=CatchUp(missed))
    world = World(schedule_of(definition, created(definition)))
    for wait, act in steps:
        world.wait(wait)
        act(world)
    world.resume()
    world.fire()
    world.close()
    cursor = world.schedule.cursor
    assert cursor.next_window_at is not None
    assert cursor.fire_at is not None
    waiting = [cursor.next_window_at] if cursor.next_window_at <= world.now < cursor.fire_at else []
    assert sorted(world.dealt_with + waiting) == world.had
