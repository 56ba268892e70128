"""How many windows fire when, and which jitter would spread a herd."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from duly.core.rules.forecasting import MOST_WINDOWS, Stratum, cut, herd, reckoned
from duly.core.schedule import Cursor, Definition, Facts, Schedule, ScheduleStatus, Target, TargetKind
from duly.core.timing import Cron, Every, Jitter, Timing

NOON = 1_800_014_400_000
MINUTE = 60_000


def schedule(timing: Timing, **words: Any) -> Schedule:
    definition = Definition(key="x", timing=timing, target=Target(TargetKind.JOB, "x"), **words)
    first = timing.next_after_ms(NOON - 1)
    cursor = Cursor(schedule_id="x", revision=1, status=ScheduleStatus.ACTIVE, next_window_at=first, fire_at=first)
    facts = Facts(id="x", key="x", name="x", created_at=0, updated_at=0)
    return Schedule(facts=facts, definition=definition, cursor=cursor)


def minutes(one: Schedule, count: int = 1, steps: int = 60) -> list[int]:
    counted = [count] + [0] * (steps - 1)
    return reckoned(counted, [Stratum(count, [one])], NOON, MINUTE)


def test_a_schedule_that_fires_again_is_counted_again():
    fires = minutes(schedule(Cron("*/15 * * * *")), count=7)
    assert [(place, count) for place, count in enumerate(fires) if count] == [(0, 7), (15, 7), (30, 7), (45, 7)]


def test_one_of_many_stands_for_all_of_its_stratum():
    sample = [schedule(Cron("*/30 * * * *")), schedule(Cron("0 0 * * *"))]
    fires = reckoned([1000] + [0] * 59, [Stratum(1000, sample)], NOON, MINUTE)
    assert (fires[0], fires[30], sum(fires)) == (1000, 500, 1500)


def test_more_than_can_be_walked_is_taken_to_be_even():
    fires = minutes(schedule(Every(milliseconds=1000)), steps=60)
    assert MOST_WINDOWS < 3600
    assert set(fires[1:]) == {60}


def test_jitter_spreads_a_fire_over_its_time():
    fires = minutes(schedule(Cron("*/30 * * * *"), jitter=Jitter(0, 10 * MINUTE)), count=100)
    assert fires[30:41] == [10] * 10 + [0]


@pytest.mark.parametrize("words", [{"end_at": NOON + 20 * MINUTE}, {"max_runs": 2}])
def test_a_schedule_that_ends_is_not_counted_beyond_its_end(words: dict[str, Any]):
    assert sum(minutes(schedule(Cron("*/15 * * * *"), **words))) == 2


def test_an_interval_from_the_end_of_a_run_has_no_second_window_to_count():
    one = schedule(Every("15m"))
    after = replace(one, definition=replace(one.definition, timing=Every("15m", after_completion=True)))
    assert sum(minutes(after)) == 1


def test_strata_hold_about_as_many_and_a_herd_is_one_of_its_own():
    counted = [10] * 60 + [100_000] + [10] * 60
    times = cut(counted, 400)
    assert (60, 61, 10) in times
    assert times[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(times))
    assert times[-1][1] == len(counted)


def test_few_schedules_are_all_looked_at():
    assert cut([1, 0, 3], 400) == [(0, 3, 400)]
    assert cut([0, 0], 400) == []


def test_a_herd_is_flattened_by_the_least_jitter_that_does():
    found = herd([10] * 60 + [1200] + [10] * 119)
    assert found is not None
    assert (found.place, found.fires) == (60, 1200)
    assert found.jitter == 60
    assert found.then == 30


def test_an_even_load_and_a_small_one_have_no_herd():
    assert herd([100] * 60) is None
    assert herd([0] * 59 + [5]) is None
    assert herd([]) is None


def test_a_herd_at_the_end_of_what_is_seen_has_no_advice():
    found = herd([0] * 59 + [500])
    assert found is not None
    assert (found.jitter, found.then) == (None, 500)
